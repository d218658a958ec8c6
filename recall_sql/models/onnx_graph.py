"""A BERT encoder as an onnxruntime session, built from a sentence-transformers folder (config.json, model.safetensors).

The folder carries no ONNX file and none is written: the graph is a few kilobytes of protobuf, and the weights go to the
session in memory. Tokenising, grouping and pooling belong to `onnx_embedder.py`.

The graph takes texts of one and the same length, so it needs no padding and no attention mask: no work is wasted, and a
vector doesn't depend on which other texts are in the call.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from onnx import ModelProto, NodeProto, TensorProto, helper
from safetensors import SafetensorError
from safetensors.numpy import load_file

from recall_sql.errors import ConfigError
from recall_sql.models.installed import PIP_LOCAL

CONTRIB = "com.microsoft"  # onnxruntime's fused operators


@dataclass(frozen=True)
class BertShape:
    """The numbers of a BERT-type sentence-transformers model that the graph and the tokeniser need."""

    layers: int
    hidden: int
    heads: int
    epsilon: float
    max_tokens: int

    @classmethod
    def from_folder(cls, folder: Path) -> BertShape:
        """Reads the folder's JSON files; refuses, with ConfigError, what this backend can't compute exactly."""
        config = _json(folder / "config.json")
        expected = {"model_type": "bert", "hidden_act": "gelu"}
        found = {name: config.get(name) for name in expected}
        if found != expected or config.get("position_embedding_type", "absolute") != "absolute":
            raise _unsupported(folder, f"it is {found}, not {expected} with absolute positions")
        _refuse_other_heads(folder)
        limit = _json(folder / "sentence_bert_config.json", {}).get("max_seq_length")
        positions = config["max_position_embeddings"]
        return cls(
            layers=config["num_hidden_layers"],
            hidden=config["hidden_size"],
            heads=config["num_attention_heads"],
            epsilon=config["layer_norm_eps"],
            max_tokens=min(limit or positions, positions),
        )


def open_session(folder: Path, shape: BertShape, threads: int) -> onnxruntime.InferenceSession:
    """The encoder: input `ids` int64 (texts, tokens), output `states` float32 (texts, tokens, hidden)."""
    graph = _Graph(_tensors(folder / "model.safetensors"))
    graph.encoder(shape)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads leave the cores to DuckDB
    options.add_external_initializers(
        list(graph.weights), [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in graph.weights.values()]
    )
    return onnxruntime.InferenceSession(
        graph.model(shape).SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _tensors(path: Path) -> dict[str, np.ndarray]:
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise ConfigError(f"{path} is not a readable weights file: {error}") from error


class _Graph:
    """Collects nodes and weights. Every method adds one step and returns the name of its output."""

    def __init__(self, tensors: dict[str, np.ndarray]) -> None:
        self.tensors = {name.removeprefix("bert."): array for name, array in tensors.items()}
        self.nodes: list[NodeProto] = []
        self.weights: dict[str, np.ndarray] = {}

    def encoder(self, shape: BertShape) -> None:
        state = self.embeddings(shape.epsilon)
        for layer in range(shape.layers):
            state = self.layer(state, f"encoder.layer.{layer}", shape)
        self.node("Identity", [state], "states")

    def embeddings(self, epsilon: float) -> str:
        words = self.weight("embeddings.word_embeddings.weight")
        segment = self.tensors["embeddings.token_type_embeddings.weight"][0]  # a single text is all segment 0
        places = self.constant("positions", self.tensors["embeddings.position_embeddings.weight"] + segment)
        start = self.constant("start", np.zeros(1, np.int64))
        length = self.node("Shape", ["ids"], "length", start=1, end=2)
        total = self.node(
            "Add",
            [
                self.node("Gather", [words, "ids"], "words"),
                self.node("Slice", [places, start, length, start], "places"),
            ],
            "words_and_places",
        )
        norm = "embeddings.LayerNorm"
        inputs = [total, self.weight(f"{norm}.weight"), self.weight(f"{norm}.bias")]
        return self.node("LayerNormalization", inputs, "embedded", axis=-1, epsilon=epsilon)

    def layer(self, state: str, name: str, shape: BertShape) -> str:
        attended = self.attention(state, f"{name}.attention.self", shape.heads)
        attended = self.residual(attended, state, f"{name}.attention.output", shape.epsilon)
        wide = self.matmul(attended, f"{name}.intermediate.dense")
        bias = self.weight(f"{name}.intermediate.dense.bias")
        wide = self.node("BiasGelu", [wide, bias], f"{name}.gelu", domain=CONTRIB)
        return self.residual(wide, attended, f"{name}.output", shape.epsilon)

    def attention(self, state: str, name: str, heads: int) -> str:
        parts = ("query", "key", "value")
        biases = np.concatenate([self.tensors[f"{name}.{part}.bias"] for part in parts])
        inputs = [self.matmul(state, f"{name}.{part}") for part in parts]
        inputs.append(self.constant(f"{name}.biases", biases))
        return self.node("MultiHeadAttention", inputs, f"{name}.out", domain=CONTRIB, num_heads=heads)

    def residual(self, state: str, skip: str, name: str, epsilon: float) -> str:
        """LayerNorm(dense(state) + skip)."""
        inputs = [self.matmul(state, f"{name}.dense"), skip]
        inputs += [self.weight(f"{name}.{part}") for part in ("LayerNorm.weight", "LayerNorm.bias", "dense.bias")]
        return self.node("SkipLayerNormalization", inputs, f"{name}.out", domain=CONTRIB, epsilon=epsilon)

    def matmul(self, state: str, dense: str) -> str:
        """state · Wᵀ, without the bias: the fused operators add it."""
        return self.node(
            "MatMul", [state, self.constant(f"{dense}.t", self.tensors[f"{dense}.weight"].T)], f"{dense}.mm"
        )

    def weight(self, name: str) -> str:
        return self.constant(name, self.tensors[name])

    def constant(self, name: str, array: np.ndarray) -> str:
        self.weights[name] = np.ascontiguousarray(array)
        return name

    def node(self, operator: str, inputs: list[str], output: str, domain: str = "", **attributes: Any) -> str:
        self.nodes.append(helper.make_node(operator, inputs, [output], domain=domain, **attributes))
        return output

    def model(self, shape: BertShape) -> ModelProto:
        graph = helper.make_graph(
            self.nodes,
            "bert",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["texts", "tokens"])],
            [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["texts", "tokens", shape.hidden])],
            [_placeholder(name, array) for name, array in self.weights.items()],
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def _placeholder(name: str, array: np.ndarray) -> TensorProto:
    """A tensor without bytes; onnxruntime takes them from add_external_initializers under the same name."""
    kind = helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = TensorProto(name=name, data_type=kind, dims=array.shape, data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value="in memory")
    return tensor


def _refuse_other_heads(folder: Path) -> None:
    """Mean pooling (and normalising) may follow the encoder, nothing else."""
    kinds = [module["type"].rsplit(".", 1)[-1] for module in _json(folder / "modules.json")]
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise _unsupported(folder, f"its modules are {', '.join(kinds)}")
    pooling = _json(folder / "1_Pooling" / "config.json")
    modes = [name.removeprefix("pooling_mode_") for name, on in pooling.items() if name.startswith("pooling") and on]
    if modes not in (["mean_tokens"], ["mean"]):
        raise _unsupported(folder, f"its pooling is {modes}")


def _unsupported(folder: Path, why: str) -> ConfigError:
    return ConfigError(
        f"the onnx backend computes BERT encoders with mean pooling; {folder} can't be used: {why}. "
        f"Use 'sentence-transformers:{folder}' ({PIP_LOCAL})."
    )


def _json(path: Path, default: Any = None) -> Any:
    if not path.is_file() and default is not None:
        return default
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path.parent} is not a complete sentence-transformers folder: {error}") from error
