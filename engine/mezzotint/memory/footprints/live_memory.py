"""Live memory of a forward pass: storages that operations allocate and that are still alive, and FLOPs.

Works the same on fake tensors (FakeTensorMode) and real ones. Attention counts only its output, because all kernels in
use are tiled. Weights and inputs are allocated outside, and not counted.
"""

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor
from torch.nn.functional import scaled_dot_product_attention
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch
from torch.utils.flop_counter import flop_registry

# torch has no types for operations and their arguments.
Operation: TypeAlias = Any
Value: TypeAlias = Any

GRAIN = 512  # bytes: torch's CUDA allocator rounds allocations up to this
_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_OURS = ("mezzotint::attention", "mezzotint::attention_with_lse")


class LiveMemory(_python_dispatch.TorchDispatchMode):
    """Counts storages allocated while it is active; use it through `counted`."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.live = self.peak = 0  # bytes
        self.operations = 0.0  # FLOPs: a multiply-add counts as two
        self._references: dict[int, weakref.ref[torch.UntypedStorage]] = {}
        self._paused = False

    def __torch_dispatch__(
        self, func: Operation, types: object, args: Sequence[Value] = (), kwargs: Mapping[str, Value] | None = None
    ) -> Value:
        """Run an operation and count its outputs; composite operations are decomposed first."""
        kwargs = kwargs or {}
        if self._paused:
            return func(*args, **kwargs)
        if func.namespace != "prim" and torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), _COMPOSITE):
            with self:  # not by func.decompose, which also takes apart what devices have kernels for
                return func._op_dk(_COMPOSITE, *args, **kwargs)
        made = func(*args, **kwargs)
        self._count(made, known={id(storage) for storage in _storages((*args, *kwargs.values()))})
        self._calculate(func, args, kwargs, made)
        return made

    def attend(self, run: Callable[[], Tensor], q: Tensor, k: Tensor) -> Tensor:
        """Run an attention of q `(b, h, nq, d)` and k `(b, h, nk, d)`, counting only its output as memory."""
        self._paused = True
        try:
            output = run()
        finally:
            self._paused = False
        self._count(output, known=set())
        self.operations += attention_operations(q.shape, k.shape)
        return output

    def _count(self, made: object, known: set[int]) -> None:
        for storage in _storages((made,)):
            if id(storage) not in known and id(storage) not in self._references:
                self._add(storage)

    def _add(self, storage: torch.UntypedStorage) -> None:
        key, size = id(storage), -(-storage.nbytes() // GRAIN) * GRAIN

        def freed(_: object) -> None:
            self._references.pop(key, None)
            self.live -= size

        self._references[key] = weakref.ref(storage, freed)
        self.live += size
        self.peak = max(self.peak, self.live)

    def _calculate(self, func: Operation, args: Sequence[Value], kwargs: Mapping[str, Value], made: object) -> None:
        if func.name().partition(".")[0] in _OURS:
            self.operations += attention_operations(args[0].shape, args[1].shape)
            return
        count = flop_registry.get(func.overloadpacket)
        if count is not None:
            self.operations += count(*args, **kwargs, out_val=made)


class _AttentionAsOne(TorchFunctionMode):
    """Intercepts torch's attention as a whole: decomposed, it would allocate scores that no kernel materializes."""

    def __init__(self, memory: LiveMemory) -> None:
        super().__init__()
        self._memory = memory

    def __torch_function__(
        self, func: Operation, types: object, args: Sequence[Value] = (), kwargs: Mapping[str, Value] | None = None
    ) -> Value:
        """Count attention as one operation and pass on all others."""
        kwargs = dict(kwargs or {})
        if func is not scaled_dot_product_attention:
            return func(*args, **kwargs)
        named = dict(zip(("query", "key", "value"), args, strict=False)) | kwargs
        q, k, v = named["query"], named["key"], named["value"]
        if isinstance(q, FakeTensor):
            return self._memory.attend(lambda: _output(q, v), q, k)
        return self._memory.attend(lambda: func(*args, **kwargs), q, k)


@contextmanager
def counted() -> Iterator[LiveMemory]:
    """Count inside the context, without gradients, as in inference."""
    memory = LiveMemory()
    with torch.no_grad(), _AttentionAsOne(memory), memory:
        yield memory


def attention_operations(q: Sequence[int], k: Sequence[int]) -> float:
    """FLOPs of attention from the shapes of q and k: two products of `(nq, d)` with `(nk, d)` per head."""
    heads = torch.Size(q[:-2]).numel()
    return 4.0 * heads * q[-2] * k[-2] * q[-1]


def _output(q: Tensor, v: Tensor) -> Tensor:
    """Allocate the output in q's layout, as kernels do."""
    return torch.empty_like(q) if q.shape[-1] == v.shape[-1] else q.new_empty((*q.shape[:-1], v.shape[-1]))


def _storages(values: Iterable[Value]) -> Iterator[torch.UntypedStorage]:
    """Storages of all tensors, including those in lists."""
    for value in values:
        if isinstance(value, Tensor):
            yield value.untyped_storage()
        elif isinstance(value, list | tuple):
            yield from _storages(value)
