"""Operations on GPU tensors: each runs the CPU kernel on the same bytes, so results are identical to the CPU's.

A dispatcher fallback handles every operation with a CPU kernel. Operations that a GPU would decompose differently
(convolutions, matmuls, attention) also take the entire CPU path.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import torch
from fake_card.memory import adopt, on_card, on_host, refuse_wide, shaped, take, touch
from fake_card.state import card
from torch import Tensor

aten = torch.ops.aten
WHOLE = {"convolution", "linear", "matmul", "scaled_dot_product_attention"}
WAITING = {
    *("_local_scalar_dense", "nonzero", "masked_select", "equal", "_unique2", "unique_dim", "unique_consecutive"),
    *("bincount", "repeat_interleave"),
}
ANSWERS_HOST = {"_local_scalar_dense", "equal"}
VIEWS = {"as_strided", "view", "_reshape_alias", "unfold", "view_as_real", "view_as_complex"}
HOST_INDICES = {"index", "index_put_", "_index_put_impl_", "index_put", "_unsafe_index"}  # CUDA accepts host indices
POINTWISE_TAG = torch.Tag.pointwise


NOT_ON_METAL = {"_int_mm"}


class Writes(NamedTuple):
    """The arguments an operation writes to, whether it returns them, and which arguments are tensors."""

    positions: tuple[int, ...]
    names: frozenset[str]
    returned: bool
    numbers: tuple[int, ...]  # positions of tensors for which a number is allowed


_writes: dict[Any, Writes] = {}


def writes_of(operation: Any) -> Writes:
    """Analyse the operation's schema, cached."""
    known = _writes.get(operation)
    if known is None:
        schema = operation._schema
        positions = tuple(n for n, each in enumerate(schema.arguments) if each.alias_info and each.alias_info.is_write)
        names = frozenset(schema.arguments[n].name for n in positions)
        returned = bool(schema.returns) and all(each.alias_info and each.alias_info.is_write for each in schema.returns)
        numbers = tuple(n for n, each in enumerate(schema.arguments) if str(each.type) == "Tensor")
        known = _writes[operation] = Writes(positions, names, returned, numbers)
    return known


class Call:
    """Converts one operation's arguments to host tensors, and its results back."""

    def __init__(self, operation: Any) -> None:
        self.operation = operation
        self.name: str = operation._schema.name.rpartition("::")[2]
        self.device: int | None = None
        self.strays: list[Tensor] = []
        self._cards: dict[int, Tensor] = {}  # by the address of their storage

    def to_host(self, value: Any) -> Any:
        """Convert an argument for the CPU kernel."""
        if isinstance(value, Tensor):
            if value.device.type != card.kind.type:
                self.strays.append(value)
                return value
            if self.device is None:
                self.device = value.device.index
            elif self.device != value.device.index:
                raise _elsewhere(f"{card.kind.type}:{self.device} and {value.device}", self.name)
            self._cards[value.untyped_storage().data_ptr()] = value
            return on_host(value)
        if isinstance(value, (list, tuple)):
            return type(value)(self.to_host(each) for each in value)
        if isinstance(value, torch.device) and value.type == card.kind.type:
            self.device = card.index_of(value) if self.device is None else self.device
            return torch.device("cpu")
        return value

    def to_card(self, value: Any) -> Any:
        """Convert a result to the GPU: a view of the same memory, or new memory."""
        if isinstance(value, Tensor):
            base = self._cards.get(value.untyped_storage().data_ptr())
            return on_card(value, self.device or 0) if base is None else shaped(base, value)
        if isinstance(value, (list, tuple)):
            return type(value)(self.to_card(each) for each in value)
        return value

    def check(self, written: Iterator[Any]) -> None:
        """Raise for tensors on different devices, as CUDA's kernels do."""
        if not self._cards:
            return
        for stray in self.strays:
            scalar = stray.dim() == 0 and POINTWISE_TAG in self.operation.tags
            index = self.name in HOST_INDICES and not stray.is_floating_point()
            if not scalar and not index and not (stray.dim() == 0 and self.name in _TAKES_SCALARS):
                raise _elsewhere(f"{card.kind.type}:{self.device} and {stray.device}", self.name)
        if any(isinstance(each, Tensor) and each.device.type == "cpu" for each in written):
            raise _elsewhere(f"{card.kind.type}:{self.device} and cpu", f"{self.name}, which writes")


