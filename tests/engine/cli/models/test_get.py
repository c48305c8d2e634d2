"""`mezzotint models get`: nothing is fetched before somebody agreed."""

import io
import json
import sys
from pathlib import Path

import pytest
from fetched_here import children, fetched_here
from model_files import sdxl_file, sdxl_folder, small
from model_server import Served, model_server

from mezzotint import paths
from mezzotint.cli import main
from mezzotint.codec import decode
from mezzotint.library_protocol import KnownModel
from mezzotint.protocol import ModelInfo

__all__ = ["children", "fetched_here", "model_server"]


class Typed(io.StringIO):
    """What a person types at a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def hub(model_server, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", model_server.url)
    model_server.add("owner/tiny", sdxl_folder(tmp_path / "there")).card = {"license": "openrail++"}
    return model_server


@pytest.fixture
def call(capsys, monkeypatch):
    def run(*words, typed=None):
        monkeypatch.setattr(sys, "stdin", io.StringIO() if typed is None else Typed(typed))
        code = main(["models", "get", *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_agreed_at_the_terminal(hub, call, children):
    code, out, err = call("owner/tiny", typed="y\n")
    assert code == 0, err
    assert out == f"{paths.models_folder() / 'tiny'}\n"
    for told in (
        "licence     openrail++",
        "free there  ",
        f"goes to     {paths.models_folder() / 'tiny'}",
        "Download it? [y/N]",
    ):
        assert told in err
    assert "mezzotint generate -m tiny" in err


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("typed", ["\n", "n\n", "", "yes please\n"])
def test_not_agreed(hub, call, typed):
    code, out, err = call("owner/tiny", typed=typed)
    assert (code, out) == (130, "") and "nothing was downloaded" in err
    assert not paths.models_folder().exists()


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_nobody_to_ask(hub, call, words):
    code, out, err = call("owner/tiny", *words, typed=None)
    assert code == 2 and "add --yes" in out + err
    assert not paths.models_folder().exists()


def test_agreed_beforehand_as_json(hub, call):
    code, out, _ = call("owner/tiny", "--yes", "--json", "-q")
    info = decode(ModelInfo, json.loads(out))
    assert (code, info.id, info.family) == (0, "tiny", "sdxl")


def test_a_folder_and_a_revision(hub, call, tmp_path):
    code, out, _ = call("owner/tiny", "--revision", "v1", "--folder", tmp_path / "here", "--yes")
    assert code == 0 and Path(out.strip()) == tmp_path / "here" / "tiny"


def test_a_sum_that_does_not_fit(model_server, call, tmp_path):
    url = model_server.link("/a.safetensors", sdxl_file(tmp_path / "x").read_bytes())
    code, out, err = call(url, "--sha256", "0" * 64, "--yes")
    assert (code, out) == (1, "") and "from the announced content" in err


def test_what_cannot_be_run(model_server, call):
    code, out, err = call(model_server.link("/a.safetensors", small()), "--yes")
    assert code == 5 and Path(out.strip()).is_file() and "downloaded and kept, but it cannot be run" in err


def test_a_network_for_a_model(model_server, call):
    code, out, err = call(model_server.link("/a.gguf", b"GGUF" + bytes(600)), "--yes")
    assert code == 0 and Path(out.strip()).is_file() and "--weights" in err


def test_what_speaks_against_it_is_told_before_anybody_is_asked(hub, call):
    hub.add("owner/old").files["m.ckpt"] = Served(b"x")
    code, out, err = call("owner/old", typed="y\n")
    assert code == 5 and "pickled" in err and "Download it?" not in err + out


def test_nothing_named(call):
    code, _, err = call()
    assert code == 2 and "--list" in err


def test_the_list(call):
    code, out, _ = call("--list")
    assert code == 0 and "stabilityai/stable-diffusion-xl-base-1.0" in out and "licence: openrail++" in out
    code, out, _ = call("--list", "--json")
    models = decode(tuple[KnownModel, ...], json.loads(out)["models"])
    assert all(model.runs for model in models)
