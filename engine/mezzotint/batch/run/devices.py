"""The devices that a run works on, by the names of their leases: two engines are never on one by accident.

An engine that takes its device by itself, as the window's and the queue's do, has the lease `auto`. A run that names
its devices takes theirs, and `auto` besides when one of them is what such an engine would take. Cards are named as the
driver counts them, whatever part of them the environment shows.
"""

import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import Busy
from mezzotint.jobs.lease import Held, Lease

AUTO = "auto"  # what an engine takes by itself
CPU = "cpu"
VISIBLE = "CUDA_VISIBLE_DEVICES"
LOCKED = 8  # the exit code

_WHAT = "a batch"
_WAIT = 0.5  # seconds between looks
_FIRST = "0"  # card
_GIVEN_BY = "SLURM_JOB_ID"  # its scheduler hands devices out; each job may count them from 0


def lease_names(
    devices: Sequence[str] | None, asked: str | None, environ: Mapping[str, str], has_card: Callable[[], bool]
) -> list[str]:
    """The leases that a run needs.

    `devices` are those of its processes; None: the engine is in this one, and takes what the job asks for. `has_card`
    is asked only where the answer matters.
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
    by_itself = (_FIRST, card_of(_FIRST, environ))  # with all cards shown, and with those that are shown here
    return {f"cuda-{card}"} | ({AUTO} if card in by_itself else set())


def card_of(number: str, environ: Mapping[str, str]) -> str:
    """What the driver calls the card that a process in this environment sees under a number."""
    shown = [one.strip() for one in environ.get(VISIBLE, "").split(",") if one.strip()]
    return shown[int(number)] if int(number) < len(shown) else number


@contextmanager
def leased(
    names: Sequence[str],
    *,
    waits: bool,
    tell: Callable[[str], None],
    folder: Path | None = None,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Have these devices for as long as this lasts. Busy says who has one of them; or that is told once, and waited."""
    with ExitStack() as stack:
        told = False
        while (held := _take(names, stack, folder)) is not None:
            who = plain(str(held), 500)
            if not waits:
                raise _busy(who)
            if not told:
                tell(f"waiting: {who} makes images on the same device")
                told = True
            sleep(_WAIT)
        yield


def _take(names: Sequence[str], stack: ExitStack, folder: Path | None) -> Held | None:
    """All of them, or none: two runs that wait for one another's would wait for ever."""
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
    """A home that machines share holds the leases of all of them, but their devices are not the same."""
    return held.host not in ("", platform.node())


def _busy(who: str) -> Busy:
    error = Busy(
        f"{who} makes images on the same device: wait for it (--wait), end it there, or name others (--devices)"
    )
    error.exit_code = LOCKED
    return error


def has_card() -> bool:
    """Whether torch has anything better than the processor here."""
    from mezzotint.machine import devices

    return devices()[0].id != CPU
