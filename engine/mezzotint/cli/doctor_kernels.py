"""What `mezzotint doctor` finds out about our own attention: the library, and whether it is right on each device."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from mezzotint import machine
from mezzotint.attention.library import LibraryFacts, Unavailable, library_facts
from mezzotint.attention.selection import COMPILED, PLAIN, AttentionBackends
from mezzotint.protocol import Attention, DeviceInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelReport:
    """The library of kernels, what its self-tests say, and what attention can be asked for here."""

    library: LibraryFacts
    self_tests: dict[str, str] = field(default_factory=dict)  # by device and implementation: passed, or what is wrong
    failed: tuple[str, ...] = ()  # those of them that did not pass
    usable: tuple[Attention, ...] = PLAIN


def kernel_report(
    devices: Sequence[DeviceInfo], library: LibraryFacts | None = None, backends: AttentionBackends | None = None
) -> KernelReport:
    """Run the self-tests on every device that the kernels are for; never an error."""
    library, backends = library or library_facts(), backends or AttentionBackends()
    told: dict[str, str] = {}
    failed: list[str] = []
    usable: set[Attention] = set()
    for device in devices if library.problem is None else ():
        dtype = machine.choose_dtype("auto", device)
        if backends.missing(device.id, dtype) is not None:
            continue
        for implementation in COMPILED:
            name = f"{device.id} {implementation} {dtype}"
            told[name], sound = _self_test(backends, implementation, device, dtype)
            if sound:
                usable.add(implementation)
            else:
                failed.append(name)
    return KernelReport(
        library=library,
        self_tests=told,
        failed=tuple(failed),
        usable=(*(each for each in COMPILED if each in usable), *PLAIN),
    )


def _self_test(
    backends: AttentionBackends, implementation: Attention, device: DeviceInfo, dtype: str
) -> tuple[str, bool]:
    try:
        test = backends.self_test(implementation, device.id, dtype)
    except (Unavailable, RuntimeError) as error:  # a device that is full or broken
        return f"{type(error).__name__}: {error}", False
    if test.problem is not None:
        return test.problem, False
    missing = f", no kernel for {', '.join(test.unsupported)}" if test.unsupported else ""
    return f"passed {len(test.passed)} cases{missing}", True
