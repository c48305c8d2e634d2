"""The kernel library as the engine sees it: `mezzotint_kernels` if installed, or the reason why not."""

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from types import ModuleType
from typing import Any, Protocol, TypeAlias, runtime_checkable

Arguments: TypeAlias = Any  # a ctypes structure that mirrors one of kernels/csrc/api.h: MztAttentionArgs, ...
Calls: TypeAlias = Any  # mezzotint_kernels.AttentionCalls for torch tensors

PACKAGE = "mezzotint_kernels"
INSTALL = "installers for NVIDIA cards bring it; in a checkout run make kernels"


class Unavailable(Exception):
    """The library is absent or unusable on this machine; the message says what is missing and what to do."""


class Unsupported(Exception):
    """The library or device has no kernel for these arguments; another implementation must be used."""


class LaunchFailed(Exception):
    """The kernel failed to launch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryFacts:
    """Facts about the library and the driver."""

    installed: bool = False
    version: str | None = None
    abi: int | None = None
    architectures: tuple[str, ...] = ()
    driver: str | None = None  # newest CUDA version that it supports, such as 13.0
    problem: str | None = None  # why it cannot be used here; None if it can


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPlan:
    """The kernel that would run."""

    name: str
    workspace_bytes: int


class Preparation(IntEnum):
    """The operation on a row before it is quantized: MztPreparation of kernels/csrc/api.h."""

    AS_IT_IS = 0
    LAYER_NORM = 1
    RMS_NORM = 2
    SILU = 3
    GELU_TANH = 4
    GEGLU = 5  # a * gelu(b) for rows [a b]


class Activation(IntEnum):
    """What becomes of a product: MztActivation of kernels/csrc/api.h."""

    NONE = 0
    GELU_TANH = 1
    GATED_GELU = 2  # a * gelu(b), of two layers
    GATED_SILU = 3  # a * silu(b)


class AttentionLibrary(Protocol):
    """The library's functions for attention; tests pass a fake."""

    @property
    def device_type(self) -> str:
        """Torch's name for the type of devices that it runs on."""

    def new_arguments(self) -> Arguments:
        """A zeroed argument structure with its size and version filled in."""

    def new_table(self) -> Arguments:
        """A zeroed structure of a block table with its size and version filled in."""

    def plan(self, arguments: Arguments, device: int) -> KernelPlan:
        """The kernel for these arguments; raises Unsupported if there is none."""

    def launch(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue the kernel on a stream of the current device."""

    def attention_calls(self) -> Calls | None:
        """A caller with less overhead for the kinds of calls that it knows; None if there is none."""


class BackwardLibrary(Protocol):
    """The library's functions for attention's backward pass; tests pass a fake."""

    @property
    def device_type(self) -> str:
        """Torch's name for the type of devices that it runs on."""

    def new_backward_arguments(self) -> Arguments:
        """A zeroed argument structure with its size and version filled in."""

    def new_table(self) -> Arguments:
        """A zeroed structure of a block table with its size and version filled in."""

    def plan_backward(self, arguments: Arguments, device: int) -> KernelPlan:
        """The kernel for these arguments; raises Unsupported if there is none."""

    def launch_backward(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue the kernels on a stream of the current device."""


class LinearAttentionLibrary(Protocol):
    """The library's functions for linear attention; tests pass a fake."""

    @property
    def device_type(self) -> str:
        """Torch's name for the type of devices that it runs on."""

    def new_linear_attention_arguments(self) -> Arguments:
        """A zeroed argument structure with its size and version filled in."""

    def plan_linear_attention(self, arguments: Arguments, device: int) -> KernelPlan:
        """The kernels for these arguments; raises Unsupported if there are none."""

    def launch_linear_attention(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue the kernels on a stream of the current device."""


class GroupNormLibrary(Protocol):
    """The library's functions for GroupNorm and SiLU; tests pass a fake."""

    @property
    def device_type(self) -> str:
        """Torch's name for the type of devices that it runs on."""

    def new_group_norm_arguments(self) -> Arguments:
        """A zeroed argument structure with its size and version filled in."""

    def group_norm_workspace(self, arguments: Arguments) -> int:
        """Bytes of workspace for these arguments; raises Unsupported if there is no kernel."""

    def launch_group_norm(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue the kernels on a stream of the current device."""


@runtime_checkable
class BlockScaledLibrary(Protocol):
    """The library's functions for products of block-scaled numbers; tests pass a fake."""

    @property
    def device_type(self) -> str:
        """Torch's name for the type of devices that it runs on."""

    def new_block_scaled_quantize_arguments(self) -> Arguments:
        """A zeroed argument structure with its size and version filled in."""

    def new_block_scaled_linear_arguments(self) -> Arguments:
        """A zeroed argument structure with its size and version filled in."""

    def quantize_block_scaled(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue the kernel on a stream of the current device; raises Unsupported before that if there is none."""

    def multiply_block_scaled(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue the kernel on a stream of the current device; raises Unsupported before that if there is none."""


class ProductLibrary(Protocol):
    """The library's functions for products with quantized weights; tests pass a fake."""

    @property
    def device_type(self) -> str:
        """Torch's name for the type of devices that it runs on."""

    def new_quantize_arguments(self) -> Arguments:
        """A zeroed argument structure with its size and version filled in."""

    def new_linear_arguments(self) -> Arguments:
        """A zeroed argument structure with its size and version filled in."""

    def quantize(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue the kernel on a stream of the current device; raises Unsupported before that if there is none."""

    def multiply(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue the kernel on a stream of the current device; raises Unsupported before that if there is none."""


class AllProductsLibrary(ProductLibrary, BlockScaledLibrary, Protocol):
    """The library's functions for all products."""


class InstalledKernels:
    """The package `mezzotint_kernels` as all of these libraries; translates its errors into ours."""

    device_type = "cuda"

    def __init__(self, package: ModuleType) -> None:
        self._package = package
        self.new_arguments, self.new_backward_arguments = package.AttentionArgs, package.AttentionBackwardArgs
        self.new_quantize_arguments, self.new_linear_arguments = package.QuantizeArgs, package.LinearArgs
        self.new_table = package.BlockTableArgs
        self.launch, self._plan = self._translated(package.attention_forward), self._translated(package.attention_plan)
        self.launch_backward = self._translated(package.attention_backward)
        self._plan_backward = self._translated(package.attention_backward_plan)
        self.new_linear_attention_arguments = package.LinearAttentionArgs
        self.launch_linear_attention = self._translated(package.linear_attention_forward)
        self._plan_linear_attention = self._translated(package.linear_attention_plan)
        self.new_group_norm_arguments = package.GroupNormArgs
        self.group_norm_workspace = self._translated(package.group_norm_workspace)
        self.launch_group_norm = self._translated(package.group_norm_forward)
        self.quantize, self.multiply = map(self._translated, (package.quantize_rows, package.linear_forward))
        self.new_block_scaled_quantize_arguments = package.BlockScaledQuantizeArgs
        self.new_block_scaled_linear_arguments = package.BlockScaledLinearArgs
        self.quantize_block_scaled = self._translated(package.block_scaled_quantize)
        self.multiply_block_scaled = self._translated(package.block_scaled_forward)

    def plan(self, arguments: Arguments, device: int) -> KernelPlan:
        """The kernel for these arguments; raises Unsupported if there is none."""
        return _supported(self._plan(arguments, device))

    def plan_backward(self, arguments: Arguments, device: int) -> KernelPlan:
        """The backward kernel for these arguments; raises Unsupported if there is none."""
        return _supported(self._plan_backward(arguments, device))

    def plan_linear_attention(self, arguments: Arguments, device: int) -> KernelPlan:
        """The kernels of linear attention for these arguments; raises Unsupported if there are none."""
        return _supported(self._plan_linear_attention(arguments, device))

    def attention_calls(self) -> Calls | None:
        """A caller with less overhead for the kinds of calls that it knows; None if there is none."""
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


def _supported(plan: Any) -> KernelPlan:  # noqa: ANN401  mezzotint_kernels.AttentionPlan
    if not plan.supported:
        raise Unsupported(plan.text)
    return KernelPlan(name=plan.text, workspace_bytes=plan.workspace_bytes)


def installed_package() -> ModuleType | None:
    """`mezzotint_kernels` if installed, else None."""
    return importlib.import_module(PACKAGE) if importlib.util.find_spec(PACKAGE) is not None else None


def library_facts(find: Callable[[], ModuleType | None] = installed_package) -> LibraryFacts:
    """Facts about the installed library; never raises."""
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
    """Open the installed library; raises Unavailable, saying what is missing and what to do."""
    package, problem = find(), library_facts(find).problem
    if package is None or problem is not None:
        raise Unavailable(problem)
    return InstalledKernels(package)
