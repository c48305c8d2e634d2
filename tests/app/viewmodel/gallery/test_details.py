"""How the image that a person stands on was made."""

from dataclasses import replace

import pytest
from fake_service import FakeService
from gallery_made import item, metadata

from mezzotint_app.viewmodel.gallery.details import GalleryDetails


@pytest.fixture
def made(qapp):
    service = FakeService()
    return service, GalleryDetails(service)


def test_who_walks_through_asks_for_the_last_one_alone(made, qtbot):
    service, details = made
    for number in range(20):
        details.set_current(item(number))
    assert service.asked == []
    qtbot.waitUntil(lambda: len(service.asked) == 1)
    assert service.last().params == {"path": "/images/19.png"}
    service.answer(metadata(prompt="a hare"))
    assert details.metadata().prompt == "a hare"


def test_an_answer_about_another_image_is_dropped(made):
    service, details = made
    details.set_current(item(0))
    details.ask_now()
    details.set_current(item(1))
    service.answer(metadata(prompt="a hare"))
    assert details.metadata() is None


def test_why_it_cannot_be_read_is_told(made):
    service, details = made
    details.set_current(item(0))
    details.ask_now()
    service.fail("image_refused", "it is damaged")
    assert details.problem() == "it is damaged"
    details.set_current(item(1))
    assert details.problem() == ""


def test_other_stars_are_no_reason_to_read_it_again(made, qtbot):
    service, details = made
    details.set_current(item(0))
    details.ask_now()
    service.answer(metadata(prompt="a hare"))
    with qtbot.waitSignal(details.changed):
        details.set_current(replace(item(0), rating=4))
    assert details.item().rating == 4
    assert details.metadata().prompt == "a hare"
    assert len(service.asked) == 1


def test_none_is_told_of(made):
    service, details = made
    details.set_current(item(0))
    details.set_current(None)
    details.ask_now()
    assert details.item() is None
    assert service.asked == []
