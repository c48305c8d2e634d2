"""Write the results of attention sweeps to csrc/attention/swept.cpp: the fastest instance per class of problems."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, Self

from kernel_build.card.beside import is_wrong
from kernel_build.card.record_file import Record
from kernel_build.results import write_whole
from kernel_build.sources import ARCHITECTURES, CSRC

SWEPT = CSRC / "attention" / "swept.cpp"
_HEAD = """\
// Written by `python -m kernel_build record`: the fastest instance of each class of problems, as cards were swept.
// Where it says nothing, choose.cpp estimates{state}.
#include "choose.h"

namespace mezzotint {{

const Swept kSwept[] = {{
"""
_NOTHING = ": no card has been swept yet"
_END = "    {},\n};\n\n}  // namespace mezzotint\n"
_ENTRY = re.compile(r"^    \{(\d+), .*$", re.MULTILINE)
_INSTANCE = re.compile(
    r"mezzotint (forward|hopper|short keys|flash-fp16|int8-all|int8-fp8|int8) "
    r"\w+ d\d+ (\d+)x(\d+)( masked)?, (\d+) threads"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Class:
    """A class of similar problems; csrc/attention/choose.h explains each number."""

    head_dim: int
    masked: bool
    asked: str  # int8, int8-all, int8-fp8, flash-fp16, or 16 bits
    queries: int
    keys: int

    @classmethod
    def of(cls, measured: Mapping[str, Any], kind: str, masked: bool, multiprocessors: int) -> Self:
        """Return the class of a measured problem."""
        queries = prod(measured[name] for name in ("batch", "heads", "nq")) // multiprocessors
        sizes = {"queries": _power_of_two(queries), "keys": _power_of_two(measured["nk"])}
        asked = kind if kind.startswith(("int8", "flash-fp16")) else "16 bits"
        return cls(head_dim=measured["head_dim"], masked=masked, asked=asked, **sizes)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """An instance within a class."""

    kind: str
    tile_m: int
    tile_n: int
    threads: int


def write_swept(record: Record, path: Path = SWEPT) -> int:
    """Replace the entries of the GPU's architecture with the results of its sweep; return the number of classes."""
    architecture = _architecture(record)
    if architecture is None or record.device.multiprocessors is None:
        return 0
    found = dict(_fastest(record, record.device.multiprocessors))
    if found:
        before = path.read_text("utf-8") if path.exists() else ""
        kept = [match[0] for match in _ENTRY.finditer(before) if int(match[1]) != architecture]
        lines = [_line(architecture, each, tile, record) for each, tile in found.items()]
        write_whole(path, swept_text([*kept, *lines]))
    return len(found)


def swept_text(lines: list[str]) -> str:
    """Return the file's text with these entries."""
    entries = "".join(f"{line}\n" for line in sorted(lines))
    return _HEAD.format(state="" if lines else _NOTHING) + entries + _END


def _architecture(record: Record) -> int | None:
    """Return the architecture whose machine code the GPU loads."""
    if record.device.capability is None:
        return None
    major, minor = record.device.capability
    numbers = (int(name.removeprefix("sm_").rstrip("a")) for name in ARCHITECTURES)
    return max((each for each in numbers if each // 10 == major and each <= 10 * major + minor), default=None)


def _fastest(record: Record, multiprocessors: int) -> Iterator[tuple[Class, Tile]]:
    """Yield for each class the instance with the least product, over its problems, of time relative to the fastest."""
    problems: dict[Class, dict[str, dict[Tile, float]]] = {}
    for row in record.of("sweep-attention"):
        measured = row["measured"]
        named = _INSTANCE.match(measured.get("implementation") or "")
        if named and row["outcome"] == "ok" and not is_wrong(row):
            kind, rows, keys, masked, threads = named.groups()
            tile = Tile(kind=kind, tile_m=int(rows), tile_n=int(keys), threads=int(threads))
            each = Class.of(measured, kind, masked is not None, multiprocessors)
            problems.setdefault(each, {}).setdefault(measured["shape"], {})[tile] = measured["milliseconds"]
    for each, times in problems.items():
        able = set.intersection(*(set(found) for found in times.values()))
        if able:
            best = {shape: min(found.values()) for shape, found in times.items()}
            yield each, min(able, key=lambda tile: prod(found[tile] / best[shape] for shape, found in times.items()))


def _line(architecture: int, each: Class, tile: Tile, record: Record) -> str:
    kind, masked = re.sub("[ -]", "_", tile.kind), str(each.masked).lower()
    what = f"{architecture}, Kind::{kind}, {each.head_dim}, {masked}, {each.queries}, {each.keys}"
    return f"    {{{what}, {tile.tile_m}, {tile.tile_n}, {tile.threads}}},  // {record.device.name}, {record.commit}"


def _power_of_two(number: int) -> int:
    """Return the largest power of two up to `number`, at least 1."""
    return 1 << max(number, 1).bit_length() - 1
