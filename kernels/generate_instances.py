"""Generate the files of instances in csrc/attention, one per head size and dtype, from the tables below.

python kernels/generate_instances.py          rewrite the files
python kernels/generate_instances.py --check  only check that they are up to date
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "csrc" / "attention" / "instances"
BACKWARD_FOLDER = FOLDER.parent / "backward" / "instances"
HEAD = "// Written by generate_instances.py: change the table there.\n"
ELEMENTS = ("float16", "bfloat16")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Tile configuration of a kernel; csrc/attention/traits.h explains each number."""

    m_tiles: int
    warps: int
    tile_n: int
    k_stages: int = 2
    q_in_registers: bool = True
    masked: bool = False
    int8: bool = False
    int8_all: bool = False
    int8_fp8: bool = False
    half_sums: bool = False
    short: bool = False  # all keys, at most tile_n of them, in one tile
    dropout: bool = False
    slice_dim: int | None = None

    def of(self, element: str, head_dim: int) -> str:
        """Return the C++ expression for the instance."""
        words = (self.m_tiles, self.warps, self.tile_n, self.k_stages, str(self.q_in_registers).lower())
        shape = f"Shape<{', '.join(map(str, words))}>"
        if self.short:
            return f"short_instance<{element}, {head_dim}, {self.warps}, {self.tile_n}>()"
        if self.dropout:
            return f"dropout_instance<{element}, {head_dim}, {shape}>()"
        if self.int8_all:
            return f"int8_all_instance<{element}, {head_dim}, {shape}>()"
        if self.int8_fp8:
            return f"int8_fp8_instance<{element}, {head_dim}, {shape}>()"
        if self.half_sums:
            return f"half_sums_instance<{element}, {head_dim}, {shape}, {str(self.masked).lower()}>()"
        if self.int8:
            return f"int8_instance<{element}, {head_dim}, {shape}, {str(self.masked).lower()}>()"
        slices = "" if self.slice_dim is None else f", {self.slice_dim}"
        return f"instance<{element}, {head_dim}, {shape}, {str(self.masked).lower()}{slices}>()"


