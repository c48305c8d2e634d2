"""What fetching would bring, told before it is done."""

import os
import re

import pytest
from fetched_here import children, fetched_here  # noqa: F401
from huggingface_hub import constants
from model_files import sdxl_folder, small
from model_server import COMMIT, Served

from mezzotint import paths
from mezzotint.errors import AccessRefused, DownloadFailed, ModelRefused, UsageError
from mezzotint.library.downloads.partial import Partial
from mezzotint.library.offer import fetching_command, offer, prepare
from mezzotint.library_protocol import GetRequest


def look(source, *, free=2**40, **more):
    return offer(GetRequest(source=source, **more), lambda: False, free=lambda _: free)


@pytest.fixture
def hub(model_server, monkeypatch, tmp_path):
    monkeypatch.setenv("HF_ENDPOINT", model_server.url)
    model_server.add("owner/tiny", sdxl_folder(tmp_path / "there")).card = {"license": "openrail++"}
    return model_server


def test_every_figure(hub):
    told = look("owner/tiny")
    files = hub.repositories["owner/tiny"].files
    assert (told.source, told.revision, told.title, told.licence) == ("owner/tiny", COMMIT, "tiny", "openrail++")
    assert set(told.files) == set(files)
    assert told.bytes == told.bytes_left == sum(len(file.data) for file in files.values())
    assert (told.free_bytes, told.target, told.problem) == (2**40, str(paths.models_folder() / "tiny"), None)
    assert not paths.models_folder().exists()


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    ("card", "licence"),
    [
        (None, "not stated"),
        ({}, "not stated"),
        ({"license": ["a", "b"]}, "not stated"),
        ({"license": "other", "license_name": "own"}, "own"),
        ({"license": "mit", "license_link": "https://x/y"}, "mit (https://x/y)"),
        ({"license": "mit", "license_link": "LICENSE.md"}, "mit"),
        ({"license": "a\x1b[2Jb" + "c" * 500}, "a\\x1b[2Jb" + "c" * 112 + "..."),
    ],
)
def test_licences_as_their_pages_state_them(hub, card, licence):
    hub.repositories["owner/tiny"].card = card
    assert look("owner/tiny").licence.startswith(licence[:100])
    assert look("owner/tiny").licence.isprintable()


def test_what_is_there_in_part(hub):
    command = prepare(GetRequest(source="owner/tiny"), lambda: False)
    file = next(one for one in command.files if one.bytes > 40)
    partial = Partial.beside(paths.models_folder() / "tiny")
    partial.make()
    partial.resume_part(file.key).write_bytes(b"x" * 30)
    again = look("owner/tiny")
    assert again.bytes_left == again.bytes - 30


def test_a_full_disk_is_told_not_raised(hub):
    told = look("owner/tiny", free=1000)
    assert "1000 bytes are free" in told.problem and told.free_bytes == 1000


def test_a_locked_model_is_told_with_what_to_do(hub):
    hub.repositories["owner/tiny"].gated = True
    prepared = prepare(GetRequest(source="owner/tiny"), lambda: False)
    assert isinstance(prepared.problem, AccessRefused) and "HF_TOKEN" in prepared.offer.problem
    assert prepared.offer.licence == "openrail++" and prepared.files == ()


def test_a_link_behind_a_login(model_server):
    url = model_server.link("/a.safetensors", b"", status=403)
    with pytest.raises(AccessRefused, match="requires a login"):
        look(url)
    with pytest.raises(DownloadFailed, match="answers 404"):
        look(model_server.url + "/nothing.safetensors")


def test_a_link_whose_size_is_not_told(model_server, monkeypatch):
    url = model_server.link("/a.safetensors", b"")
    with pytest.raises(DownloadFailed, match="how large"):
        look(url)


def test_a_link_to_something_else(model_server):
    told = look(model_server.link("/a.zip", b"PK\x03\x04" + bytes(600)))
    assert "zip archive" in told.problem
    assert "no .safetensors" in look(model_server.link("/b.txt", bytes(600))).problem


@pytest.mark.parametrize("suffix", ["ckpt", "bin", "pt", "pth", "pkl"])
def test_a_link_to_what_may_be_pickled(model_server, suffix):
    prepared = prepare(GetRequest(source=model_server.link(f"/a.{suffix}", bytes(600))), lambda: False)
    assert isinstance(prepared.problem, ModelRefused) and prepared.files == ()


def test_a_link_to_a_pickle_under_another_name(model_server):
    told = look(model_server.link("/a.safetensors", b"\x80\x02}q\x00" + bytes(600)))
    assert "pickle" in told.problem


def test_a_file_that_is_too_large_for_the_hub_s_downloads(hub, monkeypatch):
    monkeypatch.setattr(constants, "MAX_HTTP_DOWNLOAD_SIZE", 100)
    told = look("owner/tiny")
    assert re.search(r" \(.* bytes\) is larger than the 100 bytes .* `hf download`", told.problem)


def test_a_link_to_a_network(model_server):
    told = look(model_server.link("/net.gguf", b"GGUF" + bytes(600)))
    assert told.problem is None and told.target.endswith("net.gguf")


@pytest.mark.parametrize("sha256", ["", "xyz", "0" * 63, "g" * 64])
def test_a_sum_that_is_none(sha256):
    with pytest.raises(UsageError, match="not a sha256"):
        look("owner/tiny", sha256=sha256)


def test_a_sum_is_for_a_file(hub):
    with pytest.raises(UsageError, match="name the file"):
        look("owner/tiny", sha256="0" * 64)


def test_a_hub_that_lists_nonsense(hub):
    files = hub.repositories["owner/tiny"].files
    files["unet/config.json"] = Served(b"{}", listed={"size": "large"})
    files["vae/more.json"] = Served(b"{}", listed={"size": -5})
    files["other.safetensors"] = Served(small(), listed={"size": None})
    assert {"unet/config.json", "vae/more.json"}.isdisjoint(look("owner/tiny").files)


def test_the_process_that_reaches_the_net_alone_may(monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_DEBUG", "1")
    command = fetching_command("hub", GetRequest(source="x"), "hf_token", "https://m.example")
    assert "HF_HUB_OFFLINE" not in command.environ and "HF_DEBUG" not in command.environ
    assert command.environ["HF_ENDPOINT"] == "https://m.example"
    assert command.environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
    assert os.environ["HF_HUB_OFFLINE"] == "1"
    assert not any("hf_token" in word for word in (*command.words, *command.environ.values()))
