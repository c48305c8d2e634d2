"""Generate csrc/attention/instances/*.cu, one file per head size and dtype, from the table below.

python kernels/generate_instances.py          rewrite the files
python kernels/generate_instances.py --check  only check that they are up to date
"""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "csrc" / "attention" / "instances"
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
    short: bool = False  # all keys, at most tile_n of them, in one tile
    slice_dim: int | None = None

    def of(self, element: str, head_dim: int) -> str:
        """Return the C++ expression for the instance."""
        words = (self.m_tiles, self.warps, self.tile_n, self.k_stages, str(self.q_in_registers).lower())
        shape = f"Shape<{', '.join(map(str, words))}>"
        if self.short:
            return f"short_instance<{element}, {head_dim}, {self.warps}, {self.tile_n}>()"
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
# Prompts of 77 tokens; head sizes that are not a multiple of 16 take keys 32 at a time.
TEXT = (Shape(m_tiles=1, warps=4, tile_n=80, short=True), Shape(m_tiles=1, warps=4, tile_n=128, short=True))
TEXT_32 = (Shape(m_tiles=1, warps=4, tile_n=96, short=True), Shape(m_tiles=1, warps=4, tile_n=128, short=True))
SHAPES: dict[int, tuple[Shape, ...]] = {
    32: (WIDE, NARROW, MASKED),
    40: (WIDE, NARROW, MASKED, *TEXT_32),
    64: (WIDE, NARROW, MASKED, *TEXT, *INT8),
    72: (WIDE, NARROW, MASKED, *TEXT_32, *INT8),
    80: (Shape(m_tiles=2, warps=4, tile_n=48), NARROW, MASKED, *TEXT, *INT8),
    88: (Shape(m_tiles=2, warps=4, tile_n=32, q_in_registers=False), NARROW, MASKED),
    96: (Shape(m_tiles=2, warps=4, tile_n=32, q_in_registers=False), NARROW, MASKED, *INT8),
    112: (Shape(m_tiles=2, warps=4, tile_n=32, q_in_registers=False), NARROW, MASKED, *TEXT, *INT8),
    128: (Shape(m_tiles=2, warps=4, tile_n=32, q_in_registers=False), EIGHT, NARROW, MASKED, *TEXT, *INT8),
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


def files() -> Iterator[tuple[str, str]]:
    """Yield the name and text of each file."""
    names = []
    for head_dim, shapes in SHAPES.items():
        for element in ELEMENTS:
            names.append(f"{element}_{head_dim}")
            lines = ",\n".join(f"    {shape.of(element, head_dim)}" for shape in shapes)
            yield f"{names[-1]}.cu", _instances(names[-1], lines)
    yield "all.cpp", _all(names)


def _instances(name: str, lines: str) -> str:
    return (
        f'{HEAD}#include "../compiled.h"\n\nnamespace mezzotint {{\n\n'
        f"static const Instance k_{name}[] = {{\n{lines},\n}};\n\n"
        f"InstanceList list_{name}() {{ return {{k_{name}, sizeof k_{name} / sizeof *k_{name}}}; }}\n\n"
        "}  // namespace mezzotint\n"
    )


def _all(names: list[str]) -> str:
    declared = "\n".join(f"InstanceList list_{name}();" for name in names)
    entries = "\n".join(f"        case {number}: return list_{name}();" for number, name in enumerate(names))
    return (
        f'{HEAD}#include "../instance.h"\n\nnamespace mezzotint {{\n\n{declared}\n\n'
        f"int instance_lists() {{ return {len(names)}; }}\n\n"
        f"InstanceList instance_list(int number) {{\n    switch (number) {{\n{entries}\n    }}\n"
        "    return {nullptr, 0};\n}\n\n}  // namespace mezzotint\n"
    )


def main(arguments: list[str]) -> int:
    """Write or check the files; return 1 if a check finds a difference."""
    wanted = dict(files())
    found = {path.name: path.read_text("utf-8") for path in FOLDER.glob("*.c*")}
    if "--check" in arguments:
        return int(found != wanted)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in found.keys() - wanted.keys():
        (FOLDER / name).unlink()
    for name, text in wanted.items():
        if found.get(name) != text:
            (FOLDER / name).write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
