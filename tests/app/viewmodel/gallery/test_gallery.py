"""The gallery's list: what is asked, what is shown, dates and stars."""

import pytest
from gallery_made import NOON, gallery_of, item
from hypothesis import given
from hypothesis import strategies as st
from model_checked import checked
from PySide6.QtCore import QUrl

from mezzotint_app.viewmodel.gallery.gallery import (
    BrokenRole,
    GalleryState,
    HeadingRole,
    ItemRole,
    RatingRole,
    ThumbnailRole,
)

DAY = 24 * 3600


def shown(model):
    return [model.peek(row).id for row in range(model.rowCount())]


@pytest.fixture
def made(tmp_path, qapp):
    return lambda items, **options: gallery_of(items, tmp_path, **options)


@pytest.mark.slow
def test_fifty_thousand_images_cost_what_is_in_sight(made, qtbot):
    one = made([item(number) for number in range(50_000)])
    model = one.gallery.model
    model.set_thumbnails(256, 10)
    model.show_rows(0, 29)
    one.settle()
    assert model.rowCount() == 50_000
    assert one.librarian.pages == 1
    assert len(one.librarian.methods()) == 1 + 40  # one page, and the thumbnails in sight and just beyond
    model.show_rows(49_970, 49_999)
    one.settle()
    assert model.index(49_999).data(ItemRole).id == 49_999
    assert one.librarian.pages == 2


def test_images_come_with_their_thumbnails_or_why_there_is_none(made, qtbot):
    one = made([item(0), item(1)])
    model = one.gallery.model
    model.show_rows(0, 1)
    one.settle()
    assert model.index(0).data(ThumbnailRole).width() == 8
    one.librarian.items.append(item(2))
    model.refresh()
    qtbot.wait(1)
    with checked(model):
        one.librarian.answer_all()
    assert model.index(2).data(BrokenRole) is None


def test_a_question_that_was_not_answered_is_told(made, qtbot):
    one = made([item(0)])
    model = one.gallery.model
    model.refresh()
    qtbot.wait(1)
    with qtbot.waitSignal(model.failed) as told:
        one.librarian.fail("gone", "the librarian ended", method="gallery.query")
    assert told.args == ["the librarian ended"]
    model.try_again()
    one.settle()
    assert model.rowCount() == 1


def test_dates_head_their_images_once(made, qtbot):
    days = [0, 0, 1, 1, 1, 90, 90, 91]
    one = made([item(number, made=NOON - day * DAY) for number, day in enumerate(days)])
    model = one.gallery.model
    model.show_rows(0, 10)
    one.settle()
    headings = [model.index(row).data(HeadingRole) for row in range(len(days))]
    assert [bool(heading) for heading in headings] == [True, False, True, False, False, True, False, False]
    assert model.section(4) == "Yesterday"
    model.narrow(order="best")
    one.settle()
    assert not any(model.index(row).data(HeadingRole) for row in range(len(days)))
    assert model.section(0) == ""


def test_words_are_looked_for_once_a_person_has_stopped_typing(made, qtbot):
    one = made([item(0, prompt="a hare"), item(1, prompt="a fox")])
    model = one.gallery.model
    model.begin()
    one.settle()
    for text in ("h", "ha", "har"):
        model.search(text)
    assert model.query().search == ""
    with qtbot.waitSignal(model.query_changed):
        pass
    one.settle()
    assert model.query().search == "har"
    assert shown(model) == [0]
    assert model.is_narrowed()
    model.widen()
    one.settle()
    assert shown(model) == [0, 1]
    assert not model.is_narrowed()


def test_filters_narrow_and_the_order_does_not(made, qtbot):
    one = made([item(0, model="a", rating=3), item(1, model="b"), item(2, model="a")])
    model = one.gallery.model
    model.narrow(model="a")
    one.settle()
    assert shown(model) == [0, 2]
    model.narrow(rating=2)
    one.settle()
    assert shown(model) == [0]
    model.widen()
    model.narrow(order="oldest")
    assert not model.is_narrowed()
    asked = len(one.librarian.asked)
    model.narrow(order="oldest")
    assert len(one.librarian.asked) == asked


def test_the_order_that_was_kept_is_used(made):
    one = made([], state=GalleryState(order="best"))
    assert one.gallery.model.query().order == "best"


def test_models_are_learned(made, qtbot):
    one = made([item(0, model="a"), item(1, model="b")])
    with qtbot.waitSignal(one.gallery.model.models_changed):
        one.gallery.model.ask_models()
        one.librarian.answer_all()
    assert one.gallery.model.models() == ("a", "b")


@given(st.sets(st.integers(0, 5), min_size=1), st.integers(0, 5), st.booleans())
def test_stars_show_at_once_and_go_back_where_they_are_refused(qapp, tmp_path_factory, chosen, stars, refused):
    one = gallery_of([item(number, rating=number) for number in range(6)], tmp_path_factory.mktemp("g"))
    model = one.gallery.model
    model.show_rows(0, 5)
    one.settle()
    told = []
    model.failed.connect(told.append)
    model.rate([model.peek(row) for row in chosen], stars)
    assert all(model.index(row).data(RatingRole) == stars for row in chosen)
    if refused and one.librarian.open("gallery.rate"):
        one.librarian.fail("storage", "the disk is full", method="gallery.rate")
        assert told == ["The rating was not saved: the disk is full"]
    one.settle()
    kept = [each.rating for each in one.librarian.items]
    assert [model.index(row).data(RatingRole) for row in range(6)] == kept
    assert all(kept[row] == (row if refused else stars) for row in chosen)


def test_files_are_dragged_out_as_they_are(made, qtbot):
    one = made([item(0), item(1, path="/images/a b#c.png"), item(2)])
    model = one.gallery.model
    model.show_rows(0, 2)
    one.settle()
    data = model.mimeData([model.index(1), model.index(0)])
    assert data.urls() == [QUrl.fromLocalFile("/images/0.png"), QUrl.fromLocalFile("/images/a b#c.png")]
    assert not data.hasHtml()


def test_a_row_is_spoken_in_a_sentence(made, qtbot):
    one = made([item(0, prompt="<b>a hare</b>", rating=4)])
    model = one.gallery.model
    model.refresh()
    assert model.index(0).data() is None
    one.settle()
    assert model.index(0).data().startswith("<b>a hare</b>, ")
