"""Boards and tags: what is put on them is found, and nothing takes it away."""

import json
import os

import pytest
from own_images import write_own

from mezzotint.errors import StorageError, UsageError
from mezzotint.library.gallery.gallery import Gallery
from mezzotint.library.gallery.labels import MOST_LABELS
from mezzotint.library_protocol import BoardEdit, GalleryQuery, GalleryScan, Labelling


@pytest.fixture
def paths(tmp_path):
    """Three images, newest last."""
    made = []
    for second, name in enumerate("abc"):
        path = write_own(tmp_path / "images" / f"{name}.png", prompt=f"a barn {name}", model="XL", seed=second)
        os.utime(path, (1_700_000_000 + second,) * 2)
        made.append(str(path))
    return made


@pytest.fixture
def gallery(tmp_path, paths):
    gallery = opened(tmp_path)
    yield gallery
    gallery.close()


def opened(tmp_path):
    gallery = Gallery(tmp_path / "state")
    gallery.scan(GalleryScan(folders=(str(tmp_path / "images"),)), lambda _: None, lambda: False)
    return gallery


def put(gallery, paths, kind="board", add=(), remove=()):
    gallery.boards.label(Labelling(paths=tuple(paths), kind=kind, add=tuple(add), remove=tuple(remove)))


def found(gallery, **query):
    return "".join(sorted(item.path[-5] for item in gallery.query(GalleryQuery(**query)).items))


def boards(gallery):
    return [(one.name, one.search, one.count) for one in gallery.boards.all().boards]


def test_images_are_put_on_boards_and_taken_off(gallery, paths):
    put(gallery, paths[:2], add=["Holiday", "  Work   in progress "])
    put(gallery, paths[1:], "tag", add=["sea"])
    put(gallery, paths[:1], remove=["WORK in progress"])
    assert boards(gallery) == [("Holiday", None, 2), ("Work in progress", None, 1)]
    assert gallery.boards.all().tags == ("sea",)
    items = {item.path: item for item in gallery.query(GalleryQuery()).items}
    assert (items[paths[0]].boards, items[paths[1]].boards) == (("Holiday",), ("Holiday", "Work in progress"))
    assert (items[paths[0]].tags, items[paths[2]].tags) == ((), ("sea",))


@pytest.mark.parametrize(
    ("search", "names"),
    [
        ("tag:sea", "bc"), ("TAG:SEA barn", "bc"), ("tag:sea c", "c"), ("-tag:sea", "a"), ('board:"my trip"', "ab"),
        ("board:my", ""), ("model:xl", "abc"), ("model:dit", ""), ("stars:1", ""), ("stars:0", "abc"), ("stars:9", ""),
        ("board:found", "b"), ('tag:"', ""), ("untag:sea", ""), ("tag:", ""), ('board:"my trip" -tag:sea', "a"),
    ],
)  # fmt: skip
def test_terms_of_a_search(gallery, paths, search, names):
    put(gallery, paths[:2], add=["My Trip"])
    put(gallery, paths[1:], "tag", add=["Sea"])
    gallery.boards.edit(BoardEdit(name="Found", search='tag:sea board:"My trip"'))
    assert found(gallery, search=search) == names


def test_a_smart_board_has_what_its_search_finds(gallery, paths):
    put(gallery, paths[:2], "tag", add=["sea"])
    gallery.boards.edit(BoardEdit(name="Sea", search="tag:sea"))
    gallery.boards.edit(BoardEdit(name="Loop", search="board:Loop"))
    assert (found(gallery, board="sea"), found(gallery, board="sea", search="b.png"), found(gallery, board="Loop")) == (
        "ab", "b", "",
    )  # fmt: skip
    gallery.boards.edit(BoardEdit(name="Sea", search="c.png"))
    assert found(gallery, board="Sea") == "c"
    with pytest.raises(UsageError, match="smart board"):
        put(gallery, paths, add=["SEA"])


def test_boards_are_renamed_and_removed(gallery, paths):
    put(gallery, paths, add=["One"])
    put(gallery, paths[:1], add=["Two"])
    gallery.boards.edit(BoardEdit(name="One", rename="Three"))
    assert (found(gallery, board="One"), found(gallery, board="three")) == ("", "abc")
    gallery.boards.edit(BoardEdit(name="Three", remove=True))
    assert boards(gallery) == [("Two", None, 1)]
    assert [item.boards for item in gallery.query(GalleryQuery()).items] == [(), (), ("Two",)]


@pytest.mark.parametrize(
    ("edit", "why"),
    [
        (BoardEdit(name=""), "cannot name"), (BoardEdit(name='a"b'), "cannot name"), (BoardEdit(name="x" * 101), "100"),
        (BoardEdit(name="KNOWN"), "already"), (BoardEdit(name="a", search=" "), "search"),
        (BoardEdit(name="Known", search="tag:a"), None), (BoardEdit(name="absent", remove=True), "no board"),
        (BoardEdit(name="absent", rename="b"), "no board"), (BoardEdit(name="Known", rename="other"), "already"),
        (BoardEdit(name="Known", rename="KNOWN"), None), (BoardEdit(name="a", search="x" * 1001), "search"),
    ],
)  # fmt: skip
def test_what_is_no_board(gallery, edit, why):
    for name in ("Known", "Other"):
        gallery.boards.edit(BoardEdit(name=name))
    if why is None:
        gallery.boards.edit(edit)
    else:
        with pytest.raises(UsageError, match=why):
            gallery.boards.edit(edit)


def test_an_image_has_at_most_so_many(gallery, paths):
    put(gallery, paths, "tag", add=[f"tag {number}" for number in range(MOST_LABELS)])
    with pytest.raises(UsageError, match="remove some"):
        put(gallery, paths[:1], "tag", add=["one more"])
    put(gallery, paths[:1], "tag", add=["TAG 0"])


def test_they_outlive_the_index_and_what_only_the_journal_has_is_taken_over(gallery, paths, tmp_path):
    put(gallery, paths[:2], add=["Trip"])
    gallery.boards.edit(BoardEdit(name="Empty"))
    gallery.boards.edit(BoardEdit(name="Smart", search="c.png"))
    before = boards(gallery)
    gallery.close()
    for path in (tmp_path / "state").glob("gallery.db*"):
        path.unlink()
    again = opened(tmp_path)
    assert (boards(again), found(again, board="Trip"), found(again, board="Smart")) == (before, "ab", "c")
    again.close()
    with open(tmp_path / "state" / "gallery-labels.jsonl", "a") as file:
        file.write('["board", "Late", null]\n["board", "Empty", false]\n["image", 3, []]\n["board", "x\\u0000", null]')
    again = opened(tmp_path)
    assert [name for name, _, _ in boards(again)] == ["Late", "Smart", "Trip"] and again.notices() == ()
    again.close()


def test_a_long_journal_is_written_anew(tmp_path):
    path = tmp_path / "state" / "gallery-labels.jsonl"
    path.parent.mkdir()
    lines = [["image", f"file:{number % 3}", [["tag", f"t{number % 5}"]]] for number in range(3000)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in [*lines, ["board", "B", "tag:t1"]]))
    gallery = Gallery(tmp_path / "state")
    assert boards(gallery) == [("B", "tag:t1", 0)] and path.stat().st_size < 300
    gallery.close()


def test_a_full_disk_changes_nothing(gallery, paths, monkeypatch):
    put(gallery, paths[:1], add=["Trip"])

    def full(_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="the disk is full"):
        put(gallery, paths, add=["Trip"])
    monkeypatch.undo()
    assert found(gallery, board="Trip") == "a"
