"""Where a job's networks are while it runs: loaded for a phase, then kept or evicted according to the plan."""

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from mezzotint.families.family import LoadedModel, Network
from mezzotint.gpu import gpu
from mezzotint.memory.accounting import DeviceOutOfMemory, uncounted
from mezzotint.memory.residency import Residency
from mezzotint.protocol import PhaseMemory, Plan
from mezzotint.stages.models.recovery import Recovery, Rung

if TYPE_CHECKING:
    import torch

T = TypeVar("T")

_GUEST = "guest"
SMALLEST_TILE = 128  # pixels: smaller tiles are visible
LARGEST_TILE = 1024
_SHARE = 10  # divisor: this part of the blocks is evicted at a time
_SHARE_OF_DECODER = 3  # divisor for decoders, whose whole work is repeated each time
_LEFT_FREE = 10  # divisor: the part of the device that plans leave free


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """A network that is on the device for a while."""

    network: Network
    counting: Callable[[], AbstractContextManager[object]]  # around everything that allocates there
    room: int | None  # bytes for its activations; None: not limited


class Placement:
    """Moves networks as planned. Without a plan all stay where they run; memory may run short even so."""

    def __init__(
        self,
        models: Sequence[LoadedModel],
        *,
        recovery: Recovery,
        residency: Residency | None = None,
        plan: Plan | None = None,
        free_other_models: Callable[[], None] = lambda: None,
    ) -> None:
        """`free_other_models` frees models left by other jobs."""
        self._free_other_models = free_other_models
        self._models, self._recovery, self._residency = models, recovery, residency
        self._plan = plan
        self._measured: dict[str, int] = {}
        self._held: dict[str, int | None] = {}
        self._predicted: dict[str, int] = {}  # including promoted blocks, if any
        self._promoted: set[str] = set()
        self._grown: dict[str, int] = {}  # bytes of each network beyond the plan

    @property
    def recoveries(self) -> tuple[str, ...]:
        """The measures taken when memory ran short."""
        return self._recovery.taken

    @property
    def notify(self) -> Callable[[str, str], None]:
        """Tells the user of something, by its code and in words."""
        return self._recovery.notify

    @property
    def measured(self) -> tuple[PhaseMemory, ...]:
        """The measured peak of each phase, next to the planned one."""
        if self._plan is None:
            return ()
        return tuple(
            PhaseMemory(
                name=phase.name,
                predicted_bytes=self._predicted[phase.name],
                measured_bytes=self._measured[phase.name],
                held_bytes=self._held[phase.name],
            )
            for phase in self._plan.phases
            if phase.name in self._measured
        )

    @contextmanager
    def phase(self, name: str, model: LoadedModel, components: Sequence[str]) -> "Iterator[PhaseRun]":
        """Context manager: `components` of a model are on the device; work inside may be retried with more memory."""
        working = PhaseRun(self, name, model, components)
        with ExitStack() as stack:
            if self._residency is not None:
                working.retry(partial(self._load_phase, stack, working), stack.close)
            try:
                yield working
            finally:
                self._measure(name)

    def prefetch(self, model: LoadedModel, component: str) -> None:
        """Start loading what the next phase needs, if there is room in addition to the running phase."""
        if self._residency is not None and network_key(model, component) in self._residency:
            try:
                self._residency.prefetch(network_key(model, component), room=self._activations())
            except DeviceOutOfMemory:
                return  # its own phase will make room

    def step_done(self, name: str, model: LoadedModel, component: str) -> None:
        """After a phase's first step its peak is known: once, make more blocks resident if there is room."""
        key = network_key(model, component)
        if self._residency is None or name in self._promoted or key not in self._residency:
            return
        self._promoted.add(name)
        self._measure(name)
        network, device = self._residency[key], self._residency.device
        if device.ledger.cap is None or not device.measures:
            return
        room = max(0, device.peak_bytes() - device.ledger.in_use)  # activations, in addition to what is held now
        room = max(room, self._needed_elsewhere(model, component) - (device.ledger.in_use - network.bytes()))
        room += device.ledger.cap // _LEFT_FREE + device.taken_by_others()
        more, before = network.most_resident(room=room) - network.resident, network.bytes()
        if more > 0 and network.promote(more, room=room):
            self._grown[key] = network.bytes() - before

    def _needed_elsewhere(self, model: LoadedModel, component: str) -> int:
        """The most bytes needed in addition to a network in all phases that the plan keeps it for."""
        if self._plan is None:
            return 0
        names = (model.identity, component)
        part = next((part for part in self._plan.components if (part.model, part.name) == names), None)
        if part is None:
            return 0
        phases = (phase for phase in self._plan.phases if phase.name in part.phases)
        return max((p.weights_bytes - part.device_bytes + p.activation_bytes for p in phases), default=0)

    def streamed_blocks(self, model: LoadedModel, component: str) -> int:
        """Number of blocks of a network that are streamed through slots; 0: it is fully resident."""
        key = network_key(model, component)
        if self._residency is None or key not in self._residency:
            return 0
        return len(self._residency[key].blocks) - self._residency[key].resident

    def planned_activations(self, phase: str) -> int | None:
        """The bytes planned for a phase's activations; None without a plan."""
        phases = self._plan.phases if self._plan else ()
        return next((each.activation_bytes for each in phases if each.name == phase), None)

    @contextmanager
    def hosting(self, network: Network, device: "torch.device") -> Iterator["Guest"]:
        """Context manager: a network of no model is alone on the device, within what is planned for decoding."""
        residency = self._residency
        if residency is None:
            try:
                yield Guest(counting=nullcontext, room=None, network=network.to(device))
            finally:
                network.to("cpu")
            return
        try:
            residency.add(_GUEST, network, (), resident=0, slots=1)
            with residency.phase([_GUEST]):
                pass
            yield Guest(counting=residency.device.counting, room=self._room_of("decode"), network=network)
            self._measure("decode")
        finally:
            residency.remove(_GUEST)

    @contextmanager
    def hosted(self, network: Network, device: "torch.device") -> Iterator[None]:
        """Context manager: the same, and all that it allocates is counted."""
        with self.hosting(network, device) as guest, guest.counting():
            yield

    def took(self, done: str, what: str) -> None:
        """Record a measure that changes the image; raises OutOfMemory if none may be taken."""
        self._recovery.take(done, what)

    def _room_of(self, phase: str) -> int | None:
        """Bytes that a phase's plan leaves beside what is on the device; None without a plan or a limit."""
        phases = self._plan.phases if self._plan else ()
        planned = next((each.weights_bytes + each.activation_bytes for each in phases if each.name == phase), None)
        if planned is None or self._residency is None or self._residency.device.ledger.cap is None:
            return None
        return max(0, planned - self._residency.device.ledger.in_use)

    def close(self) -> None:
        """Move everything back to the host."""
        if self._residency is not None:
            self._residency.clear()

    def run(self, make: Callable[[], T], reset: Callable[[], None], working: "PhaseRun") -> T:
        """Return the result of `make`, retried with more memory as often as needed."""
        return self._recovery.run(make, reset, list(self._rungs(working)), working.name)

    def _load_phase(self, stack: ExitStack, working: "PhaseRun") -> None:
        residency = self._residency
        if residency is None:
            return
        keys = [network_key(working.model, name) for name in working.components]
        keep = self._kept(working.name)
        stack.enter_context(residency.phase([key for key in keys if key in residency], keep=keep, room=None))

    def _kept(self, phase: str) -> set[str]:
        """Keys of the networks that the plan keeps on the device in this phase."""
        if self._plan is None:
            return set()
        names = {(part.model, part.name) for part in self._plan.components if phase in part.phases}
        return {
            network_key(model, name)
            for model in self._models
            for name in model.networks
            if (model.identity, name) in names
        }

    def _activations(self) -> int:
        """The largest activation bytes planned for any phase."""
        return max((phase.activation_bytes for phase in self._plan.phases), default=0) if self._plan else 0

    def _measure(self, phase: str) -> None:
        if self._residency is None or self._plan is None:
            return
        peak = self._residency.device.peak_bytes()
        if peak >= self._measured.get(phase, 0):
            self._measured[phase], self._held[phase] = peak, self._residency.device.held_bytes()
        planned = {each.name: each.weights_bytes + each.activation_bytes for each in self._plan.phases}
        grown = sum(self._grown.get(key, 0) for key in self._residency.entered)
        self._predicted[phase] = max(self._predicted.get(phase, 0), planned.get(phase, 0) + grown)

    # ---- recovery ladder

    def _rungs(self, working: "PhaseRun") -> Iterator[Rung]:
        yield Rung(take=_once(partial(self._free_caches, working)), silent=True)
        if working.batch_size > 1:
            yield Rung(take=partial(_smaller_batches, working.model, working.batch_size))
        yield Rung(take=partial(self._demote, working))
        if working.guided:
            yield Rung(take=partial(_sequential_guidance, working.model))
        if working.pixels:
            yield Rung(take=partial(_smaller_tiles, working.model, working), changes_image=True)
            if working.last_resort is not None:
                yield Rung(take=working.last_resort, changes_image=True)
        else:
            yield Rung(take=partial(self._lower_precision, working), changes_image=True)

    def _free_caches(self, working: "PhaseRun") -> str:
        """Free everything not in use."""
        self._free_other_models()
        gc.collect()
        if self._residency is not None:
            needed = {network_key(working.model, name) for name in working.components}
            self._residency.evict(set(self._residency.entered) - needed)
            self._residency.device.arena.trim()
        else:
            _trim(working.model)
        return "caches were freed"

    def _demote(self, working: "PhaseRun") -> str | None:
        if self._residency is None:
            return None
        for name in working.components:
            key = network_key(working.model, name)
            if key not in self._residency:
                continue
            network, share = self._residency[key], _SHARE_OF_DECODER if working.pixels else _SHARE
            while network.resident:
                try:
                    network.demote(max(1, len(network.blocks) // share))
                except DeviceOutOfMemory:
                    continue  # it was evicted; with fewer blocks there may be room
                return f"{network.resident} of {len(network.blocks)} blocks of {name} stay on the device"
        return None

    def _lower_precision(self, working: "PhaseRun") -> str | None:
        from mezzotint.families.loading.lowering import lower_precision

        done = None
        for name in working.components:
            with self.off_the_device(working.model, name), uncounted():
                scheme = lower_precision(working.model, name)
            if scheme is not None:
                done = f"{name} is quantized to {scheme}"
        return done

    @contextmanager
    def off_the_device(self, model: LoadedModel, component: str) -> Iterator[None]:
        """Context manager: the network is off the device inside, then returns with as many blocks as fit."""
        key = network_key(model, component)
        if self._residency is None or key not in self._residency:
            yield
            return
        network = self._residency[key]
        resident, slots, entered = network.resident, network.slots, network.entered
        self._residency.remove(key)
        try:
            yield
        finally:
            added = self._residency.add(
                key,
                network.network,
                network.blocks,
                resident=resident,
                slots=slots,
                disk=model.on_disk.get(component),
            )
            while entered and not self._prefetched(key):
                if not added.demote(max(1, len(added.blocks) // _SHARE)):
                    break  # the next call loads it, or raises if there is no room
            added.ready()

    def _prefetched(self, key: str) -> bool:
        try:
            return self._residency is not None and self._residency.prefetch(key)
        except DeviceOutOfMemory:
            return False


class PhaseRun:
    """One running phase."""

    def __init__(self, placement: Placement, name: str, model: LoadedModel, components: Sequence[str]) -> None:
        self._placement, self.name, self.model, self.components = placement, name, model, tuple(components)
        self.guided = False  # whether CFG runs two halves
        self.batch_size = 1  # images denoised together
        self.pixels = 0  # longer side of an image being decoded or encoded
        self.last_resort: Callable[[], str | None] | None = None  # another way to decode; None once it was taken

    def retry(self, make: Callable[[], T], reset: Callable[[], None]) -> T:
        """Return the result of `make`, retried as often as needed; `reset` undoes each failed attempt."""
        return self._placement.run(make, reset, self)

    def retry_stateless(self, make: Callable[[], T]) -> T:
        """Like `retry`, for work that leaves nothing to undo."""
        return self.retry(make, lambda: None)


def network_key(model: LoadedModel, component: str) -> str:
    """Identifies a network, however many models share it."""
    return f"{component}-{id(model.networks[component])}"


def _once(take: Callable[[], str]) -> Callable[[], str | None]:
    left = iter((True,))
    return lambda: take() if next(left, False) else None


def _sequential_guidance(model: LoadedModel) -> str | None:
    if model.passes == "sequential":
        return None
    model.passes = "sequential"
    return "conditional and unconditional passes run one after the other"


def _smaller_batches(model: LoadedModel, images: int) -> str | None:
    """Halve the images per forward pass; weights and precision stay the same."""
    before = min(model.at_once or images, images)
    if before == 1:
        return None
    model.at_once = (before + 1) // 2
    return f"the batch of {images} images is split into passes of {model.at_once}"


def _smaller_tiles(model: LoadedModel, working: PhaseRun) -> str | None:
    side = min(model.vae_tile or working.pixels, 2 * LARGEST_TILE)
    smaller = max((tile for tile in (LARGEST_TILE, 768, 512, 256, SMALLEST_TILE) if tile < side), default=0)
    if not smaller:
        return None
    model.vae_tile = smaller
    return f"the image is decoded in tiles of {smaller} pixels"


def _trim(model: LoadedModel) -> None:
    found = gpu(model.device.type)
    if found is not None:
        found.empty_cache()
