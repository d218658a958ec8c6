"""EMBED's model beside sentence-transformers, in one run on one machine: `python -m tests.bench.bench_embed [TEXTS]`.

Prints texts/s of both over the same distinct texts of about 20 tokens (interleaved, the best of three passes each, so
that a busy neighbour disturbs both alike), their ratio, the cold start of both, and how near the vectors are. Beside
it, how fast this machine multiplies matrices of the model's size by numpy's BLAS, which bounds any backend in float32.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from recall_sql.models.installed import minilm_folder
from recall_sql.models.onnx_embedder import OnnxEmbedder

PASSES = 3
COLD = {
    "onnx": "from recall_sql.models.registry import embedder; embedder('minilm').embed(['hello'])",
    "sentence-transformers": (
        "from sentence_transformers import SentenceTransformer; "
        f"SentenceTransformer({str(minilm_folder())!r}).encode(['hello'])"
    ),
}
VOCABULARY = """
    I we you my our their friend sister dog cat trip hotel budget train flight week month breakfast dinner
    fish meat vegetarian allergy peanut museum temple garden quiet cheap early late walk bus Tokyo Kyoto
    Lisbon Oslo prefer like need want hate book cancel change remember ask tell never always maybe really
    because and but with without near in on at for from to about work school guitar book coffee tea rain
    summer winter Monday birthday doctor running
"""


def distinct_texts(count: int) -> list[str]:
    """The same `count` different sentences every time, 10 to 26 words each."""
    dice = random.Random(20)
    return [f"{' '.join(dice.choices(VOCABULARY.split(), k=dice.randint(9, 25)))} {number}" for number in range(count)]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def cold_start(code: str) -> float:
    """Seconds of a new process that imports, loads and embeds one text; the better of two."""
    return min(
        seconds(lambda: subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)) for _ in "12"
    )


def matrix_products() -> float:
    """GFLOP/s of the largest product of a layer, over 2,048 tokens; the best of five."""
    states, weights = np.ones((2048, 384), np.float32), np.ones((384, 1536), np.float32)
    once = min(seconds(lambda: [states @ weights for _ in range(50)]) for _ in range(5)) / 50
    return 2 * 2048 * 384 * 1536 / once / 1e9


def main() -> None:
    texts = distinct_texts(int(sys.argv[1]) if len(sys.argv) > 1 else 5000)
    for name, code in COLD.items():
        print(f"cold start, {name}: {cold_start(code):.2f} s")
    from sentence_transformers import SentenceTransformer

    ours = OnnxEmbedder(minilm_folder(), model="minilm")
    theirs = SentenceTransformer(str(minilm_folder()), device="cpu")
    tokens = np.mean([len(ids) for ids in theirs.tokenizer(texts)["input_ids"]])
    print(f"{len(texts)} distinct texts, {tokens:.1f} tokens on average, {os.cpu_count()} cores")
    best = {"onnx": float("inf"), "sentence-transformers": float("inf")}
    for _ in range(PASSES):
        best["onnx"] = min(best["onnx"], seconds(lambda: ours.embed(texts)))
        best["sentence-transformers"] = min(best["sentence-transformers"], seconds(lambda: theirs.encode(texts)))
    for name, taken in best.items():
        print(f"{name}: {len(texts) / taken:.0f} texts/s")
    done = 2 * 6 * 12 * 384**2 * tokens * len(texts) / best["onnx"] / 1e9  # 6 layers of 12 × 384² weights
    possible = matrix_products()
    print(
        f"onnx: {done:.0f} GFLOP/s in its layers' matrix products; numpy: {possible:.0f}; share {done / possible:.0%}"
    )
    print(f"ratio: {best['sentence-transformers'] / best['onnx']:.2f}")
    cosines = (ours.embed(texts) * theirs.encode(texts)).sum(axis=1)
    print(f"cosine: min {cosines.min():.7f}, mean {cosines.mean():.7f}")


if __name__ == "__main__":
    main()
