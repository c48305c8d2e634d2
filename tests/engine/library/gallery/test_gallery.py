"""The gallery: what is found by which question, and stars that nothing takes away."""

import json
import os
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from own_images import SIZE, write_own
from PIL import Image

from mezzotint.errors import StorageError, UsageError
from mezzotint.library.gallery.gallery import LARGEST_PAGE, Gallery
from mezzotint.library_protocol import GalleryQuery, GalleryScan, Rating


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    return folder


@pytest.fixture
def gallery(tmp_path):
    gallery = Gallery(tmp_path / "state")
    yield gallery
    gallery.close()


def scanned(gallery, *folders):
    return gallery.scan(GalleryScan(folders=tuple(map(str, folders))), lambda event: None, lambda: False)


def names(gallery, **query):
    return [Path(item.path).stem for item in gallery.query(GalleryQuery(**query)).items]


def fill(folder):
    """Five images, each a second younger than the one before."""
    made = [
        write_own(folder / "a.png", prompt="a red barn by the sea", model="xl", seed=1),
        write_own(folder / "b.webp", prompt="ÉMILE's Boat\nat night", model="dit", seed=2**63 + 5),
        write_own(folder / "c.jpg", prompt="100% of a barn_owl", model="dit", seed=3),
        write_own(folder / "deep" / "er" / "d.png", prompt="a blue barn", model="xl", seed=4),
        folder / "holiday Café.png",
    ]
    Image.new("RGB", (30, 20), "green").save(made[-1])
    for second, path in enumerate(made):
        os.utime(path, (1_700_000_000 + second,) * 2)
    return made


def test_what_an_item_says(gallery, folder):
    fill(folder)
    assert scanned(gallery, folder).total == 5
    page = gallery.query(GalleryQuery())
    assert page.total == 5
    newest, *_, boat, barn = page.items
    assert (newest.path, newest.width, newest.height) == (str(folder / "holiday Café.png"), 30, 20)
    assert (newest.prompt, newest.model, newest.seed, newest.rating) == ("", "", None, 0)
    assert newest.made == 1_700_000_004 and newest.bytes == (folder / "holiday Café.png").stat().st_size
    assert (barn.prompt, barn.model, barn.seed, (barn.width, barn.height)) == ("a red barn by the sea", "xl", 1, SIZE)
    assert boat.seed == 2**63 + 5


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ("", "holiday Café,d,c,b,a"),
        ("barn", "d,c,a"),
        ("BARN red", "a"),
        ("barn green", ""),
        ("émile boat", "b"),
        ("E\u0301mile", "b"),
        ("cafe\u0301 holiday", "holiday Café"),
        ("100%", "c"),
        ("barn_owl", "c"),
        ("%", "c"),
        ("_", "c"),
        ("xl", "d,a"),
        ("dit .webp", "b"),
        ("' OR 1=1 --", ""),
        ("\0", "holiday Café,d,c,b,a"),
        ("\ud800", ""),
    ],
)
def test_all_words_stand_in_prompt_model_or_name(gallery, folder, search, found):
    fill(folder)
    scanned(gallery, folder)
    assert ",".join(names(gallery, search=search)) == found
    assert gallery.query(GalleryQuery(search=search)).total == len(names(gallery, search=search))


def test_narrowing_order_and_pages(gallery, folder):
    made = fill(folder)
    scanned(gallery, folder)
    gallery.rate(Rating(paths=(str(made[0]), str(made[2])), rating=4))
    gallery.rate(Rating(paths=(str(made[1]),), rating=5))
    assert names(gallery, order="oldest") == ["a", "b", "c", "d", "holiday Café"]
    assert names(gallery, order="best") == ["b", "c", "a", "holiday Café", "d"]
    assert names(gallery, rating=4) == ["c", "b", "a"]
    assert names(gallery, model="dit") == ["c", "b"]
    assert names(gallery, model="nobody") == []
    assert names(gallery, model="dit", rating=5, search="boat") == ["b"]
    assert names(gallery, folder=str(folder / "deep")) == ["d"]
    assert names(gallery, folder=str(folder / "dee")) == []
    assert len(names(gallery, folder=str(folder))) == 5
    page = gallery.query(GalleryQuery(offset=1, limit=2))
    assert page.total == 5 and [Path(item.path).stem for item in page.items] == ["d", "c"]
    assert names(gallery, offset=-3, limit=-1) == [] and names(gallery, offset=99) == []
    assert gallery.models() == ("dit", "xl")
    assert LARGEST_PAGE < 1000


