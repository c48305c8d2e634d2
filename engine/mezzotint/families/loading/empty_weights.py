"""Builds networks without allocating weights, which come from files anyway."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.nn import init
from torch.overrides import TorchFunctionMode

_DRAWING = {Tensor.normal_, Tensor.uniform_}
_SETTING = {init.__name__, "transformers.initialization"}  # modules that contain only init functions


class SkipInit(TorchFunctionMode):
    """Skips initialization of meta tensors, for which torch would otherwise import its compiler."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the operation gives
        """Return a meta tensor unchanged instead of initializing it; otherwise call `func`."""
        kwargs = kwargs or {}
        if func in _DRAWING or getattr(func, "__module__", None) in _SETTING:
            tensor = args[0] if args else kwargs.get("tensor")
            if isinstance(tensor, Tensor) and tensor.is_meta:
                return tensor
        return func(*args, **kwargs)


_here = threading.local()  # `empty`: whether this thread is building a network
_lock = threading.Lock()
_register = nn.Module.register_parameter
_building = 0  # threads


@contextmanager
def empty_weights() -> Iterator[None]:
    """Put parameters that this thread registers on the meta device; buffers and other threads are not affected.

    accelerate's `init_empty_weights` affects every thread, including those that are loading weights.
    """
    global _building
    with _lock:
        _building += 1
        nn.Module.register_parameter = _register_empty  # type: ignore[method-assign, assignment]
    before, _here.empty = getattr(_here, "empty", False), True
    try:
        with SkipInit():
            yield
    finally:
        _here.empty = before
        with _lock:
            _building -= 1
            if not _building:
                nn.Module.register_parameter = _register  # type: ignore[method-assign]


def _register_empty(module: nn.Module, name: str, param: nn.Parameter | None) -> None:
    _register(module, name, param)
    if param is not None and getattr(_here, "empty", False):
        module._parameters[name] = nn.Parameter(param.to("meta"), requires_grad=param.requires_grad)