# Not tagged as pointwise, but CUDA accepts host scalars: through `wrapped_scalar` or as a fill value.
_TAKES_SCALARS = {"fill_", "fill", "where", "masked_fill", "masked_fill_", "lerp", "index_put_", "index_fill_", "full"}


def _elsewhere(devices: str, what: str) -> RuntimeError:
    return RuntimeError(
        f"Expected all tensors to be on the same device, but found at least two devices, {devices}! "
        f"(when checking arguments of {what})"
    )


def run(operation: Any, *args: Any, **kwargs: Any) -> Any:
    """Run an operation in which a tensor, or the requested device, is on the GPU."""
    call, writes = Call(operation), writes_of(operation)
    if card.kind.type == "mps" and call.name in NOT_ON_METAL:
        raise RuntimeError(f"aten::{call.name} has no kernel for MPS")
    card.operations[call.name] += 1
    there = [call.to_host(each) for each in args]
    for position in writes.numbers:  # torch passes a number in place of a tensor as the number
        if position < len(there) and isinstance(there[position], (int, float, complex)):
            there[position] = torch.tensor(there[position])
    named = {name: call.to_host(each) for name, each in kwargs.items() if name != "pin_memory"}
    call.check(args[n] for n in writes.positions if n < len(args))
    if call.name in VIEWS:
        return call.to_card(operation(*there, **named))
    ordered = _queue(call, writes, args, kwargs)
    given = operation(*there, **named)
    if card.capture is not None:
        card.capture.operation(operation, there, named, given)
    if call.name in ANSWERS_HOST:
        return given
    need = card.workspace.get(call.name)
    if need is not None:
        take(card.device(call.device), need(args, given))
    if writes.returned:
        return _written(operation, writes, args, kwargs, there, named, call.device or 0)
    made = call.to_card(given)
    for _, each in _tensors((made,), {}) if ordered else ():
        touch(each, True, call.name)
    return made


def _queue(call: Call, writes: Writes, args: Sequence[Any], kwargs: Mapping[str, Any]) -> bool:
    """Queue on the current stream, and make the host wait if necessary; return whether there are streams to order."""
    card.check(call.name)
    stream = card.current_stream(call.device)
    stream.run()
    stream.tick()
    ordered = len(card.streams) > len(card.devices) or card.capture is not None
    for key, each in _tensors(args, kwargs) if ordered else ():
        touch(each, key in writes.positions or key in writes.names, call.name)
    if call.name in WAITING or (call.name in HOST_INDICES and _has_masks(args[1])):
        card.wait_for(stream, call.name)
    return ordered


def _has_masks(indices: Sequence[Any]) -> bool:
    """Whether an index is boolean, which requires counting first."""
    return any(isinstance(each, Tensor) and each.dtype in (torch.bool, torch.uint8) for each in indices)


