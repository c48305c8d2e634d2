"""Libraries that Qt needs, and their packages."""

import pytest

from mezzotint.cli.doctor.system_libraries import how_to_install, missing_libraries

XCB = ("libxcb-icccm.so.4", "libxcb-keysyms.so.1")


def without(*names):
    def load(name):
        if name in names:
            raise OSError(f"{name}: cannot open shared object file")

    return load


def test_what_does_not_load_is_missing():
    assert missing_libraries(without(*XCB), "linux", has_qt=True) == XCB


@pytest.mark.parametrize(("system", "has_qt"), [("win32", True), ("darwin", True), ("linux", False)])
def test_elsewhere_nothing_is_looked_for(system, has_qt):
    assert missing_libraries(without(*XCB), system, has_qt=has_qt) == ()


@pytest.mark.parametrize(
    ("release", "command"),
    [
        ({"ID": "debian"}, "sudo apt-get install libxcb-icccm4 libxcb-keysyms1"),
        ({"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}, "sudo apt-get install libxcb-icccm4 libxcb-keysyms1"),
        ({"ID": "fedora"}, "sudo dnf install xcb-util-wm xcb-util-keysyms"),
        ({"ID": "arch"}, "sudo pacman -S xcb-util-wm xcb-util-keysyms"),
    ],
)
def test_packages_have_the_names_of_the_distribution(release, command):
    assert how_to_install(XCB, lambda: release) == command


def test_an_unknown_distribution_gets_all_names_once():
    def unknown():
        raise OSError

    told = how_to_install(("libxcb.so.1", "libxcb-randr.so.0"), unknown)
    assert told == (
        "Debian: sudo apt-get install libxcb1 libxcb-randr0; Fedora: sudo dnf install libxcb; "
        "Arch: sudo pacman -S libxcb"
    )
