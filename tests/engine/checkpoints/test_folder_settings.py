import pytest
from model_files import write_json

from mezzotint.checkpoints.folder_settings import read_settings
from mezzotint.errors import ModelRefused


def test_no_settings_are_empty_settings(tmp_path):
    assert read_settings(tmp_path) == {}


def test_settings_are_read_with_what_is_new_in_them(tmp_path):
    settings = {
        "name": "starter-dit",
        "family": "pixart",
        "description": "small",
        "defaults": {"width": 128, "height": 128, "steps": 12, "guidance_scale": 3, "sampler": "euler"},
        "words": ["house", "sea"],
    }
    write_json(tmp_path / "mezzotint.json", settings)
    assert read_settings(tmp_path) == settings


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "a/b"}, "name is a/b; it must be up to 64"),
        ({"name": ""}, "name is ;"),
        ({"name": 5}, "name is 5;"),
        ({"name": "x" * 65}, "name is xxx"),
        ({"family": 5}, "family is 5; it must be text"),
        ({"variant": ["a"]}, "variant is"),
        ({"listed": "no"}, "listed is no; it must be true or false"),
        ({"max_tokens": 0}, "max_tokens is 0; it must be a whole number from 1 to 4096"),
        ({"max_tokens": "64"}, "max_tokens is 64;"),
        ({"defaults": []}, r"defaults is \[\]; it must be an object"),
        ({"defaults": {"width": 0}}, "defaults.width is 0; it must be a whole number from 8 to 16384"),
        ({"defaults": {"height": 1e9}}, "defaults.height is 1000000000.0"),
        ({"defaults": {"steps": True}}, "defaults.steps is True"),
        ({"defaults": {"steps": "9"}}, "defaults.steps is 9"),
        ({"defaults": {"guidance_scale": -1}}, "defaults.guidance_scale is -1; it must be a number from 0 to 100"),
        ({"defaults": {"guidance_scale": None}}, "defaults.guidance_scale is None"),
        ({"defaults": {"sampler": {}}}, "defaults.sampler is {}; it must be text"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path, settings, message):
    write_json(tmp_path / "mezzotint.json", settings)
    with pytest.raises(ModelRefused, match=message):
        read_settings(tmp_path)


def test_a_large_file_is_refused(tmp_path):
    write_json(tmp_path / "mezzotint.json", {"description": "x" * 2**16})
    with pytest.raises(ModelRefused, match="larger than the 65536 bytes"):
        read_settings(tmp_path)
