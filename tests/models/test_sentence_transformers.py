"""The sentence-transformers backend: real weights from the installed folder, and names that lead nowhere."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from recall_sql.errors import ConfigError
from recall_sql.models.base import Embedder
from recall_sql.models.installed import minilm_folder
from recall_sql.models.registry import embedder


def test_a_folder_is_a_model():
    model = embedder(f"sentence-transformers:{minilm_folder()}")
    vectors = model.embed(["I'm vegetarian.", "", "寿司 🍣"])
    assert isinstance(model, Embedder) and model.provider == "sentence-transformers" and model.dimension == 384
    assert vectors.dtype == np.float32 and vectors.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
    assert model.embed([]).shape == (0, 384)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(ConfigError, match="there is no such folder"):
        embedder(f"sentence-transformers:{tmp_path / 'nowhere'}")


def test_a_folder_without_a_model(tmp_path):
    with pytest.raises(ConfigError, match="that folder holds no model"):
        embedder(f"sentence-transformers:{tmp_path}")


def test_a_name_nobody_has_downloaded_says_what_to_do_offline(tmp_path):
    code = "from recall_sql.models.registry import embedder; embedder('sentence-transformers:nobody/no-such-model')"
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path)}
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert shown.returncode == 1
    last = shown.stderr.strip().splitlines()[-1]
    assert "ConfigError" in last and "HF_HUB_OFFLINE is set" in last and "'minilm'" in last


def test_loading_draws_no_progress_bar():
    code = f"from recall_sql.models.registry import embedder; embedder({f'sentence-transformers:{minilm_folder()}'!r})"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Loading" not in shown.stderr
