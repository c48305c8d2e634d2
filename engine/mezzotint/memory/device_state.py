"""State of a network while it is on the device: resident blocks, slots of streamed ones, merged branches."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from torch import nn

from mezzotint.memory.arena import Segment
from mezzotint.memory.copying import Copier, Mark, Ticket
from mezzotint.memory.loads import Load
from mezzotint.memory.merging import Merging, Targets
from mezzotint.memory.slots import Slot
from mezzotint.memory.weights import Weight

Act: TypeAlias = Callable[[], None]
# Acts before and after each time that a module is computed, until what it returns is called.
Watch: TypeAlias = Callable[[nn.Module, Act, Act], Act]


def by_hooks(module: nn.Module, before: Act, after: Act) -> Act:
    """Watch a module by its forward hooks, which is enough without gradients."""
    first = module.register_forward_pre_hook(lambda *_: before(), prepend=True)
    last = module.register_forward_hook(lambda *_: after())

    def end() -> None:
        first.remove()
        last.remove()

    return end


class DeviceState:
    """State of a network from `enter` to `leave`."""

    def __init__(self, copier: Copier, bringing: Copier, segments: list[Segment], watch: Watch) -> None:
        self._copier, self._bringing, self.segments, self._watch = copier, bringing, segments, watch
        self.slots: list[Slot] = []
        self._residents: list[_Resident] = []
        self._ends: list[Act] = []
        self._merging = Merging()
        self._held: dict[str, Targets] = {}

    @property
    def fixed(self) -> "_Resident":
        """Weights outside all blocks."""
        return self._residents[0]

    def hold(self, block: str, weights: Sequence[Weight], load: Load) -> None:
        """Register the device tensors of a block's weights."""
        self._held[block] = tuple(zip(weights, load.tensors, strict=True))

    def update_branches(self, network: nn.Module) -> None:
        """Pick up changed branches, between two calls of the network."""
        if self._merging.update_branches(network):
            for slot in self.slots:
                slot.invalidate()
            for resident in self._residents:
                resident.invalidate()

    def add_slot(self, blocks: Mapping[str, Load], network: nn.Module) -> None:
        """Stream blocks through a slot."""
        held = {block: self._held[block] for block in blocks}
        slot = Slot(blocks, self._copier, _merge_streamed(self._merging, held))
        self.slots.append(slot)
        for block in blocks:
            module = network.get_submodule(block)
            self._ends.append(self._watch(module, partial(slot.before, block), partial(slot.after, block)))

    def start(self, residents: Mapping[str, Load], mark: Mark, network: nn.Module) -> None:
        """Start all copies: weights outside blocks, then the slots' first blocks, then resident blocks."""
        for block, load in residents.items():
            merge = partial(self._merging.into_resident, self._held[block])
            resident = _Resident(self._bringing.start(load, mark), merge)
            self._residents.append(resident)
            if block:
                module = network.get_submodule(block)
                self._ends.append(self._watch(module, resident.wait, _nothing))
            else:
                for slot in self.slots:
                    slot.prepare(mark)

    def end(self) -> None:
        """Watch no longer, and make sure that no copy is still writing."""
        for end in reversed(self._ends):
            end()
        for slot in self.slots:
            slot.drain()
        for resident in self._residents:
            resident.drain()


class _Resident:
    """Resident weights: waited for at first use, then merged with their branches."""

    def __init__(self, ticket: Ticket, merge: Callable[[], None]) -> None:
        self._ticket: Ticket | None = ticket
        self._merge, self._is_merged = merge, False

    def wait(self) -> None:
        """Make the weights available before computation continues."""
        if self._ticket is not None:
            self._ticket.wait()
            self._ticket = None
        if not self._is_merged:
            self._merge()
            self._is_merged = True

    def invalidate(self) -> None:
        """Merge the changed branches before computation continues."""
        self._is_merged = False

    def drain(self) -> None:
        """Make sure that no copy is still writing."""
        if self._ticket is not None:
            self._ticket.drain()


def _merge_streamed(merging: Merging, held: Mapping[str, Targets]) -> Callable[[str], None]:
    """Return the slots' callback, without a reference to the state, which would keep its memory alive in a cycle."""
    return lambda block: merging.into_streamed(held[block])


def _nothing() -> None:
    """After a resident block."""
