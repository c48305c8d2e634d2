"""Which wheels fit this Python and system."""

import platform
import re
import sys
import sysconfig
from dataclasses import dataclass

_LEGACY = {"manylinux1": "manylinux_2_5", "manylinux2010": "manylinux_2_12", "manylinux2014": "manylinux_2_17"}
_VERSIONED = re.compile(r"(manylinux|macosx)_(\d+)_(\d+)_(\w+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A Python and a system: what wheels are for."""

    python: tuple[int, int]
    platform: str  # as sysconfig.get_platform() with underscores: linux_x86_64, win_amd64, macosx_11_0_arm64
    system: tuple[int, int] = (0, 0)  # the version of glibc or macOS

    def rank(self, filename: str) -> tuple[int, int] | None:
        """How well a wheel fits, lower is better; None if it does not."""
        if not filename.endswith(".whl") or filename.count("-") < 4:
            return None
        pythons, abis, platforms = filename.removesuffix(".whl").split("-")[-3:]
        ranks = [
            (by_python, by_platform)
            for python in pythons.split(".")
            for abi in abis.split(".")
            for one in platforms.split(".")
            if (by_python := self._python(python, abi)) is not None and (by_platform := self._platform(one)) is not None
        ]
        return min(ranks, default=None)

    def _python(self, python: str, abi: str) -> int | None:
        major, minor = self.python
        mine = f"cp{major}{minor}"
        if python == mine and abi in (mine, "none"):
            return 0
        if abi == "abi3" and (found := re.fullmatch(r"cp3(\d+)", python)) and int(found[1]) <= minor:
            return 1 + minor - int(found[1])
        return 99 if abi == "none" and python in (f"py{major}", f"py{major}{minor}") else None

    def _platform(self, name: str) -> int | None:
        if name == "any":
            return 2
        if name == self.platform:
            return 0
        legacy, _, machine = name.partition("_")
        found = _VERSIONED.fullmatch(f"{_LEGACY[legacy]}_{machine}" if legacy in _LEGACY else name)
        if found is None:
            return None
        kind, machines = found[1], {self._machine(), *(("universal2",) if found[1] == "macosx" else ())}
        fits = self.platform.startswith("linux" if kind == "manylinux" else "macosx") and found[4] in machines
        return 1 if fits and (int(found[2]), int(found[3])) <= self.system else None

    def _machine(self) -> str:
        return re.sub(r"^(linux_|macosx_\d+_\d+_)", "", self.platform)


def this_target() -> Target:
    """The Python that runs this, from which environments are made."""
    versions = platform.mac_ver()[0] if sys.platform == "darwin" else platform.libc_ver()[1]
    numbers = [int(number) for number in re.findall(r"\d+", versions)[:2]]
    return Target(
        python=sys.version_info[:2],
        platform=re.sub(r"[-.]", "_", sysconfig.get_platform()),
        system=(numbers[0], numbers[1] if len(numbers) > 1 else 0) if numbers else (0, 0),
    )
