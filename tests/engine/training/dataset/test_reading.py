"""Reading folders: every layout that other trainers use, and every kind of bad input."""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.errors import Cancelled, StorageError
from mezzotint.training.dataset import reading
from mezzotint.training.dataset.reading import read_dataset


def test_an_image_with_its_caption(folder, put, read):
    path = put("a.png", "a castle\nall of stone", size=(80, 48))
    (image,) = read().images
    assert (image.path, image.width, image.height) == (path, 80, 48)
    assert image.captions == ("a castle", "all of stone")
    assert image.caption_file == folder / "a.txt"
    assert image.content == hashlib.sha256(path.read_bytes()).hexdigest()
    assert (image.mask, image.mask_content, image.repeats, image.regularization) == (None, "", 1, False)


def test_captions_of_either_suffix(folder, put, read, told):
    put("a.png", None)
    put("b.v2.png", "from txt")
    (folder / "a.caption").write_text("from caption")
    (folder / "b.v2.caption").write_text("unused")
    assert [image.captions for image in read().images] == [("from caption",), ("from txt",)]
    assert told("b.v2.caption", "warning") == ["b.v2.caption is not used: the caption is read from b.v2.txt"]


def test_kohyas_folders(put, read):
    put("img/10_zibble castle/a.png")
    put("reg/1_castle/b.png")
    assert [(image.repeats, image.regularization) for image in read().images] == [(10, False), (1, True)]


@pytest.mark.parametrize("name", ["a_mask.png", "a-masklabel.png", "a_MASK.PNG"])
def test_masks(folder, put, read, told, name):
    put("a.jpg", size=(64, 32))
    mask = put(name, None, size=(128, 64))
    (image,) = read().images
    assert image.mask == mask
    assert image.mask_content == hashlib.sha256(mask.read_bytes()).hexdigest()
    assert told(name) == []


def test_a_mask_of_another_shape_leaves_its_image_out(put, read, told):
    put("a.jpg", size=(64, 32))
    put("a_mask.png", None, size=(64, 64))
    (message,) = told("a.jpg", "error")
    assert "a_mask.png is 64x64, the image 64x32: they must have the same aspect ratio" in message
    assert read().images == ()


def test_a_mask_that_is_damaged_leaves_its_image_out(folder, put, told):
    put("a.jpg")
    (folder / "a_mask.png").write_bytes(b"no image")
    (message,) = told("a.jpg", "error")
    assert "a_mask.png contains text, not an image" in message and message.endswith("; the image is left out")


def test_a_mask_without_image_is_told(put, told):
    put("a.png")
    put("theatre_mask.png")
    assert told("theatre_mask.png", "warning") == [
        "theatre_mask.png is read as the mask of theatre, which is not there; rename one of them"
    ]


# ---- bad input


def test_no_folder(folder):
    with pytest.raises(StorageError, match="gone is not a folder: choose a folder of images with captions"):
        read_dataset(folder / "gone", cancelled=lambda: False)


def test_an_empty_folder_says_what_to_put_there(folder, told):
    assert told() == told(".", "error")
    (message,) = told()
    assert message == (
        f"{folder} contains no images: put the images to train on there (PNG, JPEG, WebP, AVIF, TIFF, BMP or GIF), "
        "each with its caption in a text file of the same name (castle.png, castle.txt)"
    )


def test_regularization_images_alone_are_not_enough(put, told):
    put("reg/a.png")
    (message,) = told(".", "error")
    assert "contains only regularization images, in reg: put the images to train on there" in message


@pytest.mark.parametrize(("count", "words"), [(1, ["only one image"]), (2, ["only 2 images"]), (5, [])])
def test_few_images_are_told(put, told, count, words):
    for number in range(count):
        put(f"{number}.png")
    messages = told(".", "warning")
    assert len(messages) == len(words)
    assert all(word in message for word, message in zip(words, messages, strict=True))


