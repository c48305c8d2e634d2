"""Dispatch of one operation in a job: kernels where possible, else torch, with fallbacks counted and reported."""

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, TypeVarTuple

from mezzotint.dispatch.library import LaunchFailed, Unavailable, Unsupported
from mezzotint.protocol import KernelFallback

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Name = TypeVar("Name")  # of implementations, as they appear in results
More = TypeVarTuple("More")  # arguments after the first tensor
Tell: TypeAlias = Callable[[str, str], None]  # a notice: code and message


class FallbackLog:
    """Why and how often torch ran instead of kernels; operations may share a log."""

    def __init__(self, code: str, tell: Tell) -> None:
        self._code, self._tell = code, tell
        self._told = False  # whether an unsupported call was reported
        self._calls: Counter[str] = Counter()

    @property
    def fallbacks(self) -> tuple[KernelFallback, ...]:
        """Fallbacks by reason; 0 calls: the kernels were disabled before the first call, or between calls."""
        return tuple(KernelFallback(reason=reason, calls=calls) for reason, calls in self._calls.items())

    def given_up(self, message: str, reason: str, calls: int) -> None:
        """Record that the kernels are disabled from now on; always reported."""
        self._calls[reason] += calls
        self._tell(self._code, f"{message}: {reason}")

    def unsupported(self, message: str, reason: str, *, tell: bool) -> None:
        """Record that a call has no kernel; only the first one with `tell` is reported."""
        self._calls[reason] += 1
        if tell and not self._told:
            self._told = True
            self._tell(self._code, f"{message}: {reason}")


class Dispatcher(Generic[Name, *More]):
    """Runs the kernels of an operation, until they fail."""

    def __init__(
        self,
        *,
        name: Name,
        plain: Name,
        kernels: "Callable[[Tensor, *More], Tensor] | None",
        device_type: str | None,
        log: FallbackLog,
        given_up: str,
        incomplete: str,
        silent_dtype: "torch.dtype | None" = None,
    ) -> None:
        """`given_up` and `incomplete` begin the notices; tensors of the format `silent_dtype` fall back without one."""
        self.name, self.plain, self.kernels = name, plain, kernels
        self.calls = 0
        self._device_type, self._silent_dtype = device_type, silent_dtype
        self._log, self._given_up, self._incomplete = log, given_up, incomplete

    @property
    def used(self) -> Name:
        """The implementation in use now, where it supports a call."""
        return self.plain if self.kernels is None else self.name

    @property
    def ran(self) -> Name:
        """The implementation used so far: kernels only if one of them was called."""
        return self.used if self.calls else self.plain

    def run(self, x: "Tensor", *more: *More) -> "Tensor | None":
        """Return the output of the kernels; None if torch must compute it."""
        kernels = self.kernels
        if kernels is None or x.device.type != self._device_type:
            return None
        try:
            made = kernels(x, *more)
            self.calls += 1
            return made
        except Unsupported as error:
            self._log.unsupported(self._incomplete, str(error), tell=x.dtype != self._silent_dtype)
        except (LaunchFailed, Unavailable) as error:
            self.give_up(str(error), calls=1)
        return None

    def give_up(self, reason: str, calls: int = 0) -> None:
        """Disable the kernels and use torch from now on."""
        self._log.given_up(self._given_up, reason, calls)
        self.kernels = None
