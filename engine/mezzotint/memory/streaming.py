"""Run a network on a device that need not hold all of it: some blocks are resident, the others streamed through slots.

While the network is on the device every weight keeps its address, its own or in a slot, so that a block can run
compiled or as a captured graph. LoRAs are merged into weights after they arrived, resident or streamed alike. Nothing
is copied back: the host's weights are never modified.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mezzotint.memory.accounting import rounded, uncounted
from mezzotint.memory.arena import DeviceArena, Segment
from mezzotint.memory.copying import Copier
from mezzotint.memory.device_state import DeviceState, Watch, by_hooks
from mezzotint.memory.even_spread import spread
from mezzotint.memory.host import HostTensor, Source, TensorLayout
from mezzotint.memory.loads import Load
from mezzotint.memory.pinning import CHUNK, Locker, Pinned, can_lock
from mezzotint.memory.segments import placed
from mezzotint.memory.weights import Weight, check_blocks, weights_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """Which blocks of a network are resident, and which share a slot."""

    resident: tuple[str, ...]
    slots: tuple[tuple[str, ...], ...]  # the blocks of each slot, in order


class StreamedNetwork:
    """A network that can be moved to a device (`enter`) and off it (`leave`) repeatedly.

    `blocks` names the modules that may be streamed, in execution order. `disk` maps weights to files from which they
    are read each time; those are no longer kept in RAM. `watch` tells when blocks are computed.
    """

    def __init__(
        self,
        network: nn.Module,
        blocks: Sequence[str],
        *,
        resident: int,
        slots: int,
        copier: Copier,
        arena: DeviceArena,
        disk: Mapping[str, Source] | None = None,
        watch: Watch = by_hooks,
    ) -> None:
        check_blocks(network, blocks)
        self.network, self.blocks = network, tuple(blocks)
        self._copier, self._arena, self._watch = copier, arena, watch
        self._weights: dict[str, list[Weight]] = {"": [], **{block: [] for block in blocks}}
        for weight in weights_of(network, self.blocks, disk):
            self._weights[weight.block].append(weight)
        self._state: DeviceState | None = None
        self._pinned: Pinned | None = None
        self._set(resident, slots)

    @property
    def entered(self) -> bool:
        """Whether the network is on the device."""
        return self._state is not None

    @property
    def resident(self) -> int:
        """Number of resident blocks."""
        return self._resident

    @property
    def slots(self) -> int:
        """Number of slots for the streamed blocks."""
        return self._slots

    @property
    def weights(self) -> Iterator[Weight]:
        """All weights, each once."""
        return (weight for group in self._weights.values() for weight in group)

    @property
    def misses(self) -> int:
        """How often since `enter` a block was needed that was not being fetched yet."""
        return 0 if self._state is None else sum(slot.misses for slot in self._state.slots)

    def arrangement(self, resident: int | None = None, slots: int | None = None) -> Arrangement:
        """Return the arrangement for these numbers of resident blocks and slots, by default the current ones."""
        count = len(self.blocks)
        chosen = spread(count, max(0, min(count, self._resident if resident is None else resident)))
        streamed = [block for block, is_resident in zip(self.blocks, chosen, strict=True) if not is_resident]
        number = min(len(streamed), max(1, self._slots if slots is None else slots))
        return Arrangement(
            resident=tuple(block for block, is_resident in zip(self.blocks, chosen, strict=True) if is_resident),
            slots=tuple(tuple(streamed[index::number]) for index in range(number)),
        )

    def bytes(self, resident: int | None = None, slots: int | None = None) -> int:
        """Return the bytes needed in the arena for these numbers, by default the current ones."""
        arrangement = self.arrangement(resident, slots)
        size = placed(self._layouts("", *arrangement.resident))[1]
        return rounded(size) + sum(rounded(self._slot_bytes(blocks)) for blocks in arrangement.slots)

    def enter(self, copier: Copier | None = None) -> None:
        """Move the network to the device; `copier` copies resident blocks, by default the slots' copier.

        Raises DeviceOutOfMemory if there is no room, and then changes nothing.
        """
        if self._state is not None:
            return
        arrangement = self.arrangement()
        # Views made in inference mode could not be filled outside of it, as by the reader thread.
        with ExitStack() as undo, uncounted(), torch.inference_mode(False), torch.no_grad():
            resident = self._allocate(undo, placed(self._layouts("", *arrangement.resident))[1])
            slots = [self._allocate(undo, self._slot_bytes(blocks)) for blocks in arrangement.slots]
            state = DeviceState(self._copier, copier or self._copier, [resident, *slots], self._watch)
            undo.callback(state.end)
            undo.callback(self._unbind)
            self._bind(state, arrangement, resident, slots)
            undo.pop_all()
        self._state = state

    def ready(self) -> None:
        """Make computation wait for weights outside blocks; blocks are waited for one by one.

        Branches that were set since the last call are merged from here on.
        """
        if self._state is not None:
            self._state.update_branches(self.network)
            self._state.fixed.wait()

    def leave(self) -> None:
        """Move the network off the device: restore the host's tensors and free the memory."""
        state, self._state = self._state, None
        if state is None:
            return
        self._unbind()
        state.end()
        for segment in state.segments:
            self._arena.free(segment)

    def arrange(self, resident: int, slots: int | None = None) -> None:
        """Change the number of resident blocks between steps; leaves and raises DeviceOutOfMemory if out of memory."""
        entered = self.entered
        self.leave()
        self._set(resident, self._slots if slots is None else slots)
        if entered:
            self._arena.trim()
            self.enter()
            self.ready()

    def promote(self, more: int, *, room: int = 0) -> bool:
        """Make more blocks resident if that leaves `room` bytes for activations; whether anything changed."""
        wanted, free = min(len(self.blocks), self._resident + more), self._arena.ledger.free
        if wanted == self._resident or (free is not None and self._growth(wanted) + room > free):
            return False
        self.arrange(wanted)
        return True

    def most_resident(self, *, room: int = 0) -> int:
        """Return how many blocks could be resident beside `room` bytes of activations, at least the current number."""
        free, count = self._arena.ledger.free, len(self.blocks)
        if free is None:
            return count
        could = (number for number in range(count, self._resident, -1) if self._growth(number) + room <= free)
        return next(could, self._resident)

    def demote(self, fewer: int) -> bool:
        """Make fewer blocks resident; False if none is."""
        if not self._resident:
            return False
        self.arrange(max(0, self._resident - fewer))
        return True

    def can_pin(self, budget: int) -> bool:
        """Whether more of the network could be page-locked within a total budget for it."""
        refused = self._pinned is not None and self._pinned.refused
        return not refused and can_lock(self._in_order_of_use(), budget - self.pinned_bytes)

    def pin(self, locker: Locker, budget: int, chunk: int = CHUNK) -> bool:
        """Page-lock weights in RAM up to the budget, streamed blocks first; the network must not be on the device.

        False if the system refused some, which are then copied in two steps with the same result.
        """
        if self._state is not None:
            raise RuntimeError("weights cannot be page-locked while the network is on the device")
        if self._pinned is None:
            self._pinned = Pinned(locker)
        return self._pinned.gather(self._in_order_of_use(), budget, chunk)

    def unpin(self) -> None:
        """Move the network off the device and unlock its memory."""
        self.leave()
        if self._pinned is not None:
            self._pinned.release()
            self._pinned = None
            for weight in self.weights:
                if weight.source.supports_async_copy:
                    weight.source = HostTensor(weight.source.tensor())

    @property
    def pinned_bytes(self) -> int:
        """Bytes of RAM locked for this network."""
        return 0 if self._pinned is None else self._pinned.bytes

    def _in_order_of_use(self) -> Iterator[Weight]:
        arrangement = self.arrangement()
        streamed = (block for slot in arrangement.slots for block in slot)
        return (each for group in (*streamed, "", *arrangement.resident) for each in self._weights[group])

    def _growth(self, resident: int) -> int:
        return self.bytes(resident) - (self.bytes() if self.entered else 0)

    def _set(self, resident: int, slots: int) -> None:
        if resident < 0 or (slots < 1 and resident < len(self.blocks)):
            raise ValueError(f"{resident} of {len(self.blocks)} blocks resident, {slots} slots: others need a slot")
        self._resident, self._slots = min(resident, len(self.blocks)), slots

    def _layouts(self, *blocks: str) -> list[TensorLayout]:
        return [weight.source.layout for block in blocks for weight in self._weights[block]]

    def _slot_bytes(self, blocks: Sequence[str]) -> int:
        return max(placed(self._layouts(block))[1] for block in blocks)

    def _allocate(self, undo: ExitStack, size: int) -> Segment:
        segment = self._arena.allocate(size)
        undo.callback(self._arena.free, segment)
        return segment

    def _bind(self, state: DeviceState, arrangement: Arrangement, resident: Segment, slots: Sequence[Segment]) -> None:
        mark = self._copier.mark()  # the memory may still be in use by earlier computation
        rest, loads = resident.memory, {}
        for group in ("", *arrangement.resident):
            loads[group] = _bound(self._weights[group], rest)
            state.hold(group, self._weights[group], loads[group])
            rest = rest[placed(self._layouts(group))[1] :]
        for blocks, segment in zip(arrangement.slots, slots, strict=True):
            slot = {block: _bound(self._weights[block], segment.memory) for block in blocks}
            for block, load in slot.items():
                state.hold(block, self._weights[block], load)
            state.add_slot(slot, self.network)
        state.start(loads, mark, self.network)

    def _unbind(self) -> None:
        for weight in self.weights:
            weight.unbind()


def _bound(weights: Sequence[Weight], memory: Tensor) -> Load:
    load = Load(memory, [weight.source for weight in weights])
    for weight, tensor in zip(weights, load.tensors, strict=True):
        weight.bind(tensor)
    return load