def _tensors(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[tuple[int | str, Tensor]]:
    items: list[tuple[int | str, Any]] = [*enumerate(args), *kwargs.items()]
    for key, value in items:
        for each in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(each, Tensor) and each.device.type == card.kind.type:
                yield key, each


def _written(
    operation: Any,
    writes: Writes,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    there: Sequence[Any],
    named: Mapping[str, Any],
    device: int,
) -> Any:
    """Return the arguments written to, resized if an output was passed empty."""
    targets = []
    for position in writes.positions:
        name = operation._schema.arguments[position].name
        target, made = (args[position], there[position]) if position < len(args) else (kwargs[name], named[name])
        if target.shape != made.shape:
            sized = made.clone()
            target.data = on_card(sized, device)
            if card.capture is not None:
                card.capture.record(partial(sized.copy_, made))
        targets.append(target)
    return targets[0] if len(targets) == 1 else tuple(targets)


# ---- operations on memory itself


def _new(size: Any, dtype: Any, device: Any, stride: Any = None, memory_format: Any = None) -> Tensor:
    like = torch.empty(size, dtype=dtype, device="meta", memory_format=memory_format or torch.contiguous_format)
    if stride is not None:
        like = torch.empty_strided(size, stride, dtype=dtype, device="meta")
    refuse_wide(like.dtype)
    count = max(like.untyped_storage().nbytes(), like.dtype.itemsize)
    take(card.device(device), count)  # fails before host memory is allocated
    return shaped(adopt(torch.empty(count, dtype=torch.uint8), card.index_of(device)), like)


def empty(
    size: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None,
    memory_format: Any = None,
) -> Tensor:  # fmt: skip
    """aten::empty.memory_format."""
    return _new(size, dtype, device, memory_format=memory_format)


def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> Tensor:
    """aten::empty_strided."""
    return _new(size, dtype, device, stride)


def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """aten::copy_: between devices or within one; the host waits for pageable memory."""
    ours = [each for each in (self, src) if each.device.type == card.kind.type]
    host = next((each for each in (self, src) if each.device.type != card.kind.type), None)
    name = "copy_" if host is None else "copy from host" if host is src else "copy to host"
    card.operations[name] += 1
    card.check(name)
    stream = card.current_stream(ours[0].device)
    late = non_blocking and (host is None or card.is_pinned(host))
    stream.tick()
    if len(card.streams) > len(card.devices) or card.capture is not None:
        for each in ours:
            touch(each, each is self, name)
    target, source = (on_host(each) if each.device.type == card.kind.type else each for each in (self, src))

    def work() -> None:
        with torch.inference_mode(target.is_inference()), torch.no_grad():
            target.copy_(source)

    if card.capture is not None:
        if host is not None and not late:
            card.refuse_in_capture(f"pageable {name}")
        card.capture.record(work)
        work()
        return self
    if late and stream.number >= len(card.devices):  # not a default stream
        stream.queue(work)
        return self
    stream.run()
    work()
    if host is not None and not late:
        card.wait_for(stream, f"pageable {name}" if non_blocking else name)
    return self


def copy_from(self: Tensor, dst: Tensor, non_blocking: bool = False) -> Tensor:
    """aten::_copy_from."""
    return copy_(dst, self, non_blocking)


def resize_(self: Tensor, size: Any, *, memory_format: Any = None) -> Tensor:
    """aten::resize_."""
    if self.shape != torch.Size(size):
        self.data = _new(size, self.dtype, self.device, memory_format=memory_format)
    return self


def record_stream(self: Tensor, stream: torch.Stream) -> None:
    """aten::record_stream: the memory is not reused until that stream is done with it."""
    from fake_card.memory import allocation_of

    allocation_of(self).recorded.add(int(stream.stream_id))


OWN: dict[str, Callable[..., Any]] = {
    "empty.memory_format": empty,
    "empty_strided": empty_strided,
    "copy_": copy_,
    "_copy_from": copy_from,
    "resize_": resize_,
    "record_stream": record_stream,
}


def register(key: str) -> list[torch.library.Library]:
    """Register these with torch's dispatcher under a device's key; the returned libraries must be kept alive."""
    has = torch._C._dispatch_has_kernel_for_dispatch_key
    every = torch.library.Library("_", "IMPL")
    every.fallback(run, key)
    library = torch.library.Library("aten", "IMPL")
    for name, kernel in OWN.items():
        library.impl(name, kernel, key)
    composite = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")
    for full in torch._C._dispatch_get_all_op_names():
        namespace, _, name = full.partition("::")
        if namespace != "aten" or name in OWN or has(full, key):
            continue
        packet, _, overload = name.partition(".")
        if packet in WHOLE or (has(full, "CPU") and any(has(full, each) for each in composite)):
            operation = getattr(getattr(aten, packet), overload or "default")
            library.impl(name, _bound(operation), key)
    return [every, library]


def _bound(operation: Any) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return run(operation, *args, **kwargs)

    return call
