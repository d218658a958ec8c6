"""Backfills on Ray: the partitions of a backfill read by Ray Data's actors, on this machine or a cluster.

Each actor opens a DuckDB of its own, installs the functions and loads the models once, and writes what it finds into
the work folder, which all nodes must see; this process lands it, by the same rules as ever. Scheduling, and giving the
partition of a dead worker to another, is Ray's. Needs `pip install recall-sql[ray]`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from recall_sql.backfills.engines import Shared
from recall_sql.backfills.worker import Order, Worker
from recall_sql.errors import ConfigError

if TYPE_CHECKING:
    from recall_sql.backfills.run import Backfill


class Ray:
    """address: of a cluster ('auto', 'ray://head:10001'), or None for a Ray of this machine. workers: how many actors,
    each of one core; as many as Ray has cores, if not given."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        if find_spec("ray") is None:
            raise ConfigError("--engine ray needs Ray: pip install 'recall-sql[ray]'")
        self._address, self._workers = address, workers

    def read(self, run: Backfill, numbers: Sequence[int]) -> Iterator[int]:
        """See engines.Engine."""
        import ray

        ours = not ray.is_initialized()
        if ours:
            _start(self._address, self._workers)
        try:
            yield from self._read(run, numbers)
        finally:
            if ours:
                ray.shutdown()

    def _read(self, run: Backfill, numbers: Sequence[int]) -> Iterator[int]:
        import ray
        from ray.data import ActorPoolStrategy, DataContext

        if not numbers:
            return
        shared = Shared(run)
        for number in numbers:
            shared.give_out(number)
        DataContext.get_current().enable_progress_bars = False
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        workers = min(self._workers or int(ray.cluster_resources().get("CPU", 1)), len(numbers))
        found = ray.data.from_items([{"number": n} for n in numbers], override_num_blocks=len(numbers)).map_batches(
            _Actor,
            fn_constructor_args=(shared.order,),
            batch_size=1,
            compute=ActorPoolStrategy(size=workers),
            num_cpus=1,
        )
        for row in found.iter_rows():
            shared.take_in(row["number"], row["seconds"])
            yield row["number"]


class _Actor:
    """One worker, on whatever node Ray starts it."""

    def __init__(self, order: Order) -> None:
        self._worker = Worker(order)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        found = [self._worker.read(int(number)) for number in batch["number"]]
        return {name: [one[name] for one in found] for name in ("number", "seconds")}


def _start(address: str | None, workers: int | None) -> None:
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR, "configure_logging": False}
    if address is not None:
        ray.init(address=address, **quiet)
    else:
        ray.init(num_cpus=workers, include_dashboard=False, **quiet)
