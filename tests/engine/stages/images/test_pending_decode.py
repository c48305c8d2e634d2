"""Latents on disk: they come back exactly, and files of others are refused."""

import os

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from safetensors.torch import save_file

from mezzotint.errors import ImageRefused, MezzotintError, StorageError
from mezzotint.images.record import ImageRecord
from mezzotint.images.writing import write_image
from mezzotint.protocol import GeneratedImage, GenerateRequest
from mezzotint.stages.images import pending_decode as module
from mezzotint.stages.images.pending_decode import PendingDecode, is_saved, read_latents, undecoded, write_latents


def pending(path, prompt="a red house"):
    image = GeneratedImage(path="house.png", width=64, height=96, seed=7, index=0, sha256="")
    record = ImageRecord(
        schema_version=1,
        program_version="0",
        request=GenerateRequest(prompt=prompt),
        image=image,
        stages=(),
        transitions=(),
        images_used=(),
        device="cpu",
        device_name="",
        dtype="float32",
        attention="sdpa",
        threads=1,
        versions={},
    )
    return PendingDecode(path=path, record=record)


LATENTS = torch.randn(1, 4, 12, 8, generator=torch.Generator().manual_seed(0))


@given(prompt=st.text(max_size=200))
def test_there_and_back(tmp_path_factory, prompt):
    folder = tmp_path_factory.mktemp("left")
    said = pending(folder / "house.png", "".join(c for c in prompt if not 0xD800 <= ord(c) < 0xE000))
    path = write_latents(folder / "undecoded", LATENTS, said)
    latents, back = read_latents(path)
    assert torch.equal(latents, LATENTS) and back == said


def test_each_has_a_name_of_its_own_and_they_are_listed(tmp_path):
    assert undecoded(tmp_path / "none") == []
    paths = [write_latents(tmp_path, LATENTS, pending(tmp_path / str(number) / "house.png")) for number in range(3)]
    (tmp_path / "other.txt").write_text("not latents")
    assert sorted(undecoded(tmp_path)) == sorted(paths) and len(set(paths)) == 3


def test_latents_of_an_earlier_attempt_at_the_same_image_are_replaced(tmp_path):
    folder, wanted = tmp_path / "undecoded", tmp_path / "house.png"
    write_latents(folder, LATENTS, pending(wanted))
    other = write_latents(folder, LATENTS, pending(wanted, "a blue house"))
    again = write_latents(folder, LATENTS, pending(wanted))
    assert sorted(undecoded(folder)) == sorted([other, again])


def test_latents_are_kept_if_those_that_replace_them_cannot_be_written(tmp_path, monkeypatch):
    first = write_latents(tmp_path, LATENTS, pending(tmp_path / "house.png"))
    monkeypatch.setattr(module, "atomic_write", refuse)
    with pytest.raises(StorageError):
        write_latents(tmp_path, LATENTS, pending(tmp_path / "house.png"))
    assert undecoded(tmp_path) == [first]


def refuse(*_, **__):
    raise StorageError("the disk is full")


def test_the_image_of_latents_is_recognised_by_what_it_was_made_with(tmp_path):
    folder = tmp_path / "undecoded"
    mine = pending(tmp_path / "house.png")
    left = write_latents(folder, LATENTS, mine)
    assert not is_saved(left)
    Image.new("RGB", (64, 96)).save(mine.path)
    assert not is_saved(left), "somebody else's image of that name"
    for prompt, saved in (("a blue house", False), ("a red house", True)):
        write_image(Image.new("RGB", (64, 96)), mine.path, pending(mine.path, prompt).record, overwrite=True)
        assert is_saved(left) is saved
    assert not is_saved(tmp_path / "gone.latents.safetensors")


def save(path, tensors, metadata):
    save_file(tensors, path, metadata)
    return path


@pytest.mark.parametrize("fault", ["no record", "another tensor", "half", "flat", "two", "nan", "no json", "empty"])
def test_what_is_not_ours_is_refused(tmp_path, fault):
    good = write_latents(tmp_path, LATENTS, pending(tmp_path / "house.png"))
    from mezzotint.checkpoints.header import read_header

    metadata, tensors = dict(read_header(good).metadata), {"latents": LATENTS}
    match fault:
        case "no record":
            metadata = {"format": "pt"}
        case "another tensor":
            tensors = {"weight": LATENTS}
        case "half":
            tensors = {"latents": LATENTS.half()}
        case "flat":
            tensors = {"latents": LATENTS[0]}
        case "two":
            tensors = {"latents": torch.cat([LATENTS] * 2)}
        case "nan":
            tensors = {"latents": LATENTS * float("nan")}
        case "no json":
            metadata["mezzotint_record"] = "{"
    path = tmp_path / "bad.safetensors"
    if fault == "empty":
        path.write_bytes(b"")
    else:
        save(path, tensors, metadata)
    with pytest.raises(MezzotintError, match="bad.safetensors"):
        read_latents(path)


def test_too_large_is_refused_before_it_is_read(tmp_path, monkeypatch):
    path = write_latents(tmp_path, LATENTS, pending(tmp_path / "house.png"))
    monkeypatch.setattr(module, "LARGEST", LATENTS.nbytes - 1)
    with pytest.raises(ImageRefused, match="latents are"):
        read_latents(path)


def test_a_disk_that_will_not_take_them_is_told_and_keeps_nothing(tmp_path, monkeypatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError):
        write_latents(tmp_path, LATENTS, pending(tmp_path / "house.png"))
    assert list(tmp_path.iterdir()) == []
