"""Parse the per-kernel report of ptxas -v."""

import re
from dataclasses import dataclass

_KERNEL = re.compile(r"Compiling entry function '([^']+)' for 'sm_(\w+)'")
_MEMORY = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Registers per thread, and local memory in bytes, of one kernel."""

    registers: int
    stack: int
    spill_stores: int
    spill_loads: int


def parse_ptxas(text: str) -> dict[str, Resources]:
    """Return each kernel's resources by mangled name; functions that it calls and that are not inlined count too."""
    memory: dict[str, list[int]] = {}
    registers: dict[str, int] = {}
    kernel = ""
    for line in text.splitlines():
        if match := _KERNEL.search(line):
            kernel = match[1]
            memory[kernel] = [0, 0, 0]
        elif kernel and (match := _MEMORY.search(line)):  # the kernel's line; those of called functions follow
            memory[kernel] = [before + int(now) for before, now in zip(memory[kernel], match.groups(), strict=True)]
        elif kernel and (match := _REGISTERS.search(line)):
            registers[kernel] = int(match[1])
    return {name: _resources(number, memory[name]) for name, number in registers.items()}


def _resources(registers: int, memory: list[int]) -> Resources:
    stack, stores, loads = memory
    return Resources(registers=registers, stack=stack, spill_stores=stores, spill_loads=loads)