# Two tiles of 16 rows per warp halve the reads of keys and values, which suits GPUs with fast tensor cores. One tile
# needs half the registers: smaller blocks, for few rows and for large heads. One masked kernel per head size.
WIDE = Shape(m_tiles=2, warps=4, tile_n=64)
NARROW = Shape(m_tiles=1, warps=4, tile_n=64)
EIGHT = Shape(m_tiles=1, warps=8, tile_n=64)
MASKED = Shape(m_tiles=1, warps=4, tile_n=64, masked=True)
INT8 = (
    Shape(m_tiles=1, warps=8, tile_n=64, int8=True),
    Shape(m_tiles=1, warps=4, tile_n=64, int8=True),
    Shape(m_tiles=1, warps=4, tile_n=64, int8=True, masked=True),
)
INT8_ALL = (
    Shape(m_tiles=1, warps=8, tile_n=64, int8_all=True),
    Shape(m_tiles=1, warps=4, tile_n=64, int8_all=True),
)
# Products of narrow heads take hardly longer than the instructions around them: three warps for each quarter of a
# multiprocessor hide these, and share the keys and values that they read.
INT8_ALL_NARROW = (
    Shape(m_tiles=1, warps=12, tile_n=64, int8_all=True),
    Shape(m_tiles=1, warps=4, tile_n=64, int8_all=True),
)
HALF_SUMS = (
    Shape(m_tiles=1, warps=8, tile_n=64, half_sums=True),
    Shape(m_tiles=1, warps=4, tile_n=64, half_sums=True),
    Shape(m_tiles=1, warps=4, tile_n=64, half_sums=True, masked=True),
)
INT8_FP8 = (
    Shape(m_tiles=1, warps=8, tile_n=64, int8_fp8=True),
    Shape(m_tiles=1, warps=4, tile_n=64, int8_fp8=True),
)
# Prompts of 77 tokens; head sizes that are not a multiple of 16 take keys 32 at a time.
TEXT = (Shape(m_tiles=1, warps=4, tile_n=80, short=True), Shape(m_tiles=1, warps=4, tile_n=128, short=True))
TEXT_32 = (Shape(m_tiles=1, warps=4, tile_n=96, short=True), Shape(m_tiles=1, warps=4, tile_n=128, short=True))
SHAPES: dict[int, tuple[Shape, ...]] = {
    32: (WIDE, NARROW, MASKED),
    40: (WIDE, NARROW, MASKED, *TEXT_32),
    64: (WIDE, NARROW, MASKED, *TEXT, *INT8, *INT8_ALL_NARROW, *HALF_SUMS, *INT8_FP8),
    72: (WIDE, NARROW, MASKED, *TEXT_32, *INT8, *INT8_ALL_NARROW),
    80: (Shape(m_tiles=2, warps=4, tile_n=48), NARROW, MASKED, *TEXT, *INT8, *INT8_ALL),
    88: (Shape(m_tiles=2, warps=4, tile_n=32, q_in_registers=False), NARROW, MASKED),
    96: (Shape(m_tiles=2, warps=4, tile_n=32, q_in_registers=False), NARROW, MASKED, *INT8, *INT8_ALL),
    112: (Shape(m_tiles=2, warps=4, tile_n=32, q_in_registers=False), NARROW, MASKED, *TEXT, *INT8, *INT8_ALL),
    128: (
        Shape(m_tiles=2, warps=4, tile_n=32, q_in_registers=False),
        EIGHT,
        NARROW,
        MASKED,
        *TEXT,
        *INT8,
        *INT8_ALL,
        *HALF_SUMS,
        *INT8_FP8,
    ),
    160: (
        Shape(m_tiles=1, warps=8, tile_n=32),
        Shape(m_tiles=1, warps=4, tile_n=32),
        Shape(m_tiles=1, warps=4, tile_n=32, masked=True),
        *TEXT,
    ),
    256: (
        Shape(m_tiles=1, warps=4, tile_n=32, q_in_registers=False),
        Shape(m_tiles=1, warps=4, tile_n=16, k_stages=1, q_in_registers=False),  # fits Turing's 64 kB and registers
        Shape(m_tiles=1, warps=4, tile_n=32, q_in_registers=False, masked=True),
        Shape(m_tiles=1, warps=4, tile_n=16, k_stages=1, q_in_registers=False, masked=True),  # likewise
    ),
    384: (
        Shape(m_tiles=1, warps=4, tile_n=32, k_stages=1, q_in_registers=False, slice_dim=192),
        Shape(m_tiles=1, warps=2, tile_n=32, k_stages=1, q_in_registers=False, slice_dim=192),  # fits Turing's 64 kB
        Shape(m_tiles=1, warps=4, tile_n=32, k_stages=1, q_in_registers=False, slice_dim=192, masked=True),
    ),
    512: (
        Shape(m_tiles=1, warps=4, tile_n=32, k_stages=1, q_in_registers=False, slice_dim=256),
        Shape(m_tiles=1, warps=4, tile_n=16, k_stages=1, q_in_registers=False, slice_dim=256),
        Shape(m_tiles=1, warps=2, tile_n=16, k_stages=1, q_in_registers=False, slice_dim=256),  # fits Turing's 64 kB
        Shape(m_tiles=1, warps=4, tile_n=16, k_stages=1, q_in_registers=False, slice_dim=256, masked=True),
    ),
}


