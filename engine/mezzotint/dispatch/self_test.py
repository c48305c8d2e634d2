"""Self-test of kernels on a device: cases that models run, compared with the plain path, in under a second."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from mezzotint.dispatch.library import LaunchFailed, Unavailable, Unsupported

if TYPE_CHECKING:
    from torch import Tensor


class Case(Protocol):
    """A test case that models run."""

    @property
    def name(self) -> str:
        """The name used to report a failure."""


C = TypeVar("C", bound=Case)


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfTest:
    """The outcome of a self-test."""

    passed: tuple[str, ...]  # names of cases
    unsupported: tuple[str, ...]
    problem: str | None  # None if the kernels can be used
    has_no_kernels: bool = False  # the only problem is that there are none for the device
    by_others: tuple[str, ...] = ()  # of those that passed, cases that other kernels took, as in a job
    left_out: str = ""  # kernels that are not used since others passed, and why


def run_cases(cases: Sequence[C], problem_of: Callable[[C, int], str | None]) -> SelfTest:
    """Run every case that the device has a kernel for, with its index as the seed; stops at the first failure."""
    import torch

    passed: list[str] = []
    unsupported: list[str] = []
    reason = ""
    for seed, case in enumerate(cases):
        try:
            problem = problem_of(case, seed)
        except Unsupported as error:
            unsupported.append(case.name)
            reason = reason or str(error)
            continue
        except torch.OutOfMemoryError:
            raise  # says nothing about the kernels
        except (LaunchFailed, Unavailable, ValueError, RuntimeError) as error:
            problem = f"{type(error).__name__}: {error}"
        if problem is not None:
            message = f"the self-test failed at {case.name}: {problem}"
            return SelfTest(passed=tuple(passed), unsupported=tuple(unsupported), problem=message)
        passed.append(case.name)
    problem = None if passed else f"no kernel for this device: {reason}"
    return SelfTest(passed=tuple(passed), unsupported=tuple(unsupported), problem=problem, has_no_kernels=not passed)


def deviation(out: "Tensor", error: float, allowed: float, plain: str) -> str | None:
    """What is wrong with an output that differs from the plain path by `error`; None if nothing."""
    if not bool(out.isfinite().all()):
        return "the result contains NaN or infinity"
    return None if error <= allowed else f"the error against {plain} is {error:.2g}, and {allowed:.2g} is allowed"
