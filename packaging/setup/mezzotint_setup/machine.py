"""The graphics cards of this machine: by nvidia-smi, /sys and DXGI, without any library."""

import platform
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mezzotint_setup import dxgi

VENDORS = {0x10DE: "nvidia", 0x1002: "amd", 0x8086: "intel"}
_SMI = ("nvidia-smi", r"C:\Windows\System32\nvidia-smi.exe", "/usr/lib/wsl/lib/nvidia-smi")
_DISPLAY = re.compile(r"0x03(00|02|80)")  # PCI classes of display controllers
_ARC = re.compile(r"0x(56[0-9a-f]{2}|e2[0-9a-f]{2})")  # Intel's cards of their own: Alchemist and Battlemage


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """One graphics card, as far as it is known."""

    vendor: str  # nvidia, amd, intel, apple
    name: str
    memory_bytes: int | None = None
    capability: tuple[int, int] | None = None  # NVIDIA's compute capability
    target: str | None = None  # AMD's architecture, such as gfx1100
    discrete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """What the choice of a build depends on."""

    system: str
    processor: str
    gpus: tuple[Gpu, ...] = ()
    driver: str | None = None  # NVIDIA's

    @property
    def driver_major(self) -> int | None:
        """The first number of NVIDIA's driver."""
        found = re.match(r"\d+", self.driver or "")
        return int(found[0]) if found else None


def _run(command: Sequence[str]) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=15, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probes:
    """Where the facts come from; tests bring their own."""

    system: str = sys.platform
    processor: str = field(default_factory=platform.machine)
    run: Callable[[Sequence[str]], str | None] = _run
    files: Path = Path("/")
    adapters: Callable[[], list[dxgi.Adapter]] = dxgi.adapters

    def _read(self, path: Path) -> str:
        try:
            return path.read_text("utf-8", "replace").strip()
        except OSError:
            return ""

    def machine(self) -> Machine:
        """Everything that was found."""
        cards, driver = self._nvidia()
        if self.system == "darwin":
            if self.processor == "arm64":
                cards = (Gpu(vendor="apple", name="Apple GPU"),)
        else:
            others = self._windows() if self.system == "win32" else self._linux()
            cards += tuple(one for one in others if one.vendor != "nvidia" or not cards)
        return Machine(
            system=self.system, processor=self.processor.lower(), gpus=cards, driver=driver or self._driver()
        )

    def _nvidia(self) -> tuple[tuple[Gpu, ...], str | None]:
        for fields in ("driver_version,memory.total,name,compute_cap", "driver_version,memory.total,name"):
            for program in _SMI:
                said = self.run([program, f"--query-gpu={fields}", "--format=csv,noheader,nounits"])
                if said and (lines := [line.split(", ") for line in said.splitlines() if line.count(", ") >= 2]):
                    return tuple(map(_nvidia_card, lines)), lines[0][0]
        return (), None

    def _driver(self) -> str | None:
        return self._read(self.files / "sys/module/nvidia/version") or None

    def _linux(self) -> list[Gpu]:
        found = []
        for device in sorted((self.files / "sys/bus/pci/devices").glob("*")):
            if not _DISPLAY.match(self._read(device / "class")):
                continue
            vendor = VENDORS.get(int(self._read(device / "vendor") or "0", 16))
            if vendor is None:
                continue
            identity = self._read(device / "device")
            memory = self._read(device / "mem_info_vram_total")
            found.append(
                Gpu(
                    vendor=vendor,
                    name=f"{vendor.upper() if vendor == 'amd' else vendor.capitalize()} {identity}",
                    memory_bytes=int(memory) if memory.isdigit() else None,
                    target=self._amd_target() if vendor == "amd" else None,
                    discrete=vendor != "intel" or bool(_ARC.fullmatch(identity)),
                )
            )
        return found

    def _amd_target(self) -> str | None:
        """The architecture that the kernel's compute driver tells, such as 110001 for gfx1101."""
        for node in sorted((self.files / "sys/class/kfd/kfd/topology/nodes").glob("*/properties")):
            if (told := re.search(r"gfx_target_version (\d+)", self._read(node))) and (number := int(told[1])):
                return f"gfx{number // 10000}{number // 100 % 100:x}{number % 100:x}"
        return None

    def _windows(self) -> list[Gpu]:
        return [
            Gpu(
                vendor=VENDORS[one.vendor],
                name=one.name,
                memory_bytes=one.memory_bytes,
                discrete=one.vendor != 0x8086 or bool(_ARC.fullmatch(f"0x{one.device:04x}")),
            )
            for one in self.adapters()
            if one.vendor in VENDORS
        ]


def _nvidia_card(words: Sequence[str]) -> Gpu:
    capability = re.fullmatch(r"(\d+)\.(\d+)", words[3]) if len(words) > 3 else None
    return Gpu(
        vendor="nvidia",
        name=words[2],
        memory_bytes=int(words[1]) << 20 if words[1].isdigit() else None,
        capability=(int(capability[1]), int(capability[2])) if capability else None,
    )