# By dtype and head size, in addition.
DROPOUT: dict[tuple[str, int], Shape] = {("float16", 64): Shape(m_tiles=1, warps=4, tile_n=64, dropout=True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class BackwardShape:
    """Tile configuration of a backward kernel; csrc/attention/backward/traits.h explains each number."""

    m_tiles: int = 1
    warps: int
    tile_n: int
    stages: int = 2
    part_dim: int | None = None
    dropout: bool = False

    def of(self, element: str, head_dim: int) -> str:
        """Return the C++ expression for the instance."""
        shape = f"Shape<{self.m_tiles}, {self.warps}, {self.tile_n}, {self.stages}>"
        if self.dropout:
            return f"dropout_instance<{element}, {head_dim}, {shape}>()"
        part = "" if self.part_dim is None else f", {self.part_dim}"
        return f"instance<{element}, {head_dim}, {shape}{part}>()"


# 128 keys of eight warps where gradients fit the registers, and 64 of four, which is less shared memory: on GPUs with
# 99 kB, and with Turing's 64 kB, where head sizes beyond 256 do not fit.
LARGE = BackwardShape(warps=8, tile_n=64)
LARGE_32 = BackwardShape(warps=8, tile_n=32)
SMALL = BackwardShape(warps=4, tile_n=64)
SMALL_32 = BackwardShape(warps=4, tile_n=32)
BACKWARD_SHAPES: dict[int, tuple[BackwardShape, ...]] = {
    32: (LARGE, SMALL),
    40: (LARGE, SMALL),
    64: (LARGE, SMALL),
    72: (LARGE, SMALL),
    80: (LARGE, SMALL_32),
    88: (LARGE_32, SMALL_32),
    96: (LARGE_32, SMALL_32),
    112: (LARGE_32, SMALL_32),
    128: (LARGE_32, BackwardShape(warps=8, tile_n=32, stages=1), BackwardShape(warps=4, tile_n=32, stages=1)),
    160: (BackwardShape(warps=8, tile_n=16), BackwardShape(warps=4, tile_n=16)),
    256: (
        BackwardShape(warps=4, tile_n=32, part_dim=128),
        BackwardShape(warps=4, tile_n=16, part_dim=128),
        BackwardShape(warps=2, tile_n=16, stages=1, part_dim=128),
    ),
    384: (
        BackwardShape(warps=4, tile_n=32, stages=1, part_dim=128),
        BackwardShape(warps=2, tile_n=16, part_dim=128),
    ),
    512: (
        BackwardShape(warps=4, tile_n=16, stages=1, part_dim=128),
        BackwardShape(warps=2, tile_n=16, stages=1, part_dim=128),
    ),
}


BACKWARD_DROPOUT: dict[tuple[str, int], BackwardShape] = {
    ("float16", 64): BackwardShape(warps=4, tile_n=64, dropout=True)
}


# Of Hopper's kernels, by head size, which smaller heads are filled up to: groups of four warps that multiply, and keys
# per tile.
HOPPER: dict[int, tuple[int, int]] = {64: (3, 128), 96: (2, 176), 128: (2, 176), 192: (2, 112), 256: (2, 80)}


def files() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file."""
    names = []
    for head_dim, shapes in SHAPES.items():
        for element in ELEMENTS:
            names.append(f"{element}_{head_dim}")
            lines = _lines((*shapes, DROPOUT.get((element, head_dim))), element, head_dim)
            yield f"{names[-1]}.cu", _instances(names[-1], lines)
    for head_dim, (groups, tile_n) in HOPPER.items():
        for element in ELEMENTS:
            names.append(f"hopper_{element}_{head_dim}")
            line = f"    hopper_instance<{element}, {head_dim}, HopperShape<{groups}, {tile_n}>>()"
            yield f"{names[-1]}.cu", _instances(names[-1], line, include="../hopper/compiled.h")
    yield "all.cpp", _all(names)


def backward_files() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file of backward instances."""
    names = []
    for head_dim, shapes in BACKWARD_SHAPES.items():
        for element in ELEMENTS:
            names.append(f"backward_{element}_{head_dim}")
            lines = _lines((*shapes, BACKWARD_DROPOUT.get((element, head_dim))), element, head_dim)
            yield f"{names[-1]}.cu", _instances(names[-1], lines, "mezzotint::backward_pass")
    yield "all.cpp", _all(names, "mezzotint::backward_pass")


def _lines(shapes: Iterable[Shape | BackwardShape | None], element: str, head_dim: int) -> str:
    return ",\n".join(f"    {shape.of(element, head_dim)}" for shape in shapes if shape is not None)


def _instances(name: str, lines: str, namespace: str = "mezzotint", include: str = "../compiled.h") -> str:
    return (
        f'{HEAD}#include "{include}"\n\nnamespace {namespace} {{\n\n'
        f"static const Instance k_{name}[] = {{\n{lines},\n}};\n\n"
        f"InstanceList list_{name}() {{ return {{k_{name}, sizeof k_{name} / sizeof *k_{name}}}; }}\n\n"
        f"}}  // namespace {namespace}\n"
    )


def _all(names: list[str], namespace: str = "mezzotint") -> str:
    declared = "\n".join(f"InstanceList list_{name}();" for name in names)
    entries = "\n".join(f"        case {number}: return list_{name}();" for number, name in enumerate(names))
    return (
        f'{HEAD}#include "../instance.h"\n\nnamespace {namespace} {{\n\n{declared}\n\n'
        f"int instance_lists() {{ return {len(names)}; }}\n\n"
        f"InstanceList instance_list(int number) {{\n    switch (number) {{\n{entries}\n    }}\n"
        f"    return {{nullptr, 0}};\n}}\n\n}}  // namespace {namespace}\n"
    )


def main(arguments: list[str]) -> int:
    """Write or check the files; return 1 if a check finds a difference."""
    folders = ((FOLDER, dict(files())), (BACKWARD_FOLDER, dict(backward_files())))
    if "--check" in arguments:
        return int(any(_found(folder) != wanted for folder, wanted in folders))
    for folder, wanted in folders:
        _write(folder, wanted)
    return 0


def _found(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text("utf-8") for path in folder.glob("*.c*")}


def _write(folder: Path, wanted: dict[str, str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    found = _found(folder)
    for name in found.keys() - wanted.keys():
        (folder / name).unlink()
    for name, text in wanted.items():
        if found.get(name) != text:
            (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
