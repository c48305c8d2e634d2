"""Connect to a Ray cluster: a local one that lasts as long as the run, or an existing one. All use of Ray is here.

Sends nothing to third parties: no usage statistics, no metrics, no dashboard. What is started here listens on this
machine only, and requires a token that is generated for it.
"""

import asyncio
import functools
import importlib.util
import os
import re
import secrets
import signal
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mezzotint.batch.ray.folders import new_folder, remove, sweep
from mezzotint.batch.run.workers import WorkerUnusable
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import Cancelled, UsageError

LOCAL = ""  # the address that means: start a local cluster
MOST_WORKERS = 256
INSTALL = "pip install 'mezzotint[ray]'"

_ADDRESS = re.compile(r"auto|[A-Za-z0-9._-]{1,253}:\d{1,5}|\[[0-9A-Fa-f:.]{2,45}\]:\d{1,5}")
_TRIES = 3  # to start a local cluster: on a busy machine its processes may find one another too late
_REACH = 10.0  # seconds to reach an existing cluster
_LOOK = 0.2  # seconds between checks whether the user wants to stop
_STORE = 1 << 30  # bytes of the object store, through which images travel, of a local cluster
_MOST_CORES = 4  # requested by one worker beside its GPU
_LONGEST_TEMPORARY = 8  # characters of the folder: socket paths below it are limited to about a hundred
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_enable_metrics_collection": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
}
_ON_THIS_MACHINE = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # Ray's default there: 127.0.0.1 only
    "RAY_AUTH_MODE": "token",
    "RAY_agent_register_timeout_ms": "120000",
}


class NoRay(UsageError):
    """The ray package is not installed."""

    kind = "no_ray"


