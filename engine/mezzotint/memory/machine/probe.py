"""Probe the machine for planning: memory, limits, memory of other programs, speeds."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mezzotint.checkpoints.plain_text import size
from mezzotint.gpu import gpu, index_of
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.machine.cards import KnownCard
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.machine.ram_limits import Bound, group_bounds, own_bounds, read_text
from mezzotint.memory.machine.speeds import (
    DISK_RATE,
    LINKS,
    ORDINARY,
    PROCESSOR_FLOPS,
    PROCESSOR_INT8,
    RAM_RATE,
    Link,
    computing_of,
    of_architecture,
)
from mezzotint.memory.planning.task import DType

CONTEXT = 2**29  # bytes of GPU memory used by the driver and its libraries
_PROCESS = 3 * 2**29  # of RAM, with GPU libraries loaded
_LIBRARIES = 2**29  # of RAM, without them
_WSL_PINNED = 2**29
_MUCH = 2**29  # of GPU memory used by other programs, above which it is reported


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A GPU: its name, memory and what is free now."""

    name: str
    architecture: str
    total_bytes: int
    free_bytes: int  # as reported by the driver, after our own context was created
    reclaimable_bytes: int  # held by this process and can be released
    processors: int
    shares_ram: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ram:
    """RAM of the machine and of this process."""

    total_bytes: int
    available_bytes: int
    ours_bytes: int


def _ram() -> Ram:
    import psutil

    memory = psutil.virtual_memory()
    return Ram(
        total_bytes=int(memory.total),
        available_bytes=int(memory.available),
        ours_bytes=int(psutil.Process().memory_info().rss),
    )


def _card(device: str) -> Card:
    found, index = gpu(device), index_of(device)
    assert found is not None  # noqa: S101  only called for GPUs
    return Card(
        name=found.name(index),
        architecture=found.architecture(index),
        total_bytes=found.total_bytes(index),
        free_bytes=found.free_bytes(index),
        reclaimable_bytes=found.held_bytes(index),
        processors=found.processors(index),
        shares_ram=found.shares_ram(index),
    )


def _bounds() -> Iterator[Bound]:
    yield from group_bounds()
    yield from own_bounds()


def is_wsl() -> bool:
    """Whether this is WSL, which shares the Windows display driver."""
    return "microsoft" in (read_text("/proc/version") or "").lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Queries about the machine, replaceable in tests."""

    platform: str = sys.platform
    is_wsl: Callable[[], bool] = is_wsl
    ram: Callable[[], Ram] = _ram
    bounds: Callable[[], Iterable[Bound]] = _bounds
    card: Callable[[str], Card] = _card
    cores: Callable[[], int] = field(default=lambda: os.cpu_count() or 1)


def machine_facts(
    device: str,
    *,
    vram_limit: int | None = None,
    ram_limit: int | None = None,
    calibration: Calibration | None = None,
    surroundings: Surroundings | None = None,
) -> MachineFacts:
    """Return the facts of the machine with one of its devices. A VRAM limit on a CPU makes it a simulated GPU."""
    around, known = surroundings or Surroundings(), calibration or Calibration()
    notes: list[str] = []
    ram, free_ram = _ram_now(around, ram_limit, notes)
    if device != "cpu":
        card = around.card(device)
        if card.shares_ram:
            return _sharing(device, card, known, (ram, free_ram), vram_limit, notes)
        return _with_card(device, card, around, known, (ram, free_ram), vram_limit, notes)
    limit = _clipped(vram_limit, ram, "the device's memory", notes)
    return _one_memory(
        known,
        (ram, free_ram),
        notes,
        device=device,
        device_name="processor",
        architecture="",
        vram_bytes=limit,
        free_vram_bytes=min(limit, free_ram),
        speed=PROCESSOR_FLOPS * around.cores(),
        int8_speedup=PROCESSOR_INT8,
        expected_of=f"a CPU with {around.cores()} threads",
        simulated=vram_limit is not None,
    )


def ordinary_machine(vram_bytes: int, ram_bytes: int, card: KnownCard | None = None) -> MachineFacts:
    """Return a hypothetical machine with this much memory and the speed of `card`, by default of an ordinary GPU."""
    architecture = ORDINARY if card is None else card.architecture
    known, locks = of_architecture(architecture), architecture != "xe"
    which = f"a typical GPU ({architecture}, PCIe {known.pcie})" if card is None else card.name
    return MachineFacts(
        device="cuda:0" if locks else "xpu:0",
        device_name=f"a card with {size(vram_bytes)}" if card is None else card.name,
        architecture=architecture,
        vram_bytes=vram_bytes,
        free_vram_bytes=vram_bytes,
        context_bytes=CONTEXT,
        ram_bytes=ram_bytes,
        free_ram_bytes=ram_bytes,
        pin_bytes=ram_bytes * 2 // 5 if locks else 0,
        copy_rate=LINKS[known.pcie].pinned,
        pageable_rate=LINKS[known.pcie].pageable,
        disk_rate=DISK_RATE,
        **computing_of(known, None if card is None else card.processors),
        process_bytes=_PROCESS,
        expected_of=which,
    )


def usual_dtype(machine: MachineFacts) -> DType:
    """The default dtype of the machine's device."""
    if machine.device == "cpu":
        return "float32"
    return "float16" if machine.device == "mps" or machine.architecture == "sm_75" else "bfloat16"


