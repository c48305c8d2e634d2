"""The curated list of models that this version can run, and what each is good at."""

import functools
import tomllib
from importlib import resources
from typing import Any

from mezzotint.families.known import FAMILIES
from mezzotint.library_protocol import HowItRuns, KnownModel
from mezzotint.memory.footprints.shipped import is_shipped, shipped

_LIST = "known_models.toml"
_WELL = 1.25  # maximum slowdown, compared with everything resident
_WELL_SECONDS = 60  # maximum per image
_SMALLEST_MACHINE = 2**50  # bytes of RAM: practically unlimited, only VRAM matters here


@functools.cache
def known_models(vram_bytes: int | None = None) -> tuple[KnownModel, ...]:
    """Return every model of the list, with its memory needs planned from its footprint.

    With `vram_bytes`, also how each runs on an ordinary GPU with that much memory and this machine's RAM.
    """
    text = (resources.files("mezzotint.library") / _LIST).read_text("utf-8")
    families = {family.name for family in FAMILIES}
    lists = tomllib.loads(text)
    looking = (_looking(entry) for entry in lists["looking"])
    return (*(_known(entry, families, vram_bytes) for entry in lists["model"]), *looking)


def _looking(entry: dict[str, Any]) -> KnownModel:
    """A network that looks at images, which needs a few hundred MB, and the CPU if those are not there."""
    return KnownModel(
        **{"licence": "Apache 2.0"} | entry,
        licence_url=f"https://huggingface.co/{entry['id']}",
        smallest_vram_bytes=0,
        gated=False,
        runs=True,
        how_it_runs="well",
    )


def _known(entry: dict[str, Any], families: set[str], vram_bytes: int | None) -> KnownModel:
    runs = entry["family"] in families and is_shipped(entry["planned_as"])
    return KnownModel(
        id=entry["id"],
        title=entry["title"],
        good_at=entry["good_at"],
        licence=entry["licence"],
        licence_url=entry["licence_url"],
        family=entry["family"],
        bytes=entry["bytes"],
        smallest_vram_bytes=_smallest_vram(entry["planned_as"]) if runs else 0,
        gated=entry.get("gated", False),
        runs=runs,
        planned_as=entry["planned_as"],
        how_it_runs=_how_it_runs(entry["planned_as"], vram_bytes) if runs and vram_bytes is not None else None,
    )


def _how_it_runs(name: str, vram_bytes: int) -> HowItRuns:
    """Classify speed at the model's default size, with the precision and placement the planner chooses."""
    import psutil

    from mezzotint.memory.machine.probe import ordinary_machine
    from mezzotint.memory.planning.planner import plan
    from mezzotint.memory.planning.task import task_of

    machine = ordinary_machine(vram_bytes, int(psutil.virtual_memory().total))
    task = task_of([shipped(name)])
    found = plan(task, machine)
    if not found.fits:
        return "slower" if plan(task, machine, policy="lowest").fits else "not"
    return "well" if found.seconds <= min(_WELL_SECONDS, _WELL * found.seconds_resident) else "slower"


@functools.cache
def _smallest_vram(name: str) -> int:
    """Return the least VRAM in bytes with which the model runs at its default size, however slowly."""
    from mezzotint.memory.machine.probe import ordinary_machine
    from mezzotint.memory.planning.planner import plan
    from mezzotint.memory.planning.task import task_of

    machine = ordinary_machine(2**40, _SMALLEST_MACHINE)
    return plan(task_of([shipped(name)]), machine, policy="lowest").smallest_vram_bytes
