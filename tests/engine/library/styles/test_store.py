"""Styles on disk: saved, found whatever the case, replaced only if asked, and never lost by a bad file beside them."""

import json

import pytest
from PIL import Image

from mezzotint.errors import UsageError
from mezzotint.library.styles.store import (
    bundled_styles,
    find_style,
    list_styles,
    remove_style,
    save_style,
    styles_folder,
)
from mezzotint.library_protocol import Style


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MEZZOTINT_CONFIG", str(tmp_path))
    return tmp_path / "styles"


def test_twenty_styles_are_bundled_and_each_surrounds_the_prompt():
    styles = bundled_styles()
    assert len({one.name.casefold() for one in styles}) == 20
    assert all(one.prompt.count("{prompt}") == 1 and one.negative and not one.own for one in styles)


def test_a_saved_style_comes_back_with_a_small_picture(folder, tmp_path):
    Image.new("RGB", (900, 600), "red").save(tmp_path / "made.png")
    style = Style(
        name="  Ink \n wash ",
        prompt="ink of {prompt}",
        settings={"steps": 12, "size": "512x768"},
        picture=str(tmp_path / "made.png"),
    )
    saved = save_style(style)
    assert (saved.name, saved.prompt, saved.settings, saved.own) == ("Ink wash", style.prompt, style.settings, True)
    with Image.open(saved.picture) as picture:
        assert picture.size == (384, 256)
    assert find_style("INK WASH") == list_styles().styles[0] == saved
    remove_style("ink wash")
    assert list(folder.iterdir()) == []


def test_a_name_that_is_taken_is_refused_until_replacing_is_asked_for():
    first = save_style(Style(name="Fog", prompt="a"))
    with pytest.raises(UsageError, match="already a style fog"):
        save_style(Style(name="fog", prompt="b"))
    assert find_style("Fog") == first
    assert save_style(Style(name="fog", prompt="b"), replaces=True).prompt == "b"
    assert len(list(styles_folder().iterdir())) == 1


def test_an_own_style_precedes_the_bundled_one_of_its_name():
    save_style(Style(name="macro", prompt="mine of {prompt}"))
    assert find_style("Macro").prompt == "mine of {prompt}"
    remove_style("Macro")
    assert not find_style("Macro").own
    with pytest.raises(UsageError, match="bundled style, which cannot be removed"):
        remove_style("Macro")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"{", "JSON"),
        (b'{"version": 9, "name": "x"}', "newer Mezzotint"),
        (b'{"name": "x", "settings": {"steps": "many"}}', "steps"),
        (b'{"name": "x", "settings": {"stepz": 3}}', "no such option"),
        (b'{"name": "x", "settings": {"style": "y"}}', "cannot set this"),
        (b'{"name": "", "prompt": "y"}', "not a name"),
        (b'{"name": "x", "prompt": 3}', "not a text"),
        (json.dumps({"name": "x", "prompt": "y" * 9000}).encode(), "9000 characters"),
        (b"[" * (300 << 10), "larger than"),
    ],
)
def test_a_file_that_cannot_be_read_is_named_and_kept(folder, data, words):
    folder.mkdir()
    (folder / "bad.json").write_bytes(data)
    save_style(Style(name="good", prompt="y"))
    found = list_styles()
    assert "good" in [one.name for one in found.styles]
    assert len(found.problems) == 1
    assert words in found.problems[0]
    assert (folder / "bad.json").read_bytes() == data


def test_an_unknown_name_says_what_is_near():
    with pytest.raises(UsageError, match=r"no style watercolor: did you mean Watercolour\?"):
        find_style("watercolor")


def test_keys_of_a_style_that_are_not_used_are_named(folder):
    save_style(Style(name="ink", prompt="x"))
    (path,) = folder.glob("*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"negative_prompt": "photo", "steps": 5}))
    found = list_styles()
    assert found.styles[0].prompt == "x"
    assert len(found.problems) == 1 and found.problems[0].endswith(": not used: negative_prompt, steps")
