"""The workers of a run that makes its images on a Ray cluster. Only the run writes images and tells of them."""

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
    """One for each GPU of the cluster at an address (empty: of this machine); on processors, where `device` is cpu.

    What was started for it ends with it. `most` images at a time; None: as is usual for the device.
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
