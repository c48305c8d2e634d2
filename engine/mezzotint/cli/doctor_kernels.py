"""What `mezzotint doctor` finds out about our own kernels: the library, and whether they are right on each device."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from mezzotint import machine
from mezzotint.attention.library import LibraryFacts, Unavailable, library_facts
from mezzotint.attention.selection import COMPILED, PLAIN, AttentionBackends
from mezzotint.protocol import Attention, DeviceInfo
from mezzotint.quantization.product_selection import ProductBackends

if TYPE_CHECKING:
    from mezzotint.attention.self_test import SelfTest
    from mezzotint.quantization.product_self_test import SelfTest as ProductSelfTest

PRODUCTS = "products"
_NO_DEVICE = "there is no device here that the kernels run on"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelReport:
    """The library of kernels, what its self-tests say, and what can be asked for here."""

    library: LibraryFacts
    self_tests: dict[str, str] = field(default_factory=dict)  # by device and implementation: passed, or what is wrong
    failed: tuple[str, ...] = ()  # those of them that did not pass
    usable: tuple[Attention, ...] = PLAIN
    products_problem: str | None = _NO_DEVICE  # why torch multiplies with quantized weights; None: the kernels do


@dataclass(frozen=True, slots=True)
class _Tested:
    """One self-test on one device."""

    implementation: str
    name: str
    told: str
    sound: bool


def kernel_report(
    devices: Sequence[DeviceInfo],
    library: LibraryFacts | None = None,
    backends: AttentionBackends | None = None,
    products: ProductBackends | None = None,
) -> KernelReport:
    """Run the self-tests on every device that the kernels are for; never an error."""
    library = library or library_facts()
    used = backends or AttentionBackends(), products or ProductBackends()
    tests = [test for device in devices for test in _tests(device, *used)] if library.problem is None else []
    sound = {test.implementation for test in tests if test.sound}
    wrong = next((test.told for test in tests if test.implementation == PRODUCTS and not test.sound), None)
    return KernelReport(
        library=library,
        self_tests={test.name: test.told for test in tests},
        failed=tuple(test.name for test in tests if not test.sound),
        usable=(*(each for each in COMPILED if each in sound), *PLAIN),
        products_problem=None if PRODUCTS in sound else library.problem or wrong or _NO_DEVICE,
    )


def _tests(device: DeviceInfo, backends: AttentionBackends, products: ProductBackends) -> Iterator[_Tested]:
    dtype = machine.choose_dtype("auto", device)
    if backends.missing(device.id, dtype) is None:
        for implementation in COMPILED:
            yield _tested(device, implementation, dtype, partial(backends.self_test, implementation))
    if products.missing(device.id, dtype) is None:
        yield _tested(device, PRODUCTS, dtype, products.self_test)


def _tested(
    device: DeviceInfo, implementation: str, dtype: str, run: "Callable[[str, str], SelfTest | ProductSelfTest]"
) -> _Tested:
    name = f"{device.id} {implementation} {dtype}"
    try:
        test = run(device.id, dtype)
    except (Unavailable, RuntimeError) as error:  # a device that is full or broken
        return _Tested(implementation, name, f"{type(error).__name__}: {error}", sound=False)
    if test.problem is not None:
        return _Tested(implementation, name, test.problem, sound=False)
    missing = f", no kernel for {', '.join(test.unsupported)}" if test.unsupported else ""
    return _Tested(implementation, name, f"passed {len(test.passed)} cases{missing}", sound=True)
