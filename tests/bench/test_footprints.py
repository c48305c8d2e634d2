"""The script that makes the footprints which come with the program."""

import json

import pytest

from mezzotint.memory.footprints.shipped import shipped_names

NAMES = ("starter-xl", "sdxl")


@pytest.mark.slow
def test_it_makes_what_is_there(script, tmp_path, monkeypatch, capsys):
    there = script.DATA
    monkeypatch.setattr(script, "DATA", tmp_path)
    assert script.main(list(NAMES)) == 0
    assert "sdxl" in capsys.readouterr().out
    assert (tmp_path / "defaults.json").read_text("utf-8") == (there / "defaults.json").read_text("utf-8")
    for name in NAMES:
        made, kept = (
            json.loads((folder / f"{name}.footprint.json").read_text("utf-8")) for folder in (tmp_path, there)
        )
        for one, other in zip(made.pop("components"), kept.pop("components"), strict=True):
            for law in ("live", "work"):
                assert one.pop(law) == pytest.approx(other.pop(law), rel=1e-3)
            assert one == other
        assert made == kept


def test_every_recipe_is_shipped(script):
    recipes = json.loads(script.RECIPES.read_text("utf-8"))
    assert {*recipes["models"], *recipes["bundled"]} == set(shipped_names())
    assert {part for model in recipes["models"].values() for part in model["components"].values()} == set(
        recipes["parts"]
    )


def test_a_file_that_grows_too_large_is_not_written(script, tmp_path):
    with pytest.raises(SystemExit, match="bytes"):
        script.write(tmp_path / "large.json", {"text": "x" * script.LARGEST})
    assert not list(tmp_path.iterdir())