@given(st.text(max_size=30), st.none() | st.text(max_size=9), st.none() | st.text(max_size=9), st.integers(-9, 9))
def test_no_question_breaks_it(tmp_path_factory, search, model, folder, rating):
    gallery = Gallery(tmp_path_factory.mktemp("state"))
    try:
        page = gallery.query(GalleryQuery(search=search, model=model, folder=folder, rating=rating))
    except UsageError as error:
        assert "no text" in str(error)
    else:
        assert page.total == 0 and page.items == ()
    gallery.close()


# ---- stars


def test_stars_follow_an_image_that_moves(gallery, folder):
    made = fill(folder)
    scanned(gallery, folder)
    gallery.rate(Rating(paths=(str(made[0]), str(made[4])), rating=3))
    for path in (made[0], made[4]):
        shutil.move(path, folder / "deep" / f"moved {path.name}")
    result = scanned(gallery, folder)
    assert (result.added, result.removed, result.total) == (2, 2, 5)
    assert sorted(names(gallery, rating=3)) == ["moved a", "moved holiday Café"]


def test_a_copy_has_the_stars_of_its_original(gallery, folder):
    made = fill(folder)
    gallery.rate(Rating(paths=(str(made[3]),), rating=2))  # not scanned yet
    shutil.copy(made[3], folder / "copy.png")
    scanned(gallery, folder)
    assert sorted(names(gallery, rating=2)) == ["copy", "d"]
    gallery.rate(Rating(paths=(str(folder / "copy.png"),), rating=0))
    assert names(gallery, rating=1) == []


def test_stars_outlive_the_index(gallery, folder, tmp_path):
    made = fill(folder)
    scanned(gallery, folder)
    gallery.rate(Rating(paths=tuple(map(str, made[:3])), rating=4))
    gallery.rate(Rating(paths=(str(made[1]),), rating=1))
    gallery.close()
    for path in (tmp_path / "state").glob("gallery.db*"):
        path.unlink()
    again = Gallery(tmp_path / "state")
    scanned(again, folder)
    assert {Path(item.path).stem: item.rating for item in again.query(GalleryQuery()).items} == {
        "a": 4, "b": 1, "c": 4, "d": 0, "holiday Café": 0,
    }  # fmt: skip
    again.close()


def test_stars_that_only_the_journal_has_got_are_taken_over(gallery, folder, tmp_path):
    made = fill(folder)
    scanned(gallery, folder)
    gallery.rate(Rating(paths=(str(made[0]),), rating=2))
    gallery.close()
    journal = tmp_path / "state" / "gallery-stars.jsonl"
    content, _ = json.loads(journal.read_text().split("\n")[1])
    with open(journal, "a") as file:
        file.write(json.dumps([content, 5]) + "\n")
    again = Gallery(tmp_path / "state")
    assert names(again, rating=5) == ["a"]
    again.close()


def test_a_forgotten_image_has_its_stars_when_it_comes_back(gallery, folder):
    made = fill(folder)
    scanned(gallery, folder)
    gallery.rate(Rating(paths=(str(made[0]),), rating=5))
    gallery.forget((str(made[0]), "/nowhere/x.png"))
    assert "a" not in names(gallery)
    assert scanned(gallery, folder).added == 1
    assert names(gallery, rating=5) == ["a"]


def test_what_gets_no_stars(gallery, folder):
    (folder / "text.png").write_text("no image")
    for stars in (-1, 6):
        with pytest.raises(UsageError, match="0 to 5"):
            gallery.rate(Rating(paths=(), rating=stars))
    with pytest.raises(StorageError, match="neither stars nor boards"):
        gallery.rate(Rating(paths=(str(folder / "text.png"),), rating=3))
    for path in (str(folder / "absent.png"), "a\0b"):
        with pytest.raises(StorageError):
            gallery.rate(Rating(paths=(path,), rating=3))
    gallery.rate(Rating(paths=(), rating=3))


def test_a_full_disk_takes_no_star_away(gallery, folder, tmp_path, monkeypatch):
    made = fill(folder)
    scanned(gallery, folder)
    gallery.rate(Rating(paths=(str(made[0]),), rating=2))

    def full(_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="the disk is full"):
        gallery.rate(Rating(paths=(str(made[0]),), rating=5))
    monkeypatch.undo()
    again = Gallery(tmp_path / "state")
    for one in (gallery, again):
        assert names(one, rating=2) == ["a"] and names(one, rating=5) == []
    again.close()