def _one_memory(known: Calibration, ram: tuple[int, int], notes: list[str], **facts: Any) -> MachineFacts:  # noqa: ANN401
    """Facts of a device whose memory is RAM, so that copies to it stay within RAM."""
    return MachineFacts(
        context_bytes=0,
        ram_bytes=ram[0],
        free_ram_bytes=ram[1],
        pin_bytes=0,
        copy_rate=RAM_RATE,
        pageable_rate=RAM_RATE,
        disk_rate=known.disk_rate or DISK_RATE,
        process_bytes=min(_LIBRARIES, ram[0] * 3 // 4),  # not what it takes now: loaded models would count twice
        notes=tuple(notes),
        **facts,
    )


def _sharing(
    device: str,
    card: Card,
    known: Calibration,
    ram: tuple[int, int],
    vram_limit: int | None,
    notes: list[str],
) -> MachineFacts:
    """Facts of an integrated GPU: the driver limits its memory, and so does free RAM."""
    architecture = of_architecture(card.architecture)
    vram = _clipped(vram_limit, min(card.total_bytes, ram[0]), "the device's memory", notes)
    return _one_memory(
        known,
        ram,
        notes,
        device=device,
        device_name=card.name,
        architecture=card.architecture,
        vram_bytes=vram,
        free_vram_bytes=min(vram, card.free_bytes + card.reclaimable_bytes, ram[1]),
        **computing_of(architecture, card.processors),
        shares_ram=True,
        expected_of=card.architecture,
    )


def _with_card(
    device: str,
    card: Card,
    around: Surroundings,
    known: Calibration,
    ram: tuple[int, int],
    vram_limit: int | None,
    notes: list[str],
) -> MachineFacts:
    architecture = of_architecture(card.architecture)
    vram = _clipped(vram_limit, card.total_bytes, "the GPU's memory", notes)
    free = min(card.total_bytes, card.free_bytes + card.reclaimable_bytes + CONTEXT)
    taken = card.total_bytes - free
    if taken >= _MUCH:
        notes.append(f"other programs use {size(taken)} of GPU memory")
    link = LINKS[architecture.pcie]
    return MachineFacts(
        device=device,
        device_name=card.name,
        architecture=card.architecture,
        vram_bytes=vram,
        free_vram_bytes=min(vram, free),
        context_bytes=CONTEXT,
        ram_bytes=ram[0],
        free_ram_bytes=ram[1],
        pin_bytes=pin_budget(around, ram[0], card.total_bytes) if device.startswith("cuda") else 0,
        copy_rate=known.copy_rate or link.pinned,
        pageable_rate=known.pageable_rate or link.pageable,
        disk_rate=known.disk_rate or DISK_RATE,
        **computing_of(architecture, card.processors),
        process_bytes=min(_PROCESS, ram[0] // 2),
        expected_of=f"{card.architecture} and PCIe {architecture.pcie}",
        link_measured=known.copy_rate is not None,
        notes=tuple(notes),
    )


def pin_budget(around: Surroundings, ram: int, vram: int) -> int:
    """Bytes that may be page-locked: as much as each operating system is known to tolerate."""
    if around.platform == "darwin":
        return 0
    if around.platform == "win32":
        return min(ram * 2 // 5, vram)  # GPU memory and memory locked for it share one limit
    return min(_WSL_PINNED, ram // 4) if around.is_wsl() else ram * 2 // 5


def measured_rates(
    calibration: Calibration,
    link: Callable[[], Link | None],
    disk: Callable[[], float | None],
) -> Calibration:
    """Measure the rates that are not known yet; those that cannot be measured stay None."""
    if calibration.copy_rate is None and (found := link()) is not None:
        calibration = replace(calibration, copy_rate=found.pinned, pageable_rate=min(found.pageable, found.pinned))
    if calibration.disk_rate is None and (rate := disk()) is not None:
        calibration = replace(calibration, disk_rate=rate)
    return calibration


def _ram_now(around: Surroundings, limit: int | None, notes: list[str]) -> tuple[int, int]:
    """Total and free RAM for this process, both including what it already uses."""
    now = around.ram()
    ram, free = now.total_bytes, now.available_bytes + now.ours_bytes
    for bound in around.bounds():
        if bound.limit < ram:
            notes.append(f"RAM is limited to {size(bound.limit)} by {bound.name}")
        ram = min(ram, bound.limit)
        free = min(free, max(0, bound.limit - bound.used) + now.ours_bytes)
    ram = _clipped(limit, ram, "RAM", notes)
    return ram, min(ram, free)


def _clipped(limit: int | None, there: int, what: str, notes: list[str]) -> int:
    if limit is None:
        return there
    if limit > there:
        notes.append(f"the limit of {size(limit)} exceeds {what}: using {size(there)}")
    return min(limit, there)


def sample_file(files: Iterable[Path]) -> Path | None:
    """Return the largest file, with which to measure the disk; None if there is none."""
    sizes = {}
    for path in files:
        try:
            sizes[path] = path.stat().st_size
        except OSError:
            continue
    return max(sizes, key=lambda path: sizes[path], default=None)
