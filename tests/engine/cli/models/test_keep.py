"""`mezzotint models verify`, `add` and `remove`."""

import json

import pytest
from model_files import sdxl_file

from mezzotint import paths
from mezzotint.cli import main
from mezzotint.codec import decode
from mezzotint.library_protocol import ModelPlace, Verified


@pytest.fixture
def call(capsys):
    def run(*words):
        code = main(["models", *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def folder(tmp_path):
    sdxl_file(tmp_path / "more" / "one.safetensors")
    return tmp_path / "more"


def listed(call, *words):
    return {model["id"] for model in json.loads(call("list", "--json", *words)[1])["models"]}


def test_a_folder_comes_and_goes(call, folder):
    code, out, _ = call("add", folder)
    assert code == 0
    assert [str(folder), "folder", "added", "by", "you"] in [line.split() for line in out.splitlines()]
    assert "one" in listed(call)
    code, out, _ = call("remove", folder, "--json")
    places = decode(tuple[ModelPlace, ...], json.loads(out)["places"])
    assert code == 0 and not any(place.own for place in places)
    assert "one" not in listed(call) and (folder / "one.safetensors").exists()


def test_a_model_goes_and_comes(call, folder):
    call("add", folder)
    code, _, err = call("remove", "one")
    assert code == 0 and "its files are unchanged" in err
    assert "one" not in listed(call) and "one" in listed(call, "--all")
    assert "hidden" in call("list", "--all")[1]
    assert call("verify", "one")[0] == 0, "it can still be named"
    code, _, err = call("add", "one")
    assert code == 0 and "on the list again" in err
    assert "one" in listed(call)


def test_what_is_neither(call, tmp_path):
    assert call("add", tmp_path / "gone")[0] == 2
    assert call("remove", tmp_path / "gone")[0] == 2
    assert not paths.config_folder().exists()


def test_in_order(call):
    code, out, _ = call("verify", "starter-dit")
    assert (code, out) == (0, "starter-dit: OK, checked by the structure of its files, since no checksums are known\n")


def test_damaged(call, folder):
    path = folder / "one.safetensors"
    path.write_bytes(path.read_bytes()[:-1])
    code, out, err = call("verify", path)
    assert code == 5 and "damaged" in out and "incomplete" in err
    code, out, _ = call("verify", path, "--json")
    assert not decode(Verified, json.loads(out)).ok


def test_an_unknown_model(call):
    assert call("verify", "nobody")[0] == 2
