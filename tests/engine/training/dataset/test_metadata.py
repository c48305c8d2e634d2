"""metadata.jsonl: captions by the names of images, wherever the file is."""

import json

import pytest


def write(path, *entries):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), "utf-8")


def test_captions_by_name(folder, put, read):
    put("a.png", None)
    put("sub/b.png", None)
    put("train/c.jpg", None)
    put("train/deep/d.jpg", None)
    write(folder / "metadata.jsonl", {"file_name": "a.png", "text": "one"}, {"file_name": "./sub/b.png", "text": "two"})
    write(
        folder / "train" / "metadata.jsonl",
        {"file_name": "c.jpg", "text": "three"},
        {"file_name": "deep\\d.jpg", "text": ["four", "five"]},
    )
    found = {image.path.name: image.captions for image in read().images}
    assert found == {"a.png": ("one",), "b.png": ("two",), "c.jpg": ("three",), "d.jpg": ("four", "five")}
    assert all(image.caption_file is None for image in read().images)


def test_a_file_beside_the_image_counts_first_unless_it_is_empty(folder, put, read):
    put("a.png", "beside")
    put("b.png", " ")
    write(folder / "metadata.jsonl", *({"file_name": name, "text": "listed"} for name in ("a.png", "b.png")))
    assert [image.captions for image in read().images] == [("beside",), ("listed",)]


@pytest.mark.parametrize(
    "name", ["/etc/hostname.png", "../castles/a.png", "sub/../a.png", "..\\castles\\a.png", "b.png"]
)
def test_names_of_no_image_are_told(folder, put, read, told, name):
    put("a.png", None)
    write(folder / "metadata.jsonl", {"file_name": name, "text": "a castle"})
    assert told("metadata.jsonl", "warning") == [
        f"metadata.jsonl describes {name!r} in line 1, but there is no such image"
    ]
    assert read().images[0].captions == ()


def test_a_second_caption_of_the_same_image_is_told(folder, put, read, told):
    put("a.png", None)
    write(folder / "metadata.jsonl", *({"file_name": "a.png", "text": text} for text in ("one", "two")))
    assert read().images[0].captions == ("one",)
    assert told("metadata.jsonl") == ["metadata.jsonl describes 'a.png' again in line 2: the first one is used"]


def test_bad_lines_are_errors_and_only_some_are_told(folder, put, read, told):
    put("a.png", None)
    write(folder / "metadata.jsonl", *[7] * 25, {"file_name": "a.png", "text": "a castle"})
    messages = told("metadata.jsonl")
    assert read().images[0].captions == ("a castle",)
    assert len(messages) == 11
    assert messages[0].startswith("metadata.jsonl has a line that is left out: ")
    assert messages[-1] == "metadata.jsonl has 15 more lines that cannot be used, for reasons like these"


def test_a_file_that_cannot_be_read_to_its_end(folder, put, told):
    put("a.png")
    (folder / "metadata.jsonl").write_bytes(b" " * (2 << 20))
    (message,) = told("metadata.jsonl", "error")
    assert message.startswith("metadata.jsonl cannot be read to its end: ")
