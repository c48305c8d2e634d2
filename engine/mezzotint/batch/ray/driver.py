"""The workers of a run on a Ray cluster. Only the run itself writes images and reports them."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.ray.cluster import connected
from mezzotint.batch.ray.content_hashes import standard_hashes
from mezzotint.batch.ray.worker import RayWorker
from mezzotint.batch.run.workers import CPU_BATCH_SIZE, GPU_BATCH_SIZE, Worker

if TYPE_CHECKING:
    from mezzotint.catalog import Catalog


@contextmanager
def ray_workers(
    address: str,
    catalog: "Catalog",
    *,
    device: str | None,
    models_folders: Sequence[Path],
    batch_size: int | None,
    stopping: Callable[[], bool],
) -> Iterator[list[Worker]]:
    """Yield a worker for each GPU of the cluster at `address` (empty: a local one), or CPU workers if `device` is cpu.

    What was started is stopped afterwards. `batch_size`: images at a time; None: the default for the device.
    """
    on_processor = device == "cpu"
    with connected(address, on_processor=on_processor) as cluster:
        hashes = standard_hashes(catalog)
        yield [
            RayWorker(
                cluster,
                resources,
                hashes,
                arguments=[[str(folder.absolute()) for folder in models_folders]],
                batch_size=batch_size or (CPU_BATCH_SIZE if on_processor else GPU_BATCH_SIZE),
                stopping=stopping,
            )
            for resources in cluster.worker_resources
        ]
