"""Fetching whole models from a server on this machine, through every fault that a net has."""

import errno
import hashlib
import json
import os
import threading
from pathlib import Path

import pytest
from fetched_here import children, fetched_here  # noqa: F401
from model_files import pixart_folder, sdxl_file, sdxl_folder, small
from model_server import COMMIT, TOKEN, ModelServer, Served
from tiny_perception import write_depth

from mezzotint import paths
from mezzotint.catalog import Catalog
from mezzotint.errors import (
    AccessRefused,
    Busy,
    Cancelled,
    DownloadFailed,
    ModelRefused,
    StorageError,
    UnknownModel,
    UsageError,
)
from mezzotint.library import child
from mezzotint.library.downloads import download
from mezzotint.library.downloads.download import get
from mezzotint.library.downloads.partial import Partial
from mezzotint.library.downloads.transfer import CHUNK
from mezzotint.library.verify import verify
from mezzotint.library_protocol import GetRequest
from mezzotint.perception.depth import open_depth_estimator
from mezzotint.protocol import ModelRef, Progress

BIG = 3_000_000


@pytest.fixture
def hub(model_server, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", model_server.url)
    return model_server


@pytest.fixture
def repository(hub, tmp_path):
    """A model of the hub, with what most repositories have besides."""
    folder = sdxl_folder(tmp_path / "there")
    repository = hub.add("owner/tiny-xl", folder)
    weights = repository.files["unet/diffusion_pytorch_model.safetensors"].data
    for name in ("README.md", "unet/diffusion_pytorch_model.bin", "pipeline.py", "unet/model.onnx"):
        repository.files[name] = Served(b"not for us")
    repository.files["LICENSE.md"] = Served(b"You may look at it.")
    repository.files["vae/diffusion_pytorch_model.fp16.safetensors"] = Served(weights)
    repository.card = {"license": "openrail++", "license_link": "https://example.org/licence"}
    return repository


def fetch(source="owner/tiny-xl", *, tell=lambda _: None, cancelled=lambda: False, free=lambda _: 2**40, **more):
    return get(GetRequest(source=source, **more), Catalog.standard, tell, cancelled, free=free)


def test_a_model_of_the_hub(repository, hub, children):  # noqa: F811
    events = []
    info = fetch(tell=events.append)
    folder = paths.models_folder() / "tiny-xl"
    assert (info.id, info.path, info.family, info.problem) == ("tiny-xl", str(folder), "sdxl", None)
    assert Catalog.standard().find(ModelRef(id="tiny-xl")).info == info
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert {"README.md", "pipeline.py", "unet/model.onnx", "unet/diffusion_pytorch_model.bin"}.isdisjoint(names)
    assert "LICENSE.md" in names
    assert {name for name in names if name.startswith("vae/")} == {
        "vae/config.json",
        "vae/diffusion_pytorch_model.fp16.safetensors",
    }
    assert [path.name for path in paths.models_folder().iterdir()] == ["tiny-xl"], "nothing is left over"
    assert all(isinstance(event, Progress) and event.unit == "bytes" for event in events)
    assert events[-1].done == events[-1].total
    assert all(one.token is None for one in hub.asked)


def test_what_was_fetched_is_recorded_and_verified(repository):
    info = fetch()
    record = json.loads(Path(info.path, "mezzotint-source.json").read_text())
    assert (record["source"], record["revision"]) == ("owner/tiny-xl", COMMIT)
    assert record["licence"] == "openrail++ (https://example.org/licence)"
    for name, sha256 in record["sums"].items():
        assert hashlib.sha256(Path(info.path, name).read_bytes()).hexdigest() == sha256
    assert verify(ModelRef(id="tiny-xl"), Catalog.standard(), lambda _: None, lambda: False).ok


def test_a_starter_from_the_hub_can_make_images(hub):
    hub.add("mezzotint/starter", paths.assets_folder() / "starter" / "xl-refiner")
    hub.add("mezzotint/dit", paths.assets_folder() / "starter" / "dit")
    info = fetch("mezzotint/dit")
    bundled = Catalog.standard().find(ModelRef(id="starter-dit")).info
    assert (info.family, info.variant, info.bytes, info.defaults) == (
        bundled.family,
        bundled.variant,
        bundled.bytes,
        bundled.defaults,
    )


def test_a_file_of_the_hub(hub, tmp_path):
    repository = hub.add("owner/files")
    repository.files["good.safetensors"] = Served(sdxl_file(tmp_path / "x").read_bytes())
    repository.files["other.safetensors"] = Served(small())
    info = fetch("owner/files/good.safetensors")
    assert (info.id, info.layout, info.family) == ("good", "file", "sdxl")
    record = json.loads(Path(f"{info.path}.mezzotint-source.json").read_text())
    assert record["source"] == "owner/files/good.safetensors"
    assert verify(ModelRef(id="good"), Catalog.standard(), lambda _: None, lambda: False).checked_against == "checksums"


def test_a_network_that_looks_at_images_is_found_afterwards(hub, tmp_path):
    write_depth(tmp_path / "x")
    hub.add("owner/depth-small", tmp_path / "x")
    info = fetch("owner/depth-small")
    assert (info.id, info.family, info.problem) == ("depth-small", "depth", None)
    catalog = Catalog.standard()
    assert catalog.network_for("depth") == Path(info.path)
    assert "depth-small" not in {model.id for model in catalog.models()}
    assert open_depth_estimator(Path(info.path)).multiple == 14


@pytest.mark.parametrize("ranges", [True, False])
def test_a_link(model_server, tmp_path, ranges):
    data = sdxl_file(tmp_path / "x").read_bytes()
    url = model_server.link("/files/my%20model.safetensors".replace("%20", " "), data, ranges=ranges)
    info = fetch(url.replace(" ", "%20") + "?token=secret#part")
    assert (Path(info.path).name, info.family, info.problem) == ("my model.safetensors", "sdxl", None)
    assert "secret" not in Path(f"{info.path}.mezzotint-source.json").read_text()


def test_a_link_named_by_its_server(model_server, tmp_path):
    data = sdxl_file(tmp_path / "x").read_bytes()
    url = model_server.link("/api/download/7", data, disposition='attachment; filename="named.safetensors"')
    assert Path(fetch(url).path).name == "named.safetensors"


def test_what_cannot_be_run_is_kept_and_told(model_server):
    info = fetch(model_server.link("/lora.safetensors", small()))
    assert "not a whole model" in info.problem or info.problem
    assert Path(info.path).is_file()


# ---- connections that break


def big_model(hub, **faults):
    data = small({f"tensor{index}": [BIG // 4] for index in range(1)})
    repository = hub.add("owner/big")
    repository.files["big.safetensors"] = Served(data, **faults)
    return data


def test_a_broken_connection_is_gone_on_with(hub):
    data = big_model(hub, cut_after=1_000_000)
    info = fetch("owner/big")
    assert Path(info.path).read_bytes() == data
    first, second = (one for one in hub.asked if one.path.endswith("big.safetensors"))
    taken_up = int(second.range.removeprefix("bytes=").removesuffix("-"))
    assert first.range is None and first.sent == 1_000_000
    assert first.sent - CHUNK < taken_up <= first.sent
    assert second.sent == len(data) - taken_up, "only the rest was sent again"


def test_a_broken_connection_to_a_server_without_ranges(hub):
    data = big_model(hub, cut_after=1_000_000, ranges=False)
    assert Path(fetch("owner/big").path).read_bytes() == data
    assert [one.sent for one in hub.asked if one.path.endswith("big.safetensors")] == [1_000_000, len(data)]


@pytest.mark.slow
def test_stopped_and_gone_on_with(hub, children):  # noqa: F811
    data = big_model(hub, hold=threading.Event())
    done = []
    try:
        with pytest.raises(Cancelled, match="kept"):
            fetch("owner/big", tell=lambda event: done.append(event.done), cancelled=lambda: bool(done and done[-1]))
    finally:
        hub.repositories["owner/big"].files["big.safetensors"].hold.set()
    hub.repositories["owner/big"].files["big.safetensors"].hold = None
    assert Catalog.standard().models() == tuple(m for m in Catalog.standard().models() if m.source == "bundled")
    parts = list(Partial.beside(paths.models_folder() / "big.safetensors").folder.glob("*.part"))
    there = parts[0].stat().st_size
    assert there > 0
    hub.asked.clear()
    assert Path(fetch("owner/big").path).read_bytes() == data
    assert hub.sent("big.safetensors") == len(data) - there


def test_a_process_that_dies_is_told_and_gone_on_with(hub, monkeypatch, children):  # noqa: F811
    """As when the system ends it for want of memory."""
    data = big_model(hub, hold=threading.Event())
    started = []
    original = child.subprocess.Popen

    def popen(*args, **options):
        started.append(original(*args, **options))
        return started[-1]

    monkeypatch.setattr(child.subprocess, "Popen", popen)
    killer = threading.Thread(target=lambda: (hub.half.wait(60), started[-1].kill()))
    killer.start()
    with pytest.raises(Exception, match="ended with code"):
        fetch("owner/big")
    killer.join()
    hub.repositories["owner/big"].files["big.safetensors"].hold.set()
    hub.repositories["owner/big"].files["big.safetensors"].hold = None
    assert Path(fetch("owner/big").path).read_bytes() == data


def test_a_link_that_has_changed_is_begun_anew(model_server):
    data = small({"one": [BIG // 4]})
    url = model_server.link("/big.safetensors", data, cut_after=1_000_000)
    file = model_server.links["/big.safetensors"]

    def change(event):
        file.etag = '"two"'  # from now on it is said to be another

    info = fetch(url, tell=change)
    assert Path(info.path).read_bytes() == data
    assert model_server.sent("big.safetensors") >= len(data) + 1_000_000


# ---- contents that are wrong


def test_a_wrong_checksum_is_asked_for_once_more(hub):
    data = big_model(hub, sends=bytes(BIG + 100), sends_times=1)
    wrong = hub.repositories["owner/big"].files["big.safetensors"]
    wrong.sends = bytes(len(data))
    assert Path(fetch("owner/big").path).read_bytes() == data


def test_a_checksum_that_stays_wrong(hub):
    data = big_model(hub)
    hub.repositories["owner/big"].files["big.safetensors"].sends = bytes(len(data))
    with pytest.raises(DownloadFailed, match=r"big\.safetensors differed 2 times from the announced content"):
        fetch("owner/big")
    assert not (paths.models_folder() / "big.safetensors").exists()
    assert not list(Partial.beside(paths.models_folder() / "big.safetensors").folder.glob("*.part"))


def test_a_small_file_that_is_wrong(repository):
    file = repository.files["unet/config.json"]
    file.sends = b"x" * len(file.data)
    with pytest.raises(DownloadFailed, match=r"unet/config\.json differed"):
        fetch()
    assert not (paths.models_folder() / "tiny-xl").exists()


def test_a_given_sum(model_server, tmp_path):
    data = sdxl_file(tmp_path / "x").read_bytes()
    url = model_server.link("/one.safetensors", data)
    with pytest.raises(DownloadFailed, match="from the announced content"):
        fetch(url, sha256="0" * 64)
    assert fetch(url, sha256=hashlib.sha256(data).hexdigest().upper()).family == "sdxl"


def test_a_given_sum_against_that_of_the_hub(hub):
    big_model(hub)
    with pytest.raises(DownloadFailed, match="has the sha256"):
        fetch("owner/big/big.safetensors", sha256="0" * 64)
    assert hub.sent("big.safetensors") == 0


@pytest.mark.parametrize("listed", [BIG // 2, BIG * 2])
def test_a_size_that_is_not_as_announced(hub, listed):
    big_model(hub, listed={"size": listed})
    with pytest.raises(DownloadFailed, match="expected .*, received"):
        fetch("owner/big")
    assert not (paths.models_folder() / "big.safetensors").exists()


def test_a_disk_without_room(repository, hub):
    with pytest.raises(StorageError, match=r"too full: 25\d\.\d MB are needed .* 1\.0 MB are free"):
        fetch(free=lambda _: 2**20)
    assert not any("resolve" in one.path and "model_index" not in one.path for one in hub.asked)
    assert not paths.models_folder().exists()


def test_what_is_there_already(repository):
    fetch()
    with pytest.raises(UsageError, match=r"tiny-xl is downloaded already; remove it first"):
        fetch()


def test_a_name_that_another_model_has(repository, hub, tmp_path):
    fetch()
    hub.add("other/tiny-xl", pixart_folder(tmp_path / "pixart"))
    assert Path(fetch("other/tiny-xl").path).name == "other--tiny-xl"


def test_a_folder_of_choice(repository, tmp_path):
    info = fetch(folder=str(tmp_path / "elsewhere"))
    assert (Path(info.path), info.source) == (tmp_path / "elsewhere" / "tiny-xl", "path")


def test_what_comes_to_be_meanwhile_is_not_replaced(hub):
    big_model(hub)
    target = paths.models_folder() / "big.safetensors"

    def other(_):
        target.write_text("another's")

    with pytest.raises(StorageError, match="was created meanwhile"):
        fetch("owner/big", tell=other)
    assert target.read_text() == "another's" and not list(target.parent.glob("*.json"))
    target.unlink()
    assert fetch("owner/big").bytes > 0


def test_two_at_once(repository):
    with (
        Partial.beside(paths.models_folder() / "tiny-xl").locked(),
        pytest.raises(Busy, match="being downloaded already"),
    ):
        fetch()


def test_a_folder_that_cannot_be_made(repository, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot create"):
        fetch(folder=str(tmp_path / "file" / "models"))


@pytest.mark.parametrize("part", ["hardlink_to", "rename"])
def test_a_disk_that_knows_no_hard_links_or_is_full_at_the_end(repository, monkeypatch, part):
    """Where names cannot be given, what was fetched is kept; where links cannot, files are moved."""

    def refuse(*_, **__):
        raise OSError(errno.EPERM if part == "hardlink_to" else errno.ENOSPC, "refused")

    if part == "hardlink_to":
        monkeypatch.setattr(Path, part, refuse)
        assert fetch().problem is None
        return
    with monkeypatch.context() as patch:
        patch.setattr(download, "retry_sharing", refuse)
        with pytest.raises(StorageError, match="the disk is full"):
            fetch()
    assert not (paths.models_folder() / "tiny-xl").exists()
    assert fetch().problem is None


def test_a_try_that_broke_off_while_names_were_given_is_gone_on_with(repository, hub, monkeypatch):
    """On a disk without hard links, files have only one name, and that may be the new one already."""

    def refuse(*_, **__):
        raise OSError(errno.EPERM, "refused")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    with monkeypatch.context() as patch:
        patch.setattr(download, "write_record", refuse)
        with pytest.raises(StorageError):
            fetch()
    hub.asked.clear()
    assert fetch().problem is None
    assert not any("/resolve/" in one.path and "model_index" not in one.path for one in hub.asked), "all was there"


def test_a_gated_model(repository, hub, monkeypatch, tmp_path):
    repository.gated = True
    with pytest.raises(AccessRefused, match=r"accept its licence .*HF_TOKEN"):
        fetch()
    with pytest.raises(AccessRefused):
        fetch(token="hf_another")
    assert fetch(token=TOKEN, folder=str(tmp_path / "there")).family == "sdxl"
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert fetch().family == "sdxl"


def test_a_token_of_the_environment_is_not_for_another_mirror(repository, hub, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.delenv("HF_ENDPOINT")
    assert fetch(endpoint=hub.url).family == "sdxl"
    assert all(one.token is None for one in hub.asked)


def test_the_token_of_the_login_is_for_the_hub_alone(repository, hub, monkeypatch):
    home = Path(os.environ["HF_HOME"])
    home.mkdir(parents=True)
    (home / "token").write_text(TOKEN)
    fetch()
    assert all(one.token is None for one in hub.asked)


def test_another_host_gets_no_token(repository, hub, monkeypatch):
    cdn = ModelServer()
    try:
        for path, file in repository.files.items():
            cdn.links[f"/cdn/{path}"] = file
        repository.locations = f"http://localhost:{cdn.port}/cdn"
        fetch(token=TOKEN)
        assert cdn.asked and all(one.token is None for one in cdn.asked)
        assert all(one.token == TOKEN for one in hub.asked)
    finally:
        cdn.close()


def test_a_redirect_to_what_is_not_safe(model_server):
    url = model_server.link("/a.safetensors", b"", location="ftp://example.org/a.safetensors")
    with pytest.raises(DownloadFailed, match="ftp"):
        fetch(url)
    url = model_server.link("/b.safetensors", b"", location="http://example.org/b.safetensors")
    with pytest.raises(DownloadFailed, match="only https is followed"):
        fetch(url)


def test_no_token_is_ever_written(repository, hub, capfd, caplog, children):  # noqa: F811
    caplog.set_level("DEBUG")
    repository.gated = True
    with pytest.raises(AccessRefused) as caught:
        fetch(token="hf_wrongwrongwrong")
    fetch(token=TOKEN)
    written = [path.read_bytes() for path in paths.models_folder().rglob("*") if path.is_file()]
    said = capfd.readouterr()
    for secret in (TOKEN, "hf_wrongwrongwrong"):
        assert secret not in str(caught.value) + said.out + said.err + caplog.text
        assert not any(secret.encode() in data for data in written)


# ---- what is not there, and what is hostile


def test_an_unknown_model(hub):
    with pytest.raises(UnknownModel, match=r"has no model 'nobody/nothing', or shows it only to those with a token"):
        fetch("nobody/nothing")


def test_an_unknown_revision(repository):
    with pytest.raises(UnknownModel, match="no revision 'v9'"):
        fetch(revision="v9")
    assert fetch("owner/tiny-xl@v1").family == "sdxl"


def test_a_repository_of_pickles(hub):
    repository = hub.add("owner/old")
    repository.files["model.ckpt"] = Served(b"\x80\x02cbuiltins")
    with pytest.raises(ModelRefused, match=r"only pickled weights \(model\.ckpt\), which can run code"):
        fetch("owner/old")
    assert hub.sent("model.ckpt") == 0


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(
    "name", ["../../evil.safetensors", "/etc/evil.safetensors", "a\\b.safetensors", "CON.safetensors"]
)
def test_hostile_names(hub, name):
    name += ".safetensors"
    repository = hub.add("owner/evil")
    repository.files[name] = Served(small())
    with pytest.raises((ModelRefused, UsageError)):
        fetch("owner/evil")
    with pytest.raises((ModelRefused, UsageError)):
        fetch(f"owner/evil/{name}")
    assert not paths.models_folder().exists()


def test_hostile_names_beside_a_model_are_left_out(repository):
    for name in ("../outside.json", "unet/../../outside.json", "unet/NUL.json/x.json", "/abs.json", "vae/con"):
        repository.files[name] = Served(b"{}")
    info = fetch()
    assert not list(paths.models_folder().rglob("outside*"))
    assert info.problem is None


def test_a_web_page_in_place_of_a_model(model_server):
    with pytest.raises(ModelRefused, match="a web page"):
        fetch(model_server.link("/x.safetensors", b"<!DOCTYPE html><html>log in</html>"))


def test_what_does_not_answer_as_the_hub(model_server, monkeypatch):
    model_server.link("/api/models/owner/x", b"[1, 2]")
    monkeypatch.setenv("HF_ENDPOINT", model_server.url)
    with pytest.raises((DownloadFailed, UnknownModel)):
        fetch("owner/x")


def test_nobody_answers(model_server, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", model_server.url)
    model_server.close()
    with pytest.raises(DownloadFailed, match="owner/x: no connection to 127.0.0.1: check") as failed:
        fetch("owner/x")
    assert "kept" not in str(failed.value)  # nothing was downloaded
