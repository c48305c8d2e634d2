"""Files against the sums that came with them, or against their own headers."""

import hashlib
import json
import os
import shutil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from model_files import sdxl_file, sdxl_folder, small

from mezzotint import paths
from mezzotint.catalog import Catalog
from mezzotint.errors import Cancelled, UnknownModel
from mezzotint.library.verify import verify
from mezzotint.protocol import ModelRef

UNET = "unet/diffusion_pytorch_model.safetensors"


def look(model, tell=lambda _: None, cancelled=lambda: False):
    return verify(ModelRef(id=str(model)), Catalog.standard(), tell, cancelled)


@pytest.fixture
def recorded():
    """A model with the sums of its files beside them."""
    folder = sdxl_folder(paths.models_folder() / "one")
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    sums = {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    record = {"source": "owner/one", "revision": "abc", "licence": "x", "sums": sums}
    (folder / "mezzotint-source.json").write_text(json.dumps(record))
    return folder


def test_all_in_order(recorded):
    events = []
    found = look("one", events.append)
    assert (found.ok, found.problems, found.checked_against) == (True, (), "checksums")
    assert found.sums == json.loads((recorded / "mezzotint-source.json").read_text())["sums"]
    assert set(found.files) == set(found.sums)
    assert events[-1].done == events[-1].total == sum((recorded / name).stat().st_size for name in found.files)


@given(st.data())
def test_every_changed_byte_is_found(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("flipped")
    content = small({"a": [8]})
    record = {
        "source": "",
        "revision": "",
        "licence": "",
        "sums": {"m.safetensors": hashlib.sha256(content).hexdigest()},
    }
    (folder / "m.safetensors.mezzotint-source.json").write_text(json.dumps(record))
    at, bit = data.draw(st.integers(0, len(content) - 1)), data.draw(st.integers(0, 7))
    changed = bytearray(content)
    changed[at] ^= 1 << bit
    (folder / "m.safetensors").write_bytes(changed)
    assert not look(folder / "m.safetensors").ok


def test_a_file_that_is_gone_is_named_and_the_others_are_looked_at(recorded):
    (recorded / UNET).unlink()
    found = look("one")
    assert not found.ok and UNET in found.problems[0] and len(found.sums) == len(found.files) - 1


@pytest.mark.skipif(os.name == "nt", reason="the hub's cache has links only where links are for everybody")
@pytest.mark.parametrize("damaged", [False, True])
def test_the_cache_of_the_hub(tmp_path, damaged):
    repository = paths.huggingface_cache() / "models--owner--two"
    snapshot = sdxl_folder(repository / "snapshots" / "abc")
    blobs = repository / "blobs"
    blobs.mkdir()
    for path in [one for one in snapshot.rglob("*") if one.is_file()]:
        data = path.read_bytes()
        large = path.suffix == ".safetensors"
        name = hashlib.sha256(data) if large else hashlib.sha1(b"blob %d\0" % len(data) + data)
        (blobs / name.hexdigest()).write_bytes(data + b" " * (damaged and large))
        path.unlink()
        path.symlink_to(blobs / name.hexdigest())
    found = look("owner/two")
    assert found.checked_against == "checksums" and found.ok is not damaged
    assert UNET in found.sums
    if damaged:
        assert all(".safetensors" in problem for problem in found.problems)


def test_without_sums_by_structure(recorded):
    (recorded / "mezzotint-source.json").unlink()
    assert look("one").checked_against == "structure" and look("one").ok
    whole = (recorded / UNET).read_bytes()
    (recorded / UNET).write_bytes(whole[:-1])
    found = look("one")
    assert not found.ok and len(found.problems) == 1 and "incomplete" in found.problems[0]


def test_a_part_that_is_missing(recorded):
    (recorded / "mezzotint-source.json").unlink()
    shutil.rmtree(recorded / "vae")
    found = look("one")
    assert not found.ok and "vae" in found.problems[0]


@pytest.mark.parametrize("record", ["", "[]", '{"sums": {"x": 1}}', '{"source": "", "revision": "", "licence": ""}'])
def test_a_record_that_makes_no_sense_is_as_none(record):
    path = sdxl_file(paths.models_folder() / "one.safetensors")
    path.with_name("one.safetensors.mezzotint-source.json").write_text(record)
    assert look("one").checked_against == "structure"


def test_a_record_that_leads_out_of_the_folder(tmp_path):
    """It came from the net, or from whoever made the folder: names in it are checked before they are opened."""
    path = sdxl_file(paths.models_folder() / "one.safetensors")
    record = {"source": "", "revision": "", "licence": "", "sums": {"../../secret": "0" * 64}}
    path.with_name("one.safetensors.mezzotint-source.json").write_text(json.dumps(record))
    assert look("one").files == ("one.safetensors",)


def test_it_can_be_stopped(recorded):
    seen = []
    with pytest.raises(Cancelled):
        look("one", seen.append, cancelled=lambda: bool(seen))
    assert len(seen) == 1


def test_an_unknown_model():
    with pytest.raises(UnknownModel):
        look("nobody")
