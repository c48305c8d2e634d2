"""Parse nvdisasm output: which instructions a kernel contains, and which are inside loops."""

import re
from collections import Counter
from dataclasses import dataclass, field

_SECTION = re.compile(r"^\s*\.section\s+\.text\.(\S+?),")
_LABEL = re.compile(r"^(\.L_\w+):")
_INSTRUCTION = re.compile(r"^\s*/\*[0-9a-f]+\*/\s+(?:@!?\w+\s+)?([A-Z][\w.]*)(.*)$")
_TARGET = re.compile(r"\((\.L_\w+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """Counts of a kernel's instructions by full name with modifiers (HMMA.16816.F32)."""

    everywhere: Counter[str]
    in_loops: Counter[str]


@dataclass(slots=True)
class _Kernel:
    names: list[str] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    loops: list[tuple[int, int]] = field(default_factory=list)

    def finished(self) -> Instructions:
        inside = [False] * len(self.names)
        for first, last in self.loops:
            inside[first : last + 1] = [True] * (last + 1 - first)
        looping = (name for name, is_inside in zip(self.names, inside, strict=True) if is_inside)
        return Instructions(everywhere=Counter(self.names), in_loops=Counter(looping))


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
    if target and name.startswith("BRA") and target[1] in kernel.labels:
        kernel.loops.append((kernel.labels[target[1]], len(kernel.names)))
    kernel.names.append(name)
