"""llama.cpp's own OpenAI-compatible server with the installed SmolLM2, in this process: no script, no mock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recall_sql.models.installed import smollm2_file

if TYPE_CHECKING:
    from xllamacpp import Server


def llama_server(*, context: int, slots: int = 1, key: str | None = None) -> Server:
    """A running server, which ends with the object. context: tokens, of all slots together.

    One thread: with one too many on a busy machine an answer takes ten times as long.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(smollm2_file())
    params.n_ctx, params.n_parallel, params.verbosity, params.warmup = context, slots, -1, False
    params.cpuparams.n_threads = 1
    if key is not None:
        params.api_keys = [key]
    return xllamacpp.Server(params)
