"""Which build suits this machine, and what each needs."""

import dataclasses
from typing import Any

from mezzotint_setup.download import Downloads
from mezzotint_setup.errors import DRIVER_LINK, SetupFailed
from mezzotint_setup.events import Stop
from mezzotint_setup.machine import Gpu, Machine, Probes
from mezzotint_setup.network import Network
from mezzotint_setup.payload import Payload
from mezzotint_setup.root import Root
from mezzotint_setup.update import is_allowed, newer

CU130_DRIVER, CU126_DRIVER = 580, 525
_TURING, _BLACKWELL = (7, 5), (10, 0)  # cu130 begins with the one, cu126 ends before the other
# Architectures that PyTorch's builds for ROCm 7 contain.
_ROCM = "gfx900 gfx906 gfx908 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1101 gfx1102 gfx1150 gfx1151 gfx1200 gfx1201"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """A build, why it is advised, and what would allow a faster one."""

    backend: str
    reason: str  # a code for the window, which has it in its language
    why: str
    card: str | None = None
    code: str | None = None
    what: str | None = None
    next_step: str | None = None


def advise(machine: Machine) -> Advice:
    """The build for a machine."""
    by_vendor = {one.vendor: one for one in reversed(machine.gpus)}
    if "nvidia" in by_vendor:
        return _nvidia(machine, by_vendor["nvidia"])
    if "apple" in by_vendor:
        return Advice(backend="mps", reason="apple", why="Apple's GPU is used through Metal")
    if "amd" in by_vendor:
        return _amd(machine, by_vendor["amd"])
    arc = next((one for one in machine.gpus if one.vendor == "intel" and one.discrete), None)
    if arc is not None:
        return Advice(backend="xpu", reason="arc", card=arc.name, why=f"{arc.name} is one of Intel's Arc cards")
    return Advice(backend="cpu", reason="none", why="no graphics card that can compute was found")


def _nvidia(machine: Machine, card: Gpu) -> Advice:
    driver, capability = machine.driver_major, card.capability
    if driver is None:
        what = f"{card.name} has no NVIDIA driver that can compute"
        return Advice(
            backend="cpu", reason="driver_missing", card=card.name, why=what,
            code="driver_missing", what=what, next_step=_get_driver(machine),
        )  # fmt: skip
    if capability is not None and capability < _TURING and driver >= CU126_DRIVER:
        why = f"{card.name} (compute capability {capability[0]}.{capability[1]}) is older than CUDA 13"
        return Advice(backend="cu126", reason="card_old", card=card.name, why=why)
    if driver >= CU130_DRIVER:
        why = f"{card.name} with driver {machine.driver}"
        return Advice(backend="cu130", reason="nvidia", card=card.name, why=why)
    old = f"driver {machine.driver} is older than {CU130_DRIVER}"
    usable = driver >= CU126_DRIVER and (capability is None or capability < _BLACKWELL)
    return Advice(
        backend="cu126" if usable else "cpu",
        reason="driver_old",
        card=card.name,
        why=f"{card.name}: {old}",
        code="driver_old",
        what=f"{old}, which the fastest build needs",
        next_step=f"{_get_driver(machine)}, then install cu130; {'cu126' if usable else 'cpu'} works meanwhile",
    )


def _get_driver(machine: Machine) -> str:
    if machine.system == "win32":
        return f"get the newest driver from {DRIVER_LINK}"
    return f"install the newest NVIDIA driver of your distribution (or {DRIVER_LINK})"


def _amd(machine: Machine, card: Gpu) -> Advice:
    if machine.system != "linux":
        reason, why = "amd_elsewhere", f"{card.name}: torch has builds for AMD's cards on Linux only"
    elif card.target in _ROCM.split():
        reason, why = "rocm", f"{card.name} ({card.target}) is supported by ROCm"
    elif card.target is None:
        reason, why = "no_kfd", f"{card.name}: the kernel's compute driver (amdgpu, /dev/kfd) is not loaded"
    else:
        reason, why = "amd_other", f"{card.name} ({card.target}) is not among the cards that torch's ROCm supports"
    return Advice(backend="rocm" if reason == "rocm" else "cpu", reason=reason, card=card.name, why=why)


def look(root: Root, payload: Payload, probes: Probes | None = None) -> dict[str, Any]:
    """The machine, the build advised, and the bytes that each build needs."""
    machine = (probes or Probes()).machine()
    advice = advise(machine)
    backends = {name: needs for name in payload.backends if (needs := _needs(root, payload, name)) is not None}
    backend, why, lacks = advice.backend, advice.why, advice.backend not in backends
    if lacks:
        backend, why = "cpu", f"{why}, but this release has no {backend} build for this system"
    pointer, installed = root.pointer(), root.usable()
    return {
        "event": "look",
        "system": machine.system,
        "processor": machine.processor,
        "gpus": [dataclasses.asdict(one) for one in machine.gpus],
        "driver": machine.driver,
        "root": str(root.path),
        "free": root.free(),
        "version": payload.version,
        "installed": installed,
        "update": installed is not None and newer(payload.version, root.facts(installed).get("version", "")),
        "before": pointer.before if pointer is not None and root.works(pointer.before) else None,
        "backend": backend,
        "why": why,
        "reason": {"code": advice.reason, "card": advice.card, "lacks": advice.backend if lacks else None},
        "update_check": is_allowed(root),
        "advice": {"code": advice.code, "what": advice.what, "next": advice.next_step} if advice.code else None,
        "backends": backends,
    }


def _needs(root: Root, payload: Payload, backend: str) -> dict[str, int] | None:
    """Bytes of a build; None if it has no wheels for this Python."""
    try:
        lock = payload.lock(backend)
    except SetupFailed:
        return None
    downloads = Downloads(root.downloads, network=Network(), mirrors=(), stop=Stop())
    return {"download": lock.download, "missing": downloads.missing(lock.wheels), "disk": lock.installed}
