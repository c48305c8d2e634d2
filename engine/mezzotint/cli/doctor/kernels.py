"""What `mezzotint doctor` finds out about kernels: our library, and whether ours and bitsandbytes' are right here."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from mezzotint import machine
from mezzotint.attention.selection import COMPILED, PLAIN, AttentionBackends
from mezzotint.dispatch.library import LibraryFacts, Unavailable, library_facts
from mezzotint.protocol import Attention, DeviceInfo
from mezzotint.quantization.products.selection import ProductBackend, ProductBackends

if TYPE_CHECKING:
    from mezzotint.attention.self_test import SelfTest
    from mezzotint.quantization.products.self_test import SelfTest as ProductSelfTest

PRODUCTS, NF4 = "products", "NF4 products"
_NO_DEVICE = "there is no device here that the kernels run on"


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelReport:
    """The library of kernels, what its self-tests say, and what can be asked for here."""

    library: LibraryFacts
    self_tests: dict[str, str] = field(default_factory=dict)  # by device and implementation: passed, or what is wrong
    failed: tuple[str, ...] = ()  # those of them that did not pass
    usable: tuple[Attention, ...] = PLAIN
    products_problem: str | None = _NO_DEVICE  # why torch multiplies with quantized weights; None: the kernels do
    nf4_problem: str | None = _NO_DEVICE  # why torch multiplies with weights in NF4; None: bitsandbytes does


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
    tests += [test for device in devices for test in _nf4_tests(device, used[1].nf4)]
    sound = {test.implementation for test in tests if test.sound}
    wrong = {test.implementation: test.told for test in tests if not test.sound}
    return KernelReport(
        library=library,
        self_tests={test.name: test.told for test in tests},
        failed=tuple(test.name for test in tests if not test.sound),
        usable=(*(each for each in COMPILED if each in sound), *PLAIN),
        products_problem=None if PRODUCTS in sound else library.problem or wrong.get(PRODUCTS, _NO_DEVICE),
        nf4_problem=None if NF4 in sound else wrong.get(NF4) or _nf4_missing(devices, used[1].nf4),
    )


def _tests(device: DeviceInfo, backends: AttentionBackends, products: ProductBackends) -> Iterator[_Tested]:
    dtype = machine.choose_dtype("auto", device)
    if backends.missing(device.id, dtype) is None:
        for implementation in COMPILED:
            yield _tested(device, implementation, dtype, partial(backends.self_test, implementation))
    if products.integers.missing(device.id, dtype) is None:
        yield _tested(device, PRODUCTS, dtype, products.integers.self_test)


def _nf4_tests(device: DeviceInfo, nf4: ProductBackend) -> Iterator[_Tested]:
    dtype = machine.choose_dtype("auto", device)
    if nf4.missing(device.id, dtype) is None:
        yield _tested(device, NF4, dtype, nf4.self_test)


def _nf4_missing(devices: Sequence[DeviceInfo], nf4: ProductBackend) -> str:
    """On the best device that there is."""
    found = (nf4.missing(device.id, machine.choose_dtype("auto", device)) for device in devices)
    return next((why for why in found if why is not None), _NO_DEVICE)


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
