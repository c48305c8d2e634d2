"""The systems that installers are made for."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType

from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

PYTORCH = "https://download.pytorch.org/whl/"
_LINUX = ("linux_x86_64", *(f"manylinux_2_{minor}_x86_64" for minor in range(34, 4, -1)))
_OLD_LINUX = ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")


@dataclass(frozen=True, kw_only=True)
class Target:
    """A system, and its backends: for each the folder of PyTorch's index with its torch, or none for the usual one."""

    system: str
    key: str  # in the index of releases
    uv_platform: str  # the platform's name for uv's resolver
    wheel_platform: str  # the platform of uv's own wheel
    platforms: tuple[str, ...]  # wheels' platforms that run there, the most special first
    backends: Mapping[str, str | None]
    suffix: str = ""  # of programs

    def tags(self, python: str) -> list[Tag]:
        """Return the tags of wheels that can be installed, the best first."""
        major, minor = (int(part) for part in python.split("."))
        both = chain(
            cpython_tags((major, minor), platforms=self.platforms),
            compatible_tags((major, minor), f"cp{major}{minor}", self.platforms),
        )
        return list(both)

    def fits(self, wheel: Path) -> bool:
        """Whether a wheel can be installed there by the oldest Python."""
        return not parse_wheel_filename(wheel.name)[3].isdisjoint(self.tags("3.11"))


TARGETS = {
    target.system: target
    for target in (
        Target(
            system="linux",
            key="linux_x86_64",
            uv_platform="x86_64-manylinux_2_34",  # the floor of PySide6
            wheel_platform="manylinux_2_17_x86_64",
            platforms=(*_LINUX, *_OLD_LINUX),
            backends=MappingProxyType(
                {"window": None, "cpu": "cpu", "cu126": "cu126", "cu130": "cu130", "rocm": "rocm7.2", "xpu": "xpu"}
            ),
        ),
        Target(
            system="windows",
            key="win32_amd64",
            uv_platform="x86_64-pc-windows-msvc",
            wheel_platform="win_amd64",
            platforms=("win_amd64",),
            backends=MappingProxyType({"window": None, "cpu": "cpu", "cu126": "cu126", "cu130": "cu130", "xpu": "xpu"}),
            suffix=".exe",
        ),
        Target(
            system="macos",
            key="darwin_arm64",
            uv_platform="aarch64-apple-darwin",
            wheel_platform="macosx_11_0_arm64",
            platforms=tuple(mac_platforms((14, 0), "arm64")),  # the floor of torch
            backends=MappingProxyType({"window": None, "mps": None}),
        ),
    )
}
