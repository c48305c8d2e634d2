"""The upscalers of a request: found and hashed before anything is loaded."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import get_args

from mezzotint.catalog.place import at_home
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.protocol import FileUsed, Resampling, ResolvedTransition, Transition

FindUpscaler = Callable[[str], FileUsed]

RESAMPLING: tuple[str, ...] = get_args(Resampling)


def no_upscalers(name: str) -> FileUsed:
    """Stands in for a catalog of upscalers where none can be used."""
    raise ModelRefused(f"the upscaler {plain(name, 200)} cannot be used here")


def upscaler_file(name: str, sha256: str | None, find: FindUpscaler) -> FileUsed:
    """The file of an upscaler by name or path; raises UnknownModel, or ModelRefused if it is another than it was."""
    found = find(name)
    if sha256 is not None and found.sha256 != sha256:
        raise ModelRefused(
            f"{plain(name, 300)}: the upscaler has changed since it was used (sha256 {found.sha256[:12]}, was "
            f"{plain(sha256[:12])}); name it again"
        )
    return found


def transition_upscaler(transition: Transition, find: FindUpscaler) -> FileUsed | None:
    """The upscaler of a transition; None if that only resamples."""
    if transition.upscaler in RESAMPLING:
        return None
    return upscaler_file(transition.upscaler, transition.upscaler_sha256, find)


def recorded_name(name: str, file: FileUsed) -> str:
    """A name as it was given, since it is found by that elsewhere, too; a path from any folder."""
    path = at_home(Path(name))
    return str(path.resolve()) if str(path) == file.path else name


def recorded_transition(asked: Transition, found: ResolvedTransition) -> Transition:
    """The transition with its upscaler's file settled."""
    file = found.upscaler_file
    if file is None:
        return asked
    name = recorded_name(asked.upscaler, file)
    return replace(asked, space=found.space, upscaler=name, upscaler_sha256=file.sha256)
