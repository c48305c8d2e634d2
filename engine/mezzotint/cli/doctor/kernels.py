"""Kernel checks of `mezzotint doctor`: our library, and self-tests of its kernels and those of bitsandbytes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mezzotint import machine
from mezzotint.attention.selection import COMPILED, PLAIN, AttentionBackends
from mezzotint.dispatch.library import LibraryFacts, Unavailable, library_facts
from mezzotint.dispatch.registry import KernelBackend
from mezzotint.dispatch.self_test import SelfTest
from mezzotint.normalization.selection import GroupNormBackend
from mezzotint.protocol import Attention, DeviceInfo
from mezzotint.quantization.products.selection import ProductBackends

PRODUCTS, BLOCK_SCALED, NF4 = "products", "block-scaled products", "NF4 products"
LINEAR_ATTENTION, GRADIENTS, GROUP_NORM = "linear attention", "gradients of attention", "GroupNorm"
CONVOLUTIONS = "8-bit convolutions"
_NO_DEVICE = "no device here can run the kernels"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelReport:
    """The kernel library, the results of its self-tests, and the usable attention implementations."""

    library: LibraryFacts
    self_tests: dict[str, str] = field(default_factory=dict)  # by device and implementation: passed, or the problem
    failed: tuple[str, ...] = ()  # names of the self-tests that did not pass
    usable: tuple[Attention, ...] = PLAIN
    products_problem: str | None = _NO_DEVICE  # why quantized matmuls fall back to torch; None: our kernels are used
    nf4_problem: str | None = _NO_DEVICE  # why NF4 matmuls fall back to torch; None: bitsandbytes is used


@dataclass(frozen=True, slots=True)
class _SelfTestResult:
    """The result of one self-test on one device."""

    implementation: str
    name: str
    message: str
    passed: bool


def kernel_report(
    devices: Sequence[DeviceInfo],
    library: LibraryFacts | None = None,
    backends: AttentionBackends | None = None,
    products: ProductBackends | None = None,
    linear: KernelBackend[Any] | None = None,
    backward: KernelBackend[Any] | None = None,
    group_norm: GroupNormBackend | None = None,
) -> KernelReport:
    """Run the self-tests on every supported device; failures are reported, never raised."""
    library = library or library_facts()
    backends, products = backends or AttentionBackends(), products or ProductBackends()
    ours: dict[str, KernelBackend[Any]] = {}
    if library.problem is None and devices:
        ours = {
            **backends.compiled,
            PRODUCTS: products.integers,
            BLOCK_SCALED: products.block_scaled,
            CONVOLUTIONS: products.convolutions,
            LINEAR_ATTENTION: linear or _linear_attention(),
            GRADIENTS: backward or _backward(),
            GROUP_NORM: (group_norm or GroupNormBackend()).kernels,
        }
    tests = [test for each in (ours, {NF4: products.nf4}) for device in devices for test in _self_tests(device, each)]
    passed = {test.implementation for test in tests if test.passed}
    wrong = {test.implementation: test.message for test in tests if not test.passed}
    return KernelReport(
        library=library,
        self_tests={test.name: test.message for test in tests},
        failed=tuple(test.name for test in tests if not test.passed),
        usable=(*(each for each in COMPILED if each in passed), *PLAIN),
        products_problem=None if PRODUCTS in passed else library.problem or wrong.get(PRODUCTS, _NO_DEVICE),
        nf4_problem=None if NF4 in passed else wrong.get(NF4) or _nf4_missing(devices, products.nf4),
    )


def _linear_attention() -> KernelBackend[Any]:
    from mezzotint.attention.linear.kernels import linear_backend  # imports torch

    return linear_backend()


def _backward() -> KernelBackend[Any]:
    from mezzotint.attention.backward import backward_backend  # imports torch

    return backward_backend()


def _self_tests(device: DeviceInfo, backends: Mapping[str, KernelBackend[Any]]) -> Iterator[_SelfTestResult]:
    dtype = machine.choose_dtype("auto", device)
    for implementation, backend in backends.items():
        if backend.missing(device.id, dtype) is None:
            yield _self_test(device, implementation, dtype, backend)


def _nf4_missing(devices: Sequence[DeviceInfo], nf4: KernelBackend[Any]) -> str:
    """Return why NF4 is unavailable on the first device that has a reason."""
    found = (nf4.missing(device.id, machine.choose_dtype("auto", device)) for device in devices)
    return next((why for why in found if why is not None), _NO_DEVICE)


def _self_test(device: DeviceInfo, implementation: str, dtype: str, backend: KernelBackend[Any]) -> _SelfTestResult:
    name = f"{device.id} {implementation} {dtype}"
    try:
        test = backend.self_test(device.id, dtype)
    except (Unavailable, RuntimeError) as error:  # e.g. the device is out of memory or broken
        return _SelfTestResult(implementation, name, f"{type(error).__name__}: {error}", passed=False)
    if test.has_no_kernels and implementation == BLOCK_SCALED:  # few devices have them
        return _SelfTestResult(implementation, name, str(test.problem), passed=True)
    if test.problem is not None:
        return _SelfTestResult(implementation, name, test.problem, passed=False)
    schemes = dict.fromkeys(case.partition(": ")[0] for case in test.passed if ": " in case)
    named = f" ({', '.join(schemes)})" if schemes else ""
    missing = f", no kernel for {', '.join(test.unsupported)}" if test.unsupported else ""
    without = f", without {test.left_out}" if test.left_out else ""
    message = f"passed {len(test.passed)} cases{named}{_by_others(test)}{missing}{without}"
    return _SelfTestResult(implementation, name, message, passed=True)


def _by_others(test: SelfTest) -> str:
    """Say which cases took other kernels, because the device has none of these for them."""
    if not test.by_others:
        return ""
    if test.by_others == test.passed:
        return ", all by other kernels"
    return f", by other kernels {', '.join(test.by_others)}"
