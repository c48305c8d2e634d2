"""The devices of a run and their leases, so that two engines never share a device by accident.

An engine that picks its device by itself, as the window's and the queue's do, holds the lease `auto`. A run that names
its devices takes their leases, and also `auto` if such an engine would pick one of them. GPUs are numbered as by the
driver, whichever of them the environment exposes.
"""

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import Busy
from mezzotint.jobs.lease import Held, Lease

AUTO = "auto"  # the device that an engine picks by itself
CPU = "cpu"
VISIBLE = "CUDA_VISIBLE_DEVICES"
LOCKED = 8  # exit code

_WHAT = "a batch"
_WAIT = 0.5  # seconds between tries
_FIRST = "0"  # GPU
_GIVEN_BY = "SLURM_JOB_ID"  # set if a scheduler assigns devices; each job may count them from 0


def lease_names(
    devices: Sequence[str] | None, asked: str | None, environ: Mapping[str, str], has_card: Callable[[], bool]
) -> list[str]:
    """Return the leases that a run needs.

    `devices` are those of its processes; None: the engine is in this process, on the device that the job requests.
    `has_card` is called only if the answer matters.
    """
    if _GIVEN_BY in environ:
        return []
    names: set[str] = set()
    for device in devices if devices is not None else [asked or AUTO]:
        names |= _names_of(device.removeprefix("cuda:"), environ, has_card)
    return sorted(names)


def _names_of(device: str, environ: Mapping[str, str], has_card: Callable[[], bool]) -> set[str]:
    if device == CPU:
        return {CPU} if has_card() else {CPU, AUTO}
    card = card_of(device if device.isdigit() else _FIRST, environ)
    by_itself = (_FIRST, card_of(_FIRST, environ))  # with all GPUs visible, and with those visible here
    return {f"cuda-{card}"} | ({AUTO} if card in by_itself else set())


def card_of(number: str, environ: Mapping[str, str]) -> str:
    """Return the driver's number of the GPU that a process in this environment sees as `number`."""
    shown = [one.strip() for one in environ.get(VISIBLE, "").split(",") if one.strip()]
    return shown[int(number)] if int(number) < len(shown) else number


@contextmanager
def leased(
    names: Sequence[str],
    *,
    waits: bool,
    report: Callable[[str], None],
    folder: Path | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Hold these leases. If one is taken, report the holder once and wait, or raise Busy unless `waits`."""
    with ExitStack() as stack:
        told = False
        while (held := _take(names, stack, folder)) is not None:
            who = plain(str(held), 500)
            if not waits:
                raise _busy(who)
            if not told:
                report(f"waiting: {who} is using the same device")
                told = True
            sleep(_WAIT)
        yield


def _take(names: Sequence[str], stack: ExitStack, folder: Path | None) -> Held | None:
    """Take all leases or none, since two runs that wait for each other's would deadlock."""
    with ExitStack() as taken:
        for name in names:
            lease = Lease.acquire(name, folder, what=_WHAT)
            if isinstance(lease, Lease):
                taken.enter_context(lease)
            elif not _is_elsewhere(lease):
                return lease
        stack.push(taken.pop_all())
    return None


def _is_elsewhere(held: Held) -> bool:
    """Whether another machine holds it: a shared home folder has the leases of all machines, which share no devices."""
    return held.host not in ("", platform.node())


def _busy(who: str) -> Busy:
    error = Busy(f"{who} is using the same device: wait for it (--wait), stop it, or use other devices (--devices)")
    error.exit_code = LOCKED
    return error


def has_card() -> bool:
    """Whether torch has a device better than the CPU here."""
    from mezzotint.machine import devices

    return devices()[0].id != CPU
