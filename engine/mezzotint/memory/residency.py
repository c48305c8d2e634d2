"""Networks that come to the device and go, phase by phase."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager

from torch import nn

from mezzotint.memory.device import Device
from mezzotint.memory.host import Source
from mezzotint.memory.pinning import Locker
from mezzotint.memory.streaming import StreamedNetwork


class Residency:
    """Which networks are on a device. Names are the caller's: two models that share a network use one name for it."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._networks: dict[str, StreamedNetwork] = {}
        self._latest: list[str] = []  # that entered: used longest ago first

    @property
    def entered(self) -> tuple[str, ...]:
        """The networks on the device, the one used longest ago first."""
        return tuple(name for name in self._latest if self._networks[name].entered)

    def __getitem__(self, name: str) -> StreamedNetwork:
        """A network by its name."""
        return self._networks[name]

    def __contains__(self, name: str) -> bool:
        """Whether there is a network of that name."""
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
        """Have a network here; it stays on the host until a phase needs it. One of that name goes first."""
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
        """Have a network here no more."""
        if name in self._networks:
            self.evict({name})
            if name in self._latest:  # it has left by itself, for want of room
                self._latest.remove(name)
            self._networks[name].unpin()
            del self._networks[name]

    @contextmanager
    def phase(self, names: Collection[str], *, keep: Collection[str] = (), room: int | None = None) -> Iterator[None]:
        """Have these networks on the device, and what operations make counted, inside.

        `room` is what activations are going to take: others go only as far as that needs, those used longest ago
        first and those of `keep` last. Unknown: all others but those go. They stay on afterwards, until one has to go.
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
        """Bring a network while another works, if `room` bytes are left beside it; False: there is no room."""
        network, free = self._networks[name], self.device.ledger.free
        if network.entered:
            return True
        if free is not None and network.bytes() + room > free:
            return False
        network.enter(self.device.background)
        self._used(name)
        return True

    def evict(self, names: Collection[str]) -> None:
        """Have networks leave."""
        gone = [name for name in self.entered if name in names]
        for name in gone:
            self._networks[name].leave()
            self._latest.remove(name)
        if gone:
            self.device.arena.trim()

    def lock(self, wanted: Mapping[str, int], budget: int, locker: Locker) -> None:
        """Have bytes of networks page-locked, the first network's before the others', all within one budget.

        What is locked beyond that stays while the budget has room; of a network that wants none nothing stays.
        """
        self._unlock(wanted, budget)
        for name, size in wanted.items():
            network = self._networks[name]
            room = budget - sum(other.pinned_bytes for other in self._networks.values() if other is not network)
            if network.can_pin(min(size, room)):
                self.evict({name})
                network.pin(locker, min(size, room))  # what the system refuses is copied more slowly

    def _unlock(self, wanted: Mapping[str, int], budget: int) -> None:
        """Make room: networks that nobody asks about let go before those that have more than they want."""
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
        """Have all networks leave."""
        self.evict(self.entered)

    def _make_room(self, names: Collection[str], keep: Collection[str], room: int | None) -> None:
        others = [name for name in self.entered if name not in names]
        others.sort(key=lambda name: name in keep)  # stable: within each, the one used longest ago first
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
