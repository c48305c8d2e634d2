"""Names from the net stay below their folder, on every system."""

from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mezzotint.library.downloads.names import has_case_collisions, is_confined

ALPHABET = 'aB1 ._-/\\:~*?"<>|\0\n\u202e%$()'


@given(st.text(ALPHABET, max_size=40))
@example("a/../../b")
@example("C:evil")
def test_what_is_confined_stays_below(name):
    if is_confined(name):
        root = Path("/root/of/models")
        assert root in (root / name).resolve().parents
        windows = PureWindowsPath("C:/root", name)
        assert windows.is_relative_to("C:/root") and ".." not in windows.parts and ":" not in name
        assert name.isprintable() and not name.endswith((" ", "."))


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "..",
        "/a",
        "a//b",
        "a/",
        "a\\b",
        "a/../b",
        ".hidden",
        "CON",
        "con.safetensors",
        "a/nul.txt",
        "COM1.x",
        "a:b",
        "trailing.",
        "trailing ",
        "x" * 121,
        "a/b/c/d/e",
        "a\u202etxt",
    ],
)
def test_refused(name):
    assert not is_confined(name)


@pytest.mark.parametrize("name", ["a.safetensors", "unet/config.json", "My model (v2) + x.gguf", "a/b/c/d.txt", "_x"])
def test_allowed(name):
    assert is_confined(name)


def test_twins():
    assert not has_case_collisions(("a", "b/a")) and has_case_collisions(("vae/A.json", "vae/a.json"))
