"""The kernels' library as the engine sees it: `mezzotint_kernels` where it is installed, or the reason why not."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from types import ModuleType
from typing import Any, Protocol, TypeAlias

Arguments: TypeAlias = Any  # a ctypes structure with the fields of one of kernels/csrc/api.h: MztAttentionArgs, ...
Calls: TypeAlias = Any  # mezzotint_kernels.AttentionCalls of torch's tensors

PACKAGE = "mezzotint_kernels"
INSTALL = "run make kernels"


class Unavailable(Exception):
    """There is no library, or it cannot be used on this machine; the text says what is missing and what to do."""


class Unsupported(Exception):
    """This library or device has no kernel for these arguments; another implementation must do it."""


class LaunchFailed(Exception):
    """The kernel did not start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryFacts:
    """What is known of the library and of the driver."""

    installed: bool = False
    version: str | None = None
    abi: int | None = None
    architectures: tuple[str, ...] = ()
    driver: str | None = None  # the newest CUDA that it knows, such as 13.0
    problem: str | None = None  # why it cannot be used here; None: it can


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPlan:
    """The kernel that would run."""

    name: str
    workspace_bytes: int


class Preparation(IntEnum):
    """What a row becomes before it is rounded: MztPreparation of kernels/csrc/api.h."""

    AS_IT_IS = 0
    LAYER_NORM = 1
    RMS_NORM = 2
    SILU = 3
    GELU_TANH = 4
    GEGLU = 5  # a gelu(b) of rows [a b]


class AttentionLibrary(Protocol):
    """What the library offers for attention; tests give a stand-in."""

    @property
    def device_type(self) -> str:
        """As torch names the devices that it runs on."""

    def new_arguments(self) -> Arguments:
        """An argument structure with its size and version filled in, and zeros."""

    def plan(self, arguments: Arguments, device: int) -> KernelPlan:
        """The kernel for these arguments; Unsupported when there is none."""

    def launch(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue it on a stream of the device that is current."""

    def attention_calls(self) -> Calls | None:
        """What makes calls of kinds that it knows with less ado; None where there is no such thing."""


class ProductLibrary(Protocol):
    """What the library offers for products with quantized weights; tests give a stand-in."""

    @property
    def device_type(self) -> str:
        """As torch names the devices that it runs on."""

    def new_quantize_arguments(self) -> Arguments:
        """An argument structure with its size and version filled in, and zeros."""

    def new_linear_arguments(self) -> Arguments:
        """An argument structure with its size and version filled in, and zeros."""

    def quantize(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue it on a stream of the device that is current; Unsupported, before that, when there is no kernel."""

    def multiply(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue it on a stream of the device that is current; Unsupported, before that, when there is no kernel."""


class InstalledKernels:
    """The package `mezzotint_kernels`, as an AttentionLibrary and a ProductLibrary; its errors become ours."""

    device_type = "cuda"

    def __init__(self, package: ModuleType) -> None:
        self._package = package
        self.new_arguments = package.AttentionArgs
        self.new_quantize_arguments, self.new_linear_arguments = package.QuantizeArgs, package.LinearArgs
        self.launch, self._plan = self._translated(package.attention_forward), self._translated(package.attention_plan)
        self.quantize, self.multiply = map(self._translated, (package.quantize_rows, package.linear_forward))

    def plan(self, arguments: Arguments, device: int) -> KernelPlan:
        """The kernel for these arguments; Unsupported when there is none."""
        plan = self._plan(arguments, device)
        if not plan.supported:
            raise Unsupported(plan.text)
        return KernelPlan(name=plan.text, workspace_bytes=plan.workspace_bytes)

    def attention_calls(self) -> Calls | None:
        """What makes calls of kinds that it knows with less ado; None where there is no such thing."""
        import torch

        return self._package.attention_calls(torch.Tensor, torch.empty_like)

    def _translated(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def translated(*arguments: Any) -> Any:  # noqa: ANN401  an argument structure, a device, a stream
            try:
                return call(*arguments)
            except self._package.KernelsError as error:
                raise self._as_ours(error) from error

        return translated

    def _as_ours(self, error: Exception) -> Exception:
        package = self._package
        pairs = (
            (package.Unsupported, Unsupported),
            (package.KernelsUnavailable, Unavailable),
            (package.InvalidArgument, ValueError),
        )
        return next((ours(str(error)) for theirs, ours in pairs if isinstance(error, theirs)), LaunchFailed(str(error)))


def installed_package() -> ModuleType | None:
    """`mezzotint_kernels`, where it is installed."""
    return importlib.import_module(PACKAGE) if importlib.util.find_spec(PACKAGE) is not None else None


def library_facts(find: Callable[[], ModuleType | None] = installed_package) -> LibraryFacts:
    """What is known of the installed library; never an error."""
    package = find()
    if package is None:
        return LibraryFacts(problem=f"the package {PACKAGE} is not installed: {INSTALL}")
    info = package.info()
    return LibraryFacts(
        installed=True,
        version=info.version,
        abi=info.abi,
        architectures=info.architectures,
        driver=info.driver,
        problem=info.problem,
    )


def open_installed(find: Callable[[], ModuleType | None] = installed_package) -> InstalledKernels:
    """The installed library; Unavailable says what is missing and what to do."""
    package, problem = find(), library_facts(find).problem
    if package is None or problem is not None:
        raise Unavailable(problem)
    return InstalledKernels(package)