class ActorDied(Exception):
    """The called process has died."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerResources:
    """The resources that one worker requests from the cluster."""

    gpus: int  # 1, or 0: runs on the CPU
    cores: int


class Cluster:
    """A cluster that this process is connected to."""

    def __init__(self, ray: Any, address: str, worker_resources: tuple[WorkerResources, ...]) -> None:  # noqa: ANN401  Ray has no types
        self._ray, self.address = ray, address
        self.worker_resources = worker_resources  # of each worker

    def start(self, resources: WorkerResources, node: str, arguments: list[str]) -> Any:  # noqa: ANN401  a Ray handle
        """Start a process in the cluster; `node` names the factory of its worker object, as `module:name`.

        Ray must neither restart it nor repeat calls: the run tracks which image killed it.
        """
        options = {"num_gpus": resources.gpus, "num_cpus": resources.cores, "max_restarts": 0, "max_task_retries": 0}
        return self._ray.remote(_actor_class()).options(**options).remote(node, arguments)

    def ask(
        self,
        actor: Any,  # noqa: ANN401
        method: str,
        *arguments: object,
        waiting: Callable[[], bool] = lambda: True,
    ) -> Any:  # noqa: ANN401  plain data
        """Return its answer. Raises ActorDied if it has died, Cancelled as soon as `waiting` returns False."""
        exceptions = self._ray.exceptions
        try:
            asked = getattr(actor, method).remote(*arguments)
            while not self._ray.wait([asked], timeout=_LOOK)[0]:
                if not waiting():
                    raise Cancelled("stopped before the Ray cluster had free resources for it")
            return self._ray.get(asked)
        except exceptions.RayActorError as error:
            raise ActorDied(_last_line(error)) from error
        except exceptions.RayTaskError as error:
            raise WorkerUnusable(f"the Ray node cannot work: {_last_line(error)}") from error
        except exceptions.RayError as error:
            raise WorkerUnusable(f"the Ray cluster {self._named()} does not respond: {_first_line(error)}") from error

    def end(self, actor: Any) -> None:  # noqa: ANN401
        """Kill the process."""
        self._ray.kill(actor, no_restart=True)

    def _named(self) -> str:
        return plain(self.address or "of this machine")


@contextmanager
def connected(
    address: str, *, on_processor: bool, cores: int | None = None, gpus: int | None = None
) -> Iterator[Cluster]:
    """Connect to a cluster. `on_processor`: workers that need no GPU. An existing connection is used and kept.

    `cores` and `gpus` of a local cluster replace what Ray detects. Raises UsageError or WorkerUnusable if there is no
    cluster. Call from the main thread: what is started here ends with the thread that started it.
    """
    _check_address(address)
    if importlib.util.find_spec("ray") is None:
        raise NoRay(f"--ray requires the package ray: {INSTALL}")
    with _environment(_QUIET | (_own_environment() if address == LOCAL else {})):
        import ray

        if ray.is_initialized():
            yield Cluster(ray, address, _worker_resources(ray, on_processor))
            return
        with _folder_of_its_own(address) as folder, _signals_kept():
            # Ray would print the logs of its processes to our standard output, where results go.
            ray._private.worker._worker_logs_enabled = False
            _begin(ray, address, folder, cores, gpus)
        try:
            yield Cluster(ray, address, _worker_resources(ray, on_processor))
        finally:
            with _signals_kept():
                ray.shutdown()
            if folder is not None:
                remove(folder)


def _check_address(address: str) -> None:
    if address != LOCAL and not _ADDRESS.fullmatch(address):
        raise UsageError(
            f"'{plain(address, 60)}' is not the address of a Ray cluster, such as auto or 10.0.0.1:6379; to use only "
            "this machine, put --ray at the end without an address"
        )


def _begin(ray: Any, address: str, folder: Path | None, cores: int | None, gpus: int | None) -> None:  # noqa: ANN401
    quiet = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": None}
    if address != LOCAL:
        return _with_retries(lambda: _join(ray, address, quiet), f"no Ray cluster responds at {plain(address)}", 1)
    own = {
        "address": "local",
        "include_dashboard": False,
        "num_cpus": cores,
        "num_gpus": gpus,
        "object_store_memory": _STORE,
        "_temp_dir": None if folder is None else str(folder / "r"),
    }
    return _with_retries(lambda: ray.init(**quiet | own), "Ray does not start on this machine", _TRIES)


def _join(ray: Any, address: str, quiet: dict[str, Any]) -> None:  # noqa: ANN401
    """Check the address first: Ray itself retries for many minutes if nobody listens."""
    found = address
    if address == "auto":
        find = getattr(ray._private.services, "canonicalize_bootstrap_address_or_die", None)
        found = find(address) if find is not None else ""
    host, _, port = found.rpartition(":")
    if port.isdigit():
        asyncio.run(_reach(host.strip("[]"), int(port)))
    ray.init(address=address, **quiet)


async def _reach(host: str, port: int) -> None:
    _, writer = await asyncio.wait_for(asyncio.open_connection(host, port), _REACH)
    writer.close()


def _with_retries(begin: Callable[[], object], words: str, tries: int) -> None:
    for number in range(tries):
        try:
            begin()
            return
        except Exception as error:
            if number == tries - 1:
                raise WorkerUnusable(f"{words}: {_first_line(error)}") from error


def _worker_resources(ray: Any, on_processor: bool) -> tuple[WorkerResources, ...]:  # noqa: ANN401
    nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    worker_resources = worker_resources_of(nodes, on_processor)
    if not worker_resources:
        raise WorkerUnusable(
            "the Ray cluster has no GPU: use --device cpu to run on CPUs, or see `ray status` for its nodes"
        )
    return worker_resources


def worker_resources_of(nodes: list[dict[str, float]], on_processor: bool) -> tuple[WorkerResources, ...]:
    """Return a worker for each GPU, with its share of the node's cores; or, on CPUs, one per node with all cores."""
    if on_processor:
        return tuple(WorkerResources(gpus=0, cores=int(node["CPU"])) for node in nodes if node.get("CPU", 0) >= 1)[
            :MOST_WORKERS
        ]
    with_gpus = [(int(node.get("GPU", 0)), int(node.get("CPU", 0))) for node in nodes if node.get("GPU", 0) >= 1]
    if not with_gpus:
        return ()
    # Ray decides on which node each runs, so all request what the smallest node offers.
    cores = max(0, min(_MOST_CORES, *(cores // gpus for gpus, cores in with_gpus)))
    count = min(MOST_WORKERS, sum(gpus for gpus, _ in with_gpus))
    return (WorkerResources(gpus=1, cores=cores),) * count


# ---- environment


@functools.cache
def _own_environment() -> dict[str, str]:
    """Keep the token for the whole process, since Ray remembers it, too."""
    return _ON_THIS_MACHINE | {"RAY_AUTH_TOKEN": secrets.token_hex(32)}


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for Ray and its processes, and restore them afterwards."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _folder_of_its_own(address: str) -> Iterator[Path | None]:
    """Create a private folder for the files of a local cluster, which may be images."""
    sweep()
    is_long = len(tempfile.gettempdir()) > _LONGEST_TEMPORARY
    if address != LOCAL or is_long or os.name == "nt" or "RAY_TMPDIR" in os.environ:
        yield None
        return
    folder = new_folder()
    try:
        yield folder
    except BaseException:
        remove(folder)
        raise


@contextmanager
def _signals_kept() -> Iterator[None]:
    """Restore our SIGTERM handler, which Ray replaces."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGTERM, before)


def _first_line(error: BaseException) -> str:
    return plain(next(iter(str(error).strip().splitlines()), "") or type(error).__name__, 300)


def _last_line(error: BaseException) -> str:
    return plain(next(iter(reversed(str(error).strip().splitlines())), "") or type(error).__name__, 180)


def _actor_class() -> type:
    """Return the actor class for nodes. It is sent whole, so that it can report a missing or different Mezzotint."""

    class RayActor:
        def __init__(self, node: str, arguments: list[str]) -> None:
            self.named, self.arguments = node, arguments
            self.node: Any = None

        def hello(self) -> dict[str, str]:
            import platform

            try:
                from mezzotint import __version__ as version
            except ImportError:
                version = ""
            return {"version": version, "host": platform.node()}

        def make(self, wire: dict[str, Any]) -> dict[str, Any]:
            if self.node is None:
                import importlib

                module, _, name = self.named.partition(":")
                self.node = getattr(importlib.import_module(module), name)(*self.arguments)
            made: dict[str, Any] = self.node.make(wire)
            return made

    return RayActor
