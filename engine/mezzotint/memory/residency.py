"""Moves networks to and off the device, phase by phase."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from torch import nn

from mezzotint.memory.device import Device
from mezzotint.memory.host import Source
from mezzotint.memory.pinning import Locker
from mezzotint.memory.streaming import StreamedNetwork


class Residency:
    """Tracks the networks on a device. Callers choose the names: models that share a network use one name for it."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._networks: dict[str, StreamedNetwork] = {}
        self._latest: list[str] = []  # networks that entered, least recently used first

    @property
    def entered(self) -> tuple[str, ...]:
        """Networks on the device, least recently used first."""
        return tuple(name for name in self._latest if self._networks[name].entered)

    def __getitem__(self, name: str) -> StreamedNetwork:
        """Return a network by name."""
        return self._networks[name]

    def __contains__(self, name: str) -> bool:
        """Whether there is a network with this name."""
        return name in self._networks

    def add(
        self,
        name: str,
        network: nn.Module,
        blocks: Sequence[str],
        *,
        resident: int,
        slots: int,
        disk: Mapping[str, Source] | None = None,
    ) -> StreamedNetwork:
        """Add a network, replacing one of the same name; it stays on the host until a phase needs it."""
        self.remove(name)
        self._networks[name] = StreamedNetwork(
            network,
            blocks,
            resident=resident,
            slots=slots,
            copier=self.device.copier,
            arena=self.device.arena,
            disk=disk,
        )
        return self._networks[name]

    def remove(self, name: str) -> None:
        """Remove a network, if present."""
        if name in self._networks:
            self.evict({name})
            if name in self._latest:  # it left by itself for lack of room
                self._latest.remove(name)
            self._networks[name].unpin()
            del self._networks[name]

    @contextmanager
    def phase(self, names: Collection[str], *, keep: Collection[str] = (), room: int | None = None) -> Iterator[None]:
        """Keep these networks on the device and count activations inside the context.

        `room` is the expected size of activations: other networks are evicted only as far as needed, least recently
        used first and those in `keep` last. None: all others except `keep` are evicted. Networks stay on the device
        afterwards until they are evicted.
        """
        self._make_room(names, keep, room)
        self.device.limit()
        for name in names:
            self._networks[name].enter()
            self._used(name)
        for name in names:
            self._networks[name].ready()
        self.device.reset_peak()
        with self.device.counting():
            yield

    def prefetch(self, name: str, *, room: int = 0) -> bool:
        """Load a network in the background if that leaves `room` bytes; False if there is no room."""
        network, free = self._networks[name], self.device.ledger.free
        if network.entered:
            return True
        if free is not None and network.bytes() + room > free:
            return False
        network.enter(self.device.background)
        self._used(name)
        return True

    def evict(self, names: Collection[str]) -> None:
        """Move these networks off the device."""
        gone = [name for name in self.entered if name in names]
        for name in gone:
            self._networks[name].leave()
            self._latest.remove(name)
        if gone:
            self.device.arena.trim()

    def lock(self, wanted: Mapping[str, int], budget: int, locker: Locker) -> None:
        """Page-lock the wanted bytes of networks, in the given order, within one budget.

        Memory locked beyond that stays locked while the budget has room, except for networks that want none.
        """
        self._unlock(wanted, budget)
        for name, size in wanted.items():
            network = self._networks[name]
            room = budget - sum(other.pinned_bytes for other in self._networks.values() if other is not network)
            if network.can_pin(min(size, room)):
                self.evict({name})
                network.pin(locker, min(size, room))  # what the system refuses is only copied more slowly

    def _unlock(self, wanted: Mapping[str, int], budget: int) -> None:
        """Make room in the budget: unlock networks not in `wanted` before those that have more than they want."""
        locked = {name: network.pinned_bytes for name, network in self._networks.items() if network.pinned_bytes}
        order = sorted(locked, key=lambda name: name in wanted)
        over = sum(max(locked.get(name, 0), wanted.get(name, 0)) for name in {*locked, *wanted}) - budget
        for name in order:
            excess = locked[name] - wanted.get(name, 0)
            if wanted.get(name) == 0 or (over > 0 and excess > 0):
                over -= excess
                self.evict({name})
                self._networks[name].unpin()

    def clear(self) -> None:
        """Move all networks off the device."""
        self.evict(self.entered)

    def _make_room(self, names: Collection[str], keep: Collection[str], room: int | None) -> None:
        others = [name for name in self.entered if name not in names]
        others.sort(key=lambda name: name in keep)  # stable sort, so least recently used first within each group
        if room is None:
            self.evict([name for name in others if name not in keep])
            others = [name for name in others if name in keep]
        need = (room or 0) + sum(self._networks[n].bytes() for n in names if not self._networks[n].entered)
        for name in others:
            free = self.device.ledger.free
            if free is None or free >= need:
                return
            self.evict([name])

    def _used(self, name: str) -> None:
        if name in self._latest:
            self._latest.remove(name)
        self._latest.append(name)
