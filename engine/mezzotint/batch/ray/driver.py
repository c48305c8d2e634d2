"""The workers of a run on a Ray cluster. Only the run itself writes images and reports them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.ray.cluster import connected
from mezzotint.batch.ray.sameness import standard_sameness
from mezzotint.batch.ray.worker import RayWorker
from mezzotint.batch.run.workers import ON_CARD, ON_PROCESSOR, Worker

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog


@contextmanager
def ray_workers(
    address: str,
    catalog: "Catalog",
    *,
    device: str | None,
    models_folders: Sequence[Path],
    most: int | None,
    stopping: Callable[[], bool],
) -> Iterator[list[Worker]]:
    """Yield a worker for each GPU of the cluster at `address` (empty: a local one), or CPU workers if `device` is cpu.

    What was started is stopped afterwards. `most`: images at a time; None: the default for the device.
    """
    on_processor = device == "cpu"
    with connected(address, on_processor=on_processor) as cluster:
        sameness = standard_sameness(catalog)
        yield [
            RayWorker(
                cluster,
                place,
                sameness,
                arguments=[[str(folder.absolute()) for folder in models_folders]],
                most=most or (ON_PROCESSOR if on_processor else ON_CARD),
                stopping=stopping,
            )
            for place in cluster.places
        ]
