"""First values of weights that come from files anyway: not drawn for a network that is built without numbers."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor
from torch.nn import init
from torch.overrides import TorchFunctionMode

_DRAWING = {Tensor.normal_, Tensor.uniform_}
_SETTING = {init.__name__, "transformers.initialization"}  # modules of nothing but functions that set values


class SkipInit(TorchFunctionMode):
    """Setting the values of tensors that hold none does nothing, for which torch would else import its compiler."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:  # noqa: ANN401  whatever the operation gives
        """Give a tensor without numbers back as it is; otherwise do what was asked."""
        kwargs = kwargs or {}
        if func in _DRAWING or getattr(func, "__module__", None) in _SETTING:
            tensor = args[0] if args else kwargs.get("tensor")
            if isinstance(tensor, Tensor) and tensor.is_meta:
                return tensor
        return func(*args, **kwargs)
