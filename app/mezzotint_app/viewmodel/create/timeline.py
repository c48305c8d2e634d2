"""Where the time of a finished job went: loading, encoding, the steps of each stage, decoding, saving."""

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QCoreApplication

from mezzotint.protocol import GenerateResult

translate = QCoreApplication.translate

SpanKind = Literal["load", "encode", "denoise", "decode", "save"]
_SHORTEST = 0.005  # seconds, below which a part is left out


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A part of the time."""

    kind: SpanKind
    name: str  # displayed
    seconds: float


def spans_of(result: GenerateResult) -> tuple[Span, ...]:
    """Return the parts in the order in which they happen, without those that took no time."""
    times, several = result.timings, len(result.timings.denoise) > 1
    steps = [len(stage.timesteps) for stage in result.stages]
    of_stage = translate("Timeline", "stage {number} ({steps} steps)")
    every = [Span(kind="load", name=translate("Timeline", "loading"), seconds=times.load)]
    every.append(Span(kind="encode", name=translate("Timeline", "encoding"), seconds=times.encode))
    for number, seconds in enumerate(times.denoise, 1):
        count = steps[number - 1] if number <= len(steps) else 0
        name = of_stage if several else translate("Timeline", "{steps} steps")
        every.append(Span(kind="denoise", name=name.format(steps=count, number=number), seconds=seconds))
    every.append(Span(kind="decode", name=translate("Timeline", "decoding"), seconds=times.decode))
    every.append(Span(kind="save", name=translate("Timeline", "saving"), seconds=times.save))
    return tuple(span for span in every if span.seconds >= _SHORTEST)