BAD = {
    "empty.png": (b"", "empty.png is empty"),
    "text.jpg": (b"no image at all", "text.jpg contains text, not an image"),
    "zeros.webp": (bytes(900), "zeros.webp contains only zeros"),
    "page.png": (b"<!DOCTYPE html>", "page.png contains a web page"),
    "pointer.png": (b"version https://git-lfs.github.com/spec/v1", "pointer.png contains a Git-LFS pointer"),
}


def test_bad_images_are_errors_and_the_others_go_on(folder, put, read, told):
    for number in range(3):
        put(f"{number}.png")
    for name, (data, _) in BAD.items():
        (folder / name).write_bytes(data)
    whole = put("cut.png", None).read_bytes()
    (folder / "cut.png").write_bytes(whole[:-30])
    put("9.bmp", None)
    huge = bytearray((folder / "9.bmp").read_bytes())
    huge[18:26] = (60_000).to_bytes(4, "little") * 2
    (folder / "9.bmp").write_bytes(huge)
    assert [image.path.name for image in read().images] == ["0.png", "1.png", "2.png"]
    for name, words in {
        **{name: words for name, (_, words) in BAD.items()},
        "cut.png": "is cut off",
        "9.bmp": "too large",
    }.items():
        (message,) = told(name, "error")
        assert words in message and message.endswith("; the image is left out")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in the file system")
def test_pipes_are_not_waited_for(folder, put, told):
    put("a.png", None)
    os.mkfifo(folder / "b.png")
    os.mkfifo(folder / "a.caption")
    assert "b.png is a pipe, not an image" in told("b.png", "error")[0]
    assert "a.caption is a pipe, not a file" in told("a.png", "error")[0]


def test_captions_in_another_encoding_leave_the_image_out(folder, put, read, told):
    put("a.png", None)
    (folder / "a.txt").write_bytes("Schloß".encode("latin-1"))
    where = f"{folder / 'a.txt'} is not UTF-8 text at byte 5 (0xdf is invalid there)"
    assert told("a.png", "error") == [f"{where}: save it as UTF-8; the image is left out"]
    assert read().images == ()


def test_captions_without_image_and_images_without_caption(folder, put, told):
    put("a.png")
    put("b.png", None)
    put("c.png", " \n")
    (folder / "d.txt").write_text("a castle")
    (folder / "text.jpg").write_bytes(b"no image")
    (folder / "text.txt").write_text("its image is there, but damaged")
    assert told("b.png") == ["b.png has no caption; write what it shows into b.txt"]
    assert told("c.png") == ["c.png has no caption: c.txt is empty; write what it shows into c.txt"]
    assert told("d.txt") == ["d.txt is a caption without an image: it needs the image's name"]
    assert told("text.txt") == []
    assert all("none of" not in message for message in told())


def test_no_captions_at_all_is_one_warning(folder, put, told):
    for number in range(6):
        put(f"{number}.png", None)
    none = f"{folder} lacks captions: none of 6 images has a caption"
    assert told() == [f"{none}; write what each shows into a text file of the same name"]


def test_duplicates_are_told(folder, put, told):
    put("a.png")
    shutil.copy(folder / "a.png", folder / "b.png")
    shutil.copy(folder / "a.png", folder / "c.png")
    for name in ("b.png", "c.png"):
        assert f"{name} is the same file as a.png: remove one, or both are trained" in told(name, "warning")


GOOD = [
    b"",
    b"a castle",
    b"\xff\xd8\xff\xe0\0\x10JFIF",
    b"\x89PNG\r\n\x1a\n",
    b"GIF89a",
    b"RIFF\xff\0\0\0WEBPVP8 ",
    b"II*\0",
    b"BM",
]
NAMES = ["a.png", "a.txt", "a.caption", "a_mask.png", "b.jpg", "metadata.jsonl", "reg/c.webp", "7_x/d.tiff", "e.gif"]


