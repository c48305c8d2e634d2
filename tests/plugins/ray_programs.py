"""Test code on the nodes of a Ray cluster: a fast engine that may end its own process, and a run over it.

python ray_programs.py OUT TASKS    a run on two such workers, a dot per image
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # where Python leaves the script's folder out of sys.path

import psutil
from batch_programs import StandIn, Telling, task

from mezzotint.batch.manifest.manifest import Manifest
from mezzotint.batch.ray.cluster import LOCAL, connected
from mezzotint.batch.ray.content_hashes import ContentHashes
from mezzotint.batch.ray.node import Node
from mezzotint.batch.ray.worker import RayWorker
from mezzotint.batch.run.owner import Owner
from mezzotint.batch.run.run import Run, RunOptions
from mezzotint.errors import UnknownModel

NODE = "ray_programs:node"
PLUGINS = str(Path(__file__).resolve().parent)


def hash_of(kind, name):
    """Return the hash of a model that every node has; 'absent' is missing."""
    if name == "absent":
        raise UnknownModel("no model is called 'absent'")
    return (kind[0] + name)[:1].encode().hex() * 32


def content_hashes(hashes=hash_of):
    return ContentHashes(hashes, "starter")


class Mortal(StandIn):
    """Exits in the middle of a task: once before the image is written, and once after."""

    def __init__(self, folder):
        super().__init__(at=self._at)
        self.folder = Path(folder)

    def _at(self, point):
        seed = str(self.requests[-1].seed)
        victims = [path.read_text() for path in self.folder.iterdir()]
        if len(self.requests) >= {"begun": 3, "written": 2}[point] and seed not in victims and self._is_first(point):
            (self.folder / point).write_text(seed)
            os._exit(9)

    def _is_first(self, point):
        """Whether this is the first time across all processes."""
        try:
            (self.folder / point).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True


def node(folder=""):
    """One that lives, or dies once at each point, by a mark in a folder."""
    return Node(lambda: Mortal(folder) if folder else StandIn(), content_hashes())


def workers_on(cluster, *arguments, batch_size=1, stopping=lambda: False, hashes=hash_of):
    """One for the resources of each worker."""
    return [
        RayWorker(
            cluster,
            resources,
            content_hashes(hashes),
            node=NODE,
            arguments=arguments,
            batch_size=batch_size,
            stopping=stopping,
        )
        for resources in cluster.worker_resources
    ]


def working_below(pid):
    """Return the processes that a run has started, except Ray's agents, which take a minute to exit after a kill."""
    below = psutil.Process(pid).children(recursive=True)
    return [one for one in below if "Agent" not in " ".join(one.cmdline())]


def main(folder, count):
    """Run the batch; the process may be killed."""
    with (
        connected(LOCAL, on_processor=False, cores=2, gpus=2) as cluster,
        Owner.take(folder, None),
        Manifest.open(folder) as manifest,
    ):
        tasks = (task(number, folder) for number in range(count))
        workers = workers_on(cluster)
        ended = Run(tasks, folder, manifest, workers, Telling(), options=RunOptions(), stopping=lambda: False).run()
    return 3 if ended.failures else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2])))
