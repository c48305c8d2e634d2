"""System libraries that Qt needs for a window on Linux, and the packages that contain them."""

import ctypes
import importlib.util
import platform
import sys
from collections.abc import Callable, Sequence

# The dependencies of Qt's plugin for X11 and of QtGui and QtNetwork: library, and its package on Debian, Fedora, Arch.
_PACKAGES = """
libGL.so.1 libgl1 libglvnd-glx libglvnd
libEGL.so.1 libegl1 libglvnd-egl libglvnd
libX11.so.6 libx11-6 libX11 libx11
libX11-xcb.so.1 libx11-xcb1 libX11-xcb libx11
libxcb.so.1 libxcb1 libxcb libxcb
libxcb-cursor.so.0 libxcb-cursor0 xcb-util-cursor xcb-util-cursor
libxcb-icccm.so.4 libxcb-icccm4 xcb-util-wm xcb-util-wm
libxcb-image.so.0 libxcb-image0 xcb-util-image xcb-util-image
libxcb-keysyms.so.1 libxcb-keysyms1 xcb-util-keysyms xcb-util-keysyms
libxcb-randr.so.0 libxcb-randr0 libxcb libxcb
libxcb-render.so.0 libxcb-render0 libxcb libxcb
libxcb-render-util.so.0 libxcb-render-util0 xcb-util-renderutil xcb-util-renderutil
libxcb-shape.so.0 libxcb-shape0 libxcb libxcb
libxcb-shm.so.0 libxcb-shm0 libxcb libxcb
libxcb-sync.so.1 libxcb-sync1 libxcb libxcb
libxcb-util.so.1 libxcb-util1 xcb-util xcb-util
libxcb-xfixes.so.0 libxcb-xfixes0 libxcb libxcb
libxcb-xkb.so.1 libxcb-xkb1 libxcb libxcb
libxkbcommon.so.0 libxkbcommon0 libxkbcommon libxkbcommon
libxkbcommon-x11.so.0 libxkbcommon-x11-0 libxkbcommon-x11 libxkbcommon-x11
libdbus-1.so.3 libdbus-1-3 dbus-libs dbus
libfontconfig.so.1 libfontconfig1 fontconfig fontconfig
libfreetype.so.6 libfreetype6 freetype freetype2
libglib-2.0.so.0 libglib2.0-0 glib2 glib2
libgssapi_krb5.so.2 libgssapi-krb5-2 krb5-libs krb5
"""
_TABLE = {words[0]: words[1:] for line in _PACKAGES.split("\n") if (words := line.split())}
_INSTALL = {"debian": "sudo apt-get install", "fedora": "sudo dnf install", "arch": "sudo pacman -S"}
_RELATED = {"ubuntu": "debian", "rhel": "fedora", "centos": "fedora", "manjaro": "arch"}


def missing_libraries(
    load: Callable[[str], object] = ctypes.CDLL, system: str = sys.platform, has_qt: bool | None = None
) -> tuple[str, ...]:
    """Libraries without which Qt ends the program when it should show a window; none where there is no Qt."""
    has_qt = importlib.util.find_spec("PySide6") is not None if has_qt is None else has_qt
    return tuple(name for name in _TABLE if not _loads(name, load)) if system == "linux" and has_qt else ()


def _loads(name: str, load: Callable[[str], object]) -> bool:
    try:
        load(name)
    except OSError:
        return False
    return True


def how_to_install(libraries: Sequence[str], release: Callable[[], dict[str, str]] | None = None) -> str:
    """The command that installs them on this distribution, or on all three where it is unknown."""
    try:
        told = (release or platform.freedesktop_os_release)()
    except OSError:
        told = {}
    names = [told.get("ID", ""), *told.get("ID_LIKE", "").split()]
    known = [found for name in names if (found := _RELATED.get(name, name)) in _INSTALL]
    commands = {name: f"{_INSTALL[name]} {' '.join(_packages(libraries, name))}" for name in _INSTALL}
    if known:
        return commands[known[0]]
    return "; ".join(f"{name.capitalize()}: {command}" for name, command in commands.items())


def _packages(libraries: Sequence[str], distribution: str) -> list[str]:
    column = list(_INSTALL).index(distribution)
    return list(dict.fromkeys(_TABLE[name][column] for name in libraries))
