"""Parse nvdisasm output: which instructions a kernel contains, which are inside loops, and which usually run there."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

_SECTION = re.compile(r"^\s*\.section\s+\.text\.(\S+?),")
_LABEL = re.compile(r"^(\.L_\w+):")
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)(.*)$")
_TARGET = re.compile(r"\((\.L_\w+)\)")
_WORK = ("HMMA", "HGMMA", "IMMA", "QMMA", "OMMA", "LDSM", "LDGSTS")  # products, and the loads that they wait for

_OF_FOUR_WARPS = "HGMMA"


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """Counts of a kernel's instructions by full name with modifiers (HMMA.16816.F32)."""

    everywhere: Counter[str]
    in_loops: Counter[str]
    usual: Counter[str]  # in loops of products and their loads, without what a branch forward skips that has neither


@dataclass(slots=True)
class _Kernel:
    names: list[str] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    loops: list[tuple[int, int]] = field(default_factory=list)
    skips: list[tuple[int, str]] = field(default_factory=list)  # branches forward, as long as their label is unknown

    def finished(self) -> Instructions:
        skips = [(first, self.labels[label]) for first, label in self.skips if label in self.labels]
        # Waits are moved behind the kernel's end, and jump back to what follows the branch to them.
        detours = {first + 1: to for first, to in skips if "EXIT" in self.names[first:to]}
        loops = [(first, last) for first, last in self.loops if last < detours.get(first, len(self.names))]
        inside = self._covered(loops)
        rare = self._covered((first + 1, to - 1) for first, to in skips if inside[first] and not self._works(first, to))
        looping = [name for name, is_inside in zip(self.names, inside, strict=True) if is_inside]
        working = self._covered(self._working_loops(loops))
        usual = (name for name, *where in zip(self.names, working, rare, strict=True) if where == [True, False])
        return Instructions(everywhere=Counter(self.names), in_loops=Counter(looping), usual=Counter(usual))

    def _working_loops(self, loops: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return loops with products; of kernels that take one tile of queries after another only those over keys."""
        found = [loop for loop in loops if self._works(*loop)]
        if not any(name.startswith(_OF_FOUR_WARPS) for name in self.names):
            return found
        return [(first, last) for first, last in found if not any(first < a and b < last for a, b in found)]

    def _covered(self, ranges: Iterable[tuple[int, int]]) -> list[bool]:
        """Whether each instruction is in one of the ranges, whose ends belong to them."""
        covered = [False] * len(self.names)
        for first, last in ranges:
            covered[first : last + 1] = [True] * (last + 1 - first)
        return covered

    def _works(self, first: int, last: int) -> bool:
        return any(name.partition(".")[0] in _WORK for name in self.names[first:last])


def parse_sass(text: str) -> dict[str, Instructions]:
    """Return each kernel's instructions by mangled name; a loop is the code that a backward branch jumps over."""
    kernels: dict[str, _Kernel] = {}
    current: _Kernel | None = None
    for line in text.splitlines():
        if match := _SECTION.match(line):
            current = kernels.setdefault(match[1], _Kernel())
        elif current is None:
            continue
        elif match := _LABEL.match(line):
            current.labels[match[1]] = len(current.names)
        elif match := _INSTRUCTION.match(line):
            _add(current, match[1], match[2])
    return {name: kernel.finished() for name, kernel in kernels.items() if kernel.names}


def count(instructions: Counter[str], wanted: str) -> int:
    """Count an instruction with any modifiers: MUFU.EX2 includes MUFU.EX2.F16."""
    return sum(number for name, number in instructions.items() if name == wanted or name.startswith(wanted + "."))


def _add(kernel: _Kernel, name: str, rest: str) -> None:
    target = _TARGET.search(rest)
    if target and name.startswith("BRA"):
        if target[1] in kernel.labels:
            kernel.loops.append((kernel.labels[target[1]], len(kernel.names)))
        else:
            kernel.skips.append((len(kernel.names), target[1]))
    kernel.names.append(name)
