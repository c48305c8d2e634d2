"""The variants of `mezzotint bench quality` that trade fidelity for speed, such as tokens=todo."""

import argparse
from typing import TYPE_CHECKING, Any

from mezzotint.errors import UsageError
from mezzotint.option import declared
from mezzotint.options import OPTIONS, Options
from mezzotint.sampling_protocol import Sampling

if TYPE_CHECKING:
    from mezzotint.catalog.catalog import FoundModel

ATTENTION = "attention"
NAMES = (*(one.name for one in declared(Sampling).values() if one.group == "performance"), ATTENTION)


def variants(words: str) -> tuple[str, ...]:
    """Check a comma-separated list of NAME=VALUE, and return its parts."""
    parts = tuple(dict.fromkeys(word.strip() for word in words.split(",")))
    for part in parts:
        if part.partition("=")[0] not in NAMES:
            raise argparse.ArgumentTypeError(f"{part!r} is not a variant; expected NAME=VALUE, of {', '.join(NAMES)}")
        try:
            values_of(part)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"{part.partition('=')[0]}: {error}") from None
    return parts


def values_of(variant: str) -> dict[str, Any]:
    """The option of a variant, as a field of `Options`."""
    name, _, value = variant.partition("=")
    return {OPTIONS[name].field: OPTIONS[name].takes.parse(value)}


def refusal(found: "FoundModel", options: Options) -> str:
    """Why a model cannot be run with these options at their size; '' if it can."""
    from mezzotint.families.known import family_of
    from mezzotint.families.model_sources import sources_of
    from mezzotint.stages.speedups import check_speedups

    sources, defaults = sources_of(found.checkpoint, found.detected), found.detected.defaults
    multiple = family_of(found.detected.family).multiple(sources)
    width, height = options.size or (defaults.width, defaults.height)
    try:
        check_speedups(
            Sampling(**options.of(Sampling)), sources, found.info.id, (height // multiple, width // multiple)
        )
    except UsageError as error:
        return str(error)
    return ""
