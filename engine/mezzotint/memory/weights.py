"""The weights of a network: each with its source and all the places in the network that hold it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from mezzotint.memory.host import HostTensor, Source


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A parameter or buffer of one module, whose dict is shared with any layer that replaces the module."""

    holder: dict[str, Tensor | None]
    key: str
    block: str  # the block that contains it; empty if none


@dataclass(slots=True, kw_only=True, eq=False)
class Weight:
    """One tensor and all places that hold it."""

    name: str
    source: Source
    at_rest: Tensor  # the tensor in the places while the network is not on the device
    places: list[Place]

    @property
    def block(self) -> str:
        """The only block that uses the weight; empty if it is outside blocks or shared between them."""
        blocks = {place.block for place in self.places}
        return blocks.pop() if len(blocks) == 1 else ""

    def bind(self, tensor: Tensor) -> None:
        """Put a tensor into all places."""
        is_parameter = isinstance(self.at_rest, nn.Parameter)
        self._put(nn.Parameter(tensor, requires_grad=False) if is_parameter else tensor)

    def unbind(self) -> None:
        """Restore the original tensor in all places."""
        self._put(self.at_rest)

    def _put(self, tensor: Tensor) -> None:
        for place in self.places:
            place.holder[place.key] = tensor


def weights_of(network: nn.Module, blocks: Sequence[str], disk: Mapping[str, Source] | None = None) -> list[Weight]:
    """Return all parameters and buffers. Those named in `disk` are read from there, and their RAM is released."""
    groups: dict[object, list[tuple[str, Place, Tensor]]] = {}
    for found in _places(network, blocks):
        groups.setdefault(_identity(found[2]), []).append(found)
    return [_weight(group, disk or {}) for group in groups.values()]


def check_blocks(network: nn.Module, blocks: Sequence[str]) -> None:
    """Raise ValueError if a block is named twice, is inside another, or is not in the network."""
    names = {name for name, _ in network.named_modules()}
    for block in blocks:
        if block not in names or blocks.count(block) > 1 or any(block.startswith(f"{each}.") for each in blocks):
            raise ValueError(f"{block!r} is not a streamable block of {type(network).__name__}")


def _weight(group: Sequence[tuple[str, Place, Tensor]], disk: Mapping[str, Source]) -> Weight:
    """Build the weight shared by these places; a file may store it under any of their names."""
    name, _, tensor = next((found for found in group if found[0] in disk), group[0])
    source = disk.get(name)
    at_rest = tensor if source is None else _without_memory(tensor)
    places = [place for _, place, _ in group]
    weight = Weight(name=name, source=source or _host(name, tensor), at_rest=at_rest, places=places)
    weight.unbind()
    return weight


def _places(network: nn.Module, blocks: Sequence[str]) -> Iterator[tuple[str, Place, Tensor]]:
    for prefix, module in network.named_modules():
        block = next((each for each in blocks if prefix == each or prefix.startswith(f"{each}.")), "")
        for holder in (module._parameters, module._buffers):
            for key, tensor in holder.items():
                if tensor is not None:
                    yield f"{prefix}.{key}" if prefix else key, Place(holder, key, block), tensor


def _identity(tensor: Tensor) -> object:
    """Key that is equal for tensors that are the same view of the same memory."""
    if tensor.is_meta or not tensor.numel():
        return id(tensor)
    return tensor.data_ptr(), tensor.dtype, tuple(tensor.shape), tensor.stride()


def _host(name: str, tensor: Tensor) -> Source:
    if tensor.is_meta:
        raise ValueError(f"{name} has no data, and no file to read it from")
    return HostTensor(tensor.detach(), pinned=tensor.is_pinned())


def _without_memory(tensor: Tensor) -> Tensor:
    empty = torch.empty_like(tensor, device="meta")
    return nn.Parameter(empty, requires_grad=False) if isinstance(tensor, nn.Parameter) else empty
