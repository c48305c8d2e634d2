"""Sorting by similarity: at once by what is known, and again once everything was looked at."""

import pytest
from gallery_made import gallery_of, item

from mezzotint.protocol import Progress


@pytest.fixture
def made(tmp_path, qapp):
    made = gallery_of([item(number) for number in range(3)], tmp_path)
    made.settle()
    return made


def test_the_order_shows_at_once_and_after_looking(made):
    similarity, model = made.gallery.similarity, made.gallery.model
    similarity.sort_by("/images/1.png")
    assert (model.query().order, model.query().similar_to, model.section(0)) == ("similar", "/images/1.png", "")
    assert not model.is_narrowed() and similarity.status() == ""
    made.librarian.event(Progress(what="looks", done=600, total=900, unit="images", seconds_left=1), "gallery.looks")
    assert similarity.status() == "Looking at images: 600 of 900"
    pages = made.librarian.pages
    made.settle()
    assert similarity.status() == "" and made.librarian.pages > pages
    model.narrow(order="newest")
    assert model.query().similar_to is None


def test_it_is_stopped_and_trouble_is_told(made, qtbot):
    similarity = made.gallery.similarity
    similarity.cancel()
    similarity.sort_by("/images/1.png")
    similarity.sort_by("/images/2.png")
    assert len(made.librarian.open("gallery.looks")) == 1
    similarity.cancel()
    made.librarian.fail("cancelled", method="gallery.looks")
    similarity.sort_by("/images/1.png")
    with qtbot.waitSignal(similarity.failed):
        made.librarian.fail(message="the disk is full", method="gallery.looks")
