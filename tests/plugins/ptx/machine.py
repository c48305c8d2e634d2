"""A PTX interpreter that runs all threads of a grid in lockstep: the threads furthest behind execute next.

Because of the lockstep, a missing barrier goes unnoticed; the fibre emulator detects those.
"""

import ctypes
from collections.abc import Callable, Mapping

import numpy as np
from ptx import arithmetic, block_scales, conversions, hopper, movement, products, warps
from ptx.hopper_units import Units
from ptx.memory import GlobalMemory, MemoryFault, SharedMemory
from ptx.program import Address, Instruction, Operand, Program, PtxError, Symbol
from ptx.registers import Registers

WARP = 32
_OF_WARPS = ("shfl.sync", "mma.sync", "ldmatrix.sync", "vote.sync")  # which wait for all threads of a warp


class Machine:
    """A launch of one kernel; the other modules of this package implement the instructions."""

    def __init__(
        self, program: Program, memory: GlobalMemory, *, blocks: int, threads: int, shared_bytes: int, parameters: bytes
    ) -> None:
        if len(parameters) != program.parameter_bytes:
            raise PtxError(f"{program.name} takes {program.parameter_bytes} bytes, and {len(parameters)} are given")
        if threads % WARP or program.threads not in (0, threads):
            raise PtxError(f"{program.name} is for blocks of {program.threads} threads, and not of {threads}")
        self.program, self.memory, self.threads = program, memory, threads
        self.parameters = np.frombuffer(parameters, np.uint8)
        self.registers = Registers(program, blocks, threads)
        self.shared = SharedMemory(blocks, threads, program.static_bytes + shared_bytes)
        self.lanes = self._all = np.arange(blocks * threads)  # executing the current instruction
        self.places = np.zeros(blocks * threads, np.int64)  # program counter of each thread
        self.waiting = np.zeros(blocks * threads, bool)  # for what other threads or copies bring about
        self.early = np.zeros(blocks * threads, bool)  # at an instruction of their warp, before the others
        self._patient = True  # as long as others may still come there
        self.units = Units(self)
        self.overlapping = 0  # copies in flight at each product, summed

    def run(self) -> None:
        """Run until all threads have ended."""
        steps = [_HANDLERS.get(each.name) for each in self.program.code]
        with np.errstate(all="ignore"):
            while (place := self._next_place()) < len(self.program.code):
                instruction, step = self.program.code[place], steps[place]
                try:
                    self._step(place, instruction, step)
                except (PtxError, MemoryFault, IndexError, ValueError) as error:
                    raise type(error)(f"{error}, in line {instruction.line}: {instruction.text}") from error

        self.units.check_ended()

    def _next_place(self) -> int:
        """Where the threads are that are furthest behind of those that do not wait; copies arrive when all do."""
        end = len(self.program.code)
        while True:
            place = int(np.where(self.waiting | self.early, end, self.places).min())
            if place < end or not (self.waiting.any() or self.early.any()):
                return place
            if self.waiting.any():
                self.units.land_one()
            else:
                self.early[:], self._patient = False, False

    def _step(self, place: int, instruction: Instruction, step: "Step | None") -> None:
        behind = (self.places == place) & ~self.waiting
        if self._patient and instruction.name.startswith(_OF_WARPS) and not behind.all():
            behind = self._of_whole_warps(behind)
            if not behind.any():
                return
        self.lanes = self._all if behind.all() else np.flatnonzero(behind)
        self.places[self.lanes] = place + 1
        if instruction.guard is not None:
            wanted = self.registers.predicate(instruction.guard, self.lanes) != instruction.guard_unset
            self.lanes = self.lanes[wanted]
        if step is None:
            raise PtxError("unknown instruction")
        if len(self.lanes):
            step(self, instruction)

    def _of_whole_warps(self, arrived: np.ndarray) -> np.ndarray:
        """The threads of which the whole warp has arrived; the others wait."""
        whole = np.repeat(arrived.reshape(-1, WARP).all(1), WARP)
        self.early = (self.early | arrived) & ~whole
        return arrived & whole

    def read(self, operand: Operand, kind: str) -> np.ndarray:
        """Return an operand's values for the active threads."""
        return self.registers.read(operand, self.lanes, kind)

    def write(self, operand: Operand, values: np.ndarray) -> None:
        """Set a register of the active threads."""
        self.registers.write(operand, self.lanes, values)

    def address(self, operand: Operand) -> np.ndarray:
        """Return the addresses of a memory operand."""
        if not isinstance(operand, Address):
            raise PtxError(f"{operand} is no address")
        wide = isinstance(operand.base, Symbol) or self.program.width(operand.base.name) == 64
        return self.read(operand.base, "s64" if wide else "u32").astype(np.int64) + operand.offset

    def whole_warps(self) -> int:
        """Return the number of active warps. Raises PtxError if one is only partly active."""
        warps = self.lanes[::WARP] // WARP
        if not np.array_equal(self.lanes, (warps[:, None] * WARP + np.arange(WARP)).ravel()):
            raise PtxError("only some threads of a warp are here")
        return len(warps)

    def jump(self, label: Operand) -> None:
        """Let the active threads continue at a label."""
        if not isinstance(label, Symbol) or label.name not in self.program.labels:
            raise PtxError(f"{label} is no label")
        self.places[self.lanes] = self.program.labels[label.name]

    def end(self) -> None:
        """End the active threads."""
        self.places[self.lanes] = len(self.program.code)


def launch(
    program: Program,
    memory: GlobalMemory,
    parameters: ctypes.Structure,
    *,
    blocks: int,
    threads: int,
    shared_bytes: int,
) -> Machine:
    """Run a kernel to its end."""
    machine = Machine(
        program, memory, blocks=blocks, threads=threads, shared_bytes=shared_bytes, parameters=bytes(parameters)
    )
    machine.run()
    return machine


Step = Callable[[Machine, Instruction], None]

_CONTROL: Mapping[str, Step] = {
    "bra": lambda machine, instruction: machine.jump(instruction.operands[0]),
    "bra.uni": lambda machine, instruction: machine.jump(instruction.operands[0]),
    "cvta.param": lambda machine, instruction: machine.write(
        instruction.operands[0], machine.read(instruction.operands[1], "u64")
    ),
    "ret": lambda machine, _instruction: machine.end(),
}
_HANDLERS: Mapping[str, Step] = {
    **_CONTROL,
    **arithmetic.STEPS,
    **conversions.STEPS,
    **movement.STEPS,
    **products.STEPS,
    **warps.STEPS,
    **block_scales.STEPS,
    **hopper.steps(warps.STEPS["bar.sync"]),
}
