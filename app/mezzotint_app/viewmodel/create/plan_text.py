"""A memory plan as one line of text and a bar."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QCoreApplication, QLocale

from mezzotint.protocol import Plan, PlannedPhase
from mezzotint_app.amounts import about_text, bytes_text

translate = QCoreApplication.translate

SegmentKind = Literal["weights", "activations", "other", "free", "missing"]

_SLOWER = 1.1  # times the fully resident time; slower plans are mentioned
_GB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A segment of the bar."""

    kind: SegmentKind
    bytes: int
    name: str  # displayed


def plan_line(plan: Plan, *, card: bool, seconds: float | None = None) -> str:
    """Return for example: Needs 3.6 GB of 8.0 GB, about 35 s: 8-bit weights, streamed."""
    if not plan.fits:
        return _refusal(plan, card=card)
    needs = (
        translate("Plan", "Needs {need} of {have} of memory")
        if not card
        else translate("Plan", "Needs {need} of {have} VRAM")
    )
    line = needs.format(need=bytes_text(plan.peak_vram_bytes), have=bytes_text(plan.vram_bytes))
    line += f", {about_text(plan.seconds if seconds is None else seconds)}"
    ways = ", ".join(_ways(plan))
    faster = _faster(plan, card=card)
    return line + (f": {ways}" if ways else "") + (f"; {faster}" if faster else "")


def plan_segments(plan: Plan) -> tuple[Segment, ...]:
    """Return weights, activations, other and free memory at the peak, or what is missing."""
    peak = peak_phase(plan)
    if peak is None:
        return ()
    other = max(0, peak.peak_bytes - peak.weights_bytes - peak.activation_bytes)
    free = plan.vram_bytes - peak.peak_bytes
    parts: tuple[tuple[SegmentKind, int, str], ...] = (
        ("weights", peak.weights_bytes, translate("Plan", "weights")),
        ("activations", peak.activation_bytes, translate("Plan", "working memory")),
        ("other", other, translate("Plan", "driver and reserve")),
        ("free", max(0, free), translate("Plan", "free")),
        ("missing", max(0, -free), translate("Plan", "missing")),
    )
    return tuple(Segment(kind=kind, bytes=count, name=name) for kind, count, name in parts if count > 0)


def peak_phase(plan: Plan) -> PlannedPhase | None:
    """Return the phase with the highest memory use, or None."""
    return max(plan.phases, key=lambda phase: phase.peak_bytes, default=None)


def _ways(plan: Plan) -> Iterator[str]:
    """Yield the measures that make it fit."""
    if plan.quantization != "none":
        yield _weights(plan.quantization)
    elif plan.text_quantization != "none":
        yield translate("Plan", "quantized text encoders")
    if any(part.slots for part in plan.components):
        yield translate("Plan", "weights streamed")
    if any(part.host == "disk" for part in plan.components if part.slots):
        yield translate("Plan", "read from disk")
    if plan.vae_tile:
        yield translate("Plan", "tiled decoding")
    if plan.guidance == "sequential":
        yield translate("Plan", "guidance in two passes")


def _weights(quantization: str) -> str:
    if quantization.startswith("int4"):
        return translate("Plan", "4-bit weights")
    return translate("Plan", "8-bit weights")


def _faster(plan: Plan, *, card: bool) -> str:
    """Return what would make it faster, or ""."""
    from_disk = sum(part.bytes for part in plan.components if part.host == "disk" and part.slots)
    if card and from_disk:
        enough = math.ceil((plan.peak_ram_bytes + from_disk) / _GB)
        return translate("Plan", "faster with {ram} GB of RAM").format(ram=enough)
    if plan.seconds > plan.seconds_resident * _SLOWER and plan.seconds_resident > 0:
        return translate("Plan", "{time} if everything fit in VRAM").format(time=about_text(plan.seconds_resident))
    return ""


def _refusal(plan: Plan, *, card: bool) -> str:
    if plan.smallest_vram_bytes <= plan.vram_bytes and plan.smallest_ram_bytes <= plan.ram_bytes:
        message = translate("Plan", "Not enough free memory: needs {need}. Close other programs")
        return message.format(need=bytes_text(plan.peak_vram_bytes))
    if card:
        message = translate("Plan", "Does not fit: needs {vram} of VRAM and {ram} of RAM, of {have} and {have_ram}")
    else:
        message = translate("Plan", "Does not fit: needs {ram} of RAM, of {have_ram}")
    line = message.format(
        vram=_enough(plan.smallest_vram_bytes),
        ram=_enough(plan.smallest_ram_bytes),
        have=bytes_text(plan.vram_bytes),
        have_ram=bytes_text(plan.ram_bytes),
    )
    if plan.memory != "lowest":
        return translate("Plan", "{line}. A smaller size, or the memory setting Lowest, needs less").format(line=line)
    return translate("Plan", "{line}. A smaller size needs less").format(line=line)


def _enough(count: int) -> str:
    """Format GB rounded up, so that the amount is sufficient."""
    return f"{QLocale().toString(math.ceil(count * 10 / _GB) / 10, 'f', 1)} GB"
