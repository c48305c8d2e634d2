"""What works beside a block's threads on Hopper: copies of boxes, barriers that count them, products of four warps."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from kernel_params import Tiles
from ptx.memory import POISON
from ptx.program import PtxError

if TYPE_CHECKING:
    from ptx.machine import Machine

GROUP = 128  # threads of four warps
REGISTERS = 65536


@dataclass(slots=True)
class Barrier:
    """A barrier in shared memory."""

    arrivals: int
    missing: int
    bytes: int = 0  # announced, and not there yet
    phase: int = 0
    published: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxCopy:
    """A box on its way."""

    thread: int
    to: int
    barrier: int
    tiles: Tiles
    place: tuple[int, int, int, int]  # column, row, head, batch


@dataclass(slots=True)
class Turn:
    """A barrier by number: who is there, and who waits for how many."""

    threads: int
    arrived: int = 0
    waiting: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Products:
    """Sums of a group of threads that are being multiplied, by register."""

    lanes: np.ndarray
    sums: dict[str, np.ndarray]


class Units:
    """Those of all blocks of a launch."""

    def __init__(self, machine: "Machine") -> None:
        self._machine = machine
        self._barriers: dict[tuple[int, int], Barrier] = {}  # by block and address
        self._waiting: dict[tuple[int, int], list[tuple[np.ndarray, int]]] = {}  # threads, parity
        self._turns: dict[tuple[int, int], Turn] = {}
        self._copies: list[BoxCopy] = []
        self._registers: dict[tuple[int, int], int] = {}  # by block and group
        self.open: dict[int, dict[str, np.ndarray]] = {}  # sums by the group's first thread
        self.committed: dict[int, list[dict[str, np.ndarray]]] = {}
        self.fenced: set[int] = set()

    def block_of(self, thread: int) -> int:
        """The block of a thread."""
        return int(thread) // self._machine.threads

    def prepare(self, thread: int, address: int, arrivals: int) -> None:
        """mbarrier.init."""
        self._barriers[self.block_of(thread), address] = Barrier(arrivals, arrivals)

    def publish(self, thread: int) -> None:
        """fence.proxy.async after preparing."""
        for (block, _), barrier in self._barriers.items():
            barrier.published |= block == self.block_of(thread)

    def arrive(self, thread: int, address: int, announced: int) -> None:
        """mbarrier.arrive, with bytes that will come."""
        key = (self.block_of(thread), address)
        barrier = self._at(key)
        barrier.bytes += announced
        barrier.missing -= 1
        self._end_phase(key)

    def _at(self, key: tuple[int, int]) -> Barrier:
        if key not in self._barriers:
            raise PtxError(f"there is no barrier at {key[1]}")
        return self._barriers[key]

    def _end_phase(self, key: tuple[int, int]) -> None:
        barrier = self._at(key)
        if barrier.missing < 0 or (barrier.missing == 0 and barrier.bytes < 0):
            raise PtxError("more arrives at a barrier than it was prepared for")
        if barrier.missing or barrier.bytes:
            return
        barrier.missing = barrier.arrivals
        barrier.phase += 1
        left = []
        for threads, parity in self._waiting.pop(key, []):
            if barrier.phase % 2 != parity:
                self._machine.waiting[threads] = False
            else:
                left.append((threads, parity))
        if left:
            self._waiting[key] = left

    def wait_phase(self, threads: np.ndarray, address: int, parity: int) -> None:
        """mbarrier.try_wait by threads of one block, which go on when the phase of that parity has ended."""
        key = (self.block_of(threads[0]), address)
        if self._at(key).phase % 2 == parity:
            self._machine.waiting[threads] = True
            self._waiting.setdefault(key, []).append((threads, parity))

    def turn(self, thread_group: np.ndarray, number: int, count: int, *, waits: bool) -> None:
        """bar.sync or bar.arrive of threads of one block."""
        key = (self.block_of(thread_group[0]), number)
        turn = self._turns.setdefault(key, Turn(count))
        if turn.threads != count:
            raise PtxError("a barrier is of another number of threads")
        turn.arrived += len(thread_group)
        if waits:
            turn.waiting += thread_group.tolist()
            self._machine.waiting[thread_group] = True
        if turn.arrived > count:
            raise PtxError("more threads are at a barrier than it is of")
        if turn.arrived == count:
            self._machine.waiting[turn.waiting] = False
            del self._turns[key]

    def copy(self, copy: BoxCopy) -> None:
        """cp.async.bulk.tensor: until it has arrived there is poison."""
        if not self._at((self.block_of(copy.thread), copy.barrier)).published:
            raise PtxError("a copy is to tell a barrier that was not published")
        self._put(copy, np.full((copy.tiles.rows, copy.tiles.columns), POISON, np.uint16))
        self._copies.append(copy)

    def land_one(self) -> None:
        """Let the oldest copy arrive, since every thread waits."""
        if not self._copies:
            raise PtxError("deadlock: every thread waits, and no copy is on its way")
        copy = self._copies.pop(0)
        self._put(copy, self._box(copy))
        key = (self.block_of(copy.thread), copy.barrier)
        self._at(key).bytes -= 2 * copy.tiles.rows * copy.tiles.columns
        self._end_phase(key)

    def _box(self, copy: BoxCopy) -> np.ndarray:
        """Numbers of a box, 0 where the tensor ends."""
        tiles, (column, row, head, batch) = copy.tiles, copy.place
        box = np.zeros((tiles.rows, tiles.columns), np.uint16)
        rows = np.arange(row, min(row + tiles.rows, tiles.sizes[1]))
        columns = np.arange(column, min(column + tiles.columns, tiles.sizes[0]))
        if len(rows) and len(columns):
            first = tiles.first + head * tiles.strides[1] + batch * tiles.strides[2]
            addresses = first + rows[:, None] * tiles.strides[0] + columns * 2
            loaded = self._machine.memory.load(addresses.ravel(), 2).view(np.uint16)
            box[: len(rows), : len(columns)] = loaded.reshape(addresses.shape)
        return box

    def _put(self, copy: BoxCopy, numbers: np.ndarray) -> None:
        rows, columns = numbers.shape
        addresses = exchanged(copy.to + np.arange(rows)[:, None] * columns * 2 + np.arange(columns) * 2, columns * 2)
        lanes = np.full(addresses.size, copy.thread)
        self._machine.shared.store(lanes, addresses.ravel(), numbers.reshape(-1, 1).view(np.uint8).reshape(-1, 2))

    def set_registers(self, threads: np.ndarray, registers: int) -> None:
        """setmaxnreg by groups of four warps."""
        for first in threads[::GROUP]:
            self._registers[self.block_of(first), int(first) % self._machine.threads // GROUP] = registers

    def check_ended(self) -> None:
        """Raise PtxError if something was not brought to an end, or registers were given out twice."""
        if self._copies or self._turns or any(self.open.values()) or any(self.committed.values()):
            raise PtxError("the threads have ended before copies, turns or products")
        for block in {block for block, _ in self._registers}:
            given = [count for (each, _), count in self._registers.items() if each == block]
            if sum(given) * GROUP > REGISTERS or len(given) * GROUP != self._machine.threads:
                raise PtxError(f"groups of a block have {given} registers a thread")


def exchanged(addresses: np.ndarray, row_bytes: int) -> np.ndarray:
    """Where bytes lie in shared memory, whose chunks of 16 bytes are exchanged in rows of 128 or 64 bytes."""
    return addresses ^ ((addresses >> 7 & (row_bytes // 16 - 1)) << 4)


def one_of(values: np.ndarray) -> int:
    """The value that all threads have. Raises PtxError if they differ."""
    if (values != values[0]).any():
        raise PtxError("threads that act together differ")
    return int(values[0])


def by_block(threads: np.ndarray, per_block: int) -> Sequence[np.ndarray]:
    """Threads of each block."""
    return np.split(threads, np.flatnonzero(np.diff(threads // per_block)) + 1)
