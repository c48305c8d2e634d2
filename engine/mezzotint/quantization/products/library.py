"""The kernels' library as products see it: `mezzotint_kernels` where it is installed."""

from collections.abc import Callable
from enum import IntEnum
from types import ModuleType
from typing import Any, Protocol, TypeAlias

from mezzotint.attention.library import InstalledKernels, Unavailable, installed_package, library_facts

Arguments: TypeAlias = Any  # a ctypes structure with the fields of MztQuantizeArgs or MztLinearArgs


class Preparation(IntEnum):
    """What a row becomes before it is rounded: MztPreparation of kernels/csrc/api.h."""

    AS_IT_IS = 0
    LAYER_NORM = 1
    RMS_NORM = 2
    SILU = 3
    GELU_TANH = 4
    GEGLU = 5  # a gelu(b) of rows [a b]


class ProductLibrary(Protocol):
    """What the library offers; tests give a stand-in."""

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


class InstalledProducts(InstalledKernels):
    """The package `mezzotint_kernels`, with its products."""

    def new_quantize_arguments(self) -> Arguments:
        """An argument structure with its size and version filled in, and zeros."""
        return self._package.QuantizeArgs()

    def new_linear_arguments(self) -> Arguments:
        """An argument structure with its size and version filled in, and zeros."""
        return self._package.LinearArgs()

    def quantize(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue it on a stream of the device that is current; Unsupported, before that, when there is no kernel."""
        try:
            self._package.quantize_rows(arguments, device, stream)
        except self._package.KernelsError as error:
            raise self._as_ours(error) from error

    def multiply(self, arguments: Arguments, device: int, stream: int) -> None:
        """Queue it on a stream of the device that is current; Unsupported, before that, when there is no kernel."""
        try:
            self._package.linear_forward(arguments, device, stream)
        except self._package.KernelsError as error:
            raise self._as_ours(error) from error


def open_products(find: Callable[[], ModuleType | None] = installed_package) -> ProductLibrary:
    """The installed library; Unavailable says what is missing and what to do."""
    problem, package = library_facts(find).problem, find()
    if package is None or problem is not None:
        raise Unavailable(problem or "the package of the kernels is not installed")
    return InstalledProducts(package)