@given(st.dictionaries(st.sampled_from(NAMES), st.tuples(st.sampled_from(GOOD), st.binary(max_size=60)), max_size=6))
def test_whatever_the_files_contain_problems_are_told_and_nothing_is_raised(contents):
    with tempfile.TemporaryDirectory() as name:
        for file, (start, rest) in contents.items():
            (Path(name) / file).parent.mkdir(exist_ok=True)
            (Path(name) / file).write_bytes(start + rest)
        dataset = read_dataset(Path(name), cancelled=lambda: False)
    assert dataset.problems
    assert all(problem.message.isprintable() for problem in dataset.problems)


# ---- the fingerprint, progress, stopping


def test_the_fingerprint_does_not_depend_on_the_folders_place(folder, put, read, tmp_path):
    put("10_castle/a.png")
    put("b.jpg", "a tower")
    put("b_mask.png", None)
    before = read()
    moved = folder.rename(tmp_path / "elsewhere")
    after = read_dataset(moved, cancelled=lambda: False)
    assert after.fingerprint == before.fingerprint
    assert after != before


@pytest.mark.parametrize("change", ["image", "caption", "mask", "repeats", "regularization", "one more", "one less"])
def test_the_fingerprint_changes_with_what_is_trained(folder, put, read, change):
    put("1_x/a.png")
    put("1_x/b.png")
    put("1_x/b_mask.png", None)
    before = read().fingerprint
    changes = {
        "image": lambda: put("1_x/a.png", colour="red"),
        "caption": lambda: (folder / "1_x/a.txt").write_text("another"),
        "mask": lambda: put("1_x/b_mask.png", None, colour="red"),
        "repeats": lambda: (folder / "1_x").rename(folder / "2_x"),
        "regularization": lambda: (folder / "1_x").rename(folder / "reg"),
        "one more": lambda: shutil.copy(folder / "1_x/a.png", folder / "1_x/c.png"),
        "one less": lambda: (folder / "1_x/a.png").unlink(),
    }
    changes[change]()
    assert read().fingerprint != before


def test_the_fingerprint_stays_when_the_same_is_told_otherwise(folder, put, read):
    put("a.png", "a castle")
    before = read().fingerprint
    (folder / "a.txt").unlink()
    (folder / "a.png").rename(folder / "z.png")
    (folder / "metadata.jsonl").write_text('{"file_name": "z.png", "text": "a castle"}')
    assert read().fingerprint == before


def test_progress_is_told_up_to_the_end(put, read, monkeypatch):
    monkeypatch.setattr(reading, "_TOGETHER", 2)
    for number in range(5):
        put(f"{number}.png", size=(8, 8))
    told = []
    read(on_images=lambda *numbers: told.append(numbers))
    assert told == [(2, 5), (4, 5), (5, 5)]


@pytest.mark.parametrize("after", range(0, 9, 2))
def test_it_stops_when_told_to(put, read, after):
    for number in range(4):
        put(f"{number}.png", size=(8, 8))
    asked = []

    def cancelled():
        asked.append(None)
        return len(asked) > after

    with pytest.raises(Cancelled):
        read(cancelled=cancelled)


def test_a_file_that_changes_while_it_is_read_is_an_error(put, read, monkeypatch):
    put("a.png")
    put("b.png")
    real = reading.fingerprint

    def changed(path, cache, **how):
        if path.name == "a.png":
            raise StorageError("a.png changed while it was read; try again")
        return real(path, cache, **how)

    monkeypatch.setattr(reading, "fingerprint", changed)
    dataset = read()
    assert [image.path.name for image in dataset.images] == ["b.png"]
    assert "a.png changed while it was read; try again; the image is left out" in [
        one.message for one in dataset.problems
    ]


def test_nothing_is_decoded(put, read, monkeypatch):
    put("a.png")
    monkeypatch.setattr(Image.Image, "load", None)
    assert len(read().images) == 1


def test_prompts_of_regularization_images_are_no_caption(folder, put, told):
    put("a.png", caption="a castle")
    (folder / "regularization.txt").write_text("a house\na tree\n")
    assert told("regularization.txt") == []
