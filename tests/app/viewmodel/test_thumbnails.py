"""Small images: few at once, what is in sight first, no more memory than allowed."""

import pytest
from fake_service import FakeService, InlineBackground
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtGui import QImage

from mezzotint.library_protocol import Thumbnail
from mezzotint_app.viewmodel.thumbnails import MAX_REQUESTS, SIDES, ThumbnailKey, Thumbnails, decoded, side_for

BYTES = 8 * 8 * 4


def image(_path=""):
    return QImage(8, 8, QImage.Format.Format_RGB32)


def made(most_bytes=1 << 20, decode=image):
    service, inline = FakeService(), InlineBackground()
    return service, Thumbnails(service, inline, most_bytes=most_bytes, decode=decode), inline


def wanted(number):
    return ThumbnailKey(path=f"/{number}.png", side=128)


def asked(service):
    return [one.params.path for one in service.open("thumbnail")]


def answer_all(service):
    while service.open("thumbnail"):
        service.answer(Thumbnail(path="/cache/1.jpg", width=8, height=8), method="thumbnail")


def test_a_few_are_asked_at_once_in_the_order_of_sight():
    service, thumbnails, _ = made()
    thumbnails.show([wanted(number) for number in range(50)], "list")
    assert asked(service) == [f"/{number}.png" for number in range(MAX_REQUESTS)]
    service.answer(Thumbnail(path="/cache/1.jpg", width=8, height=8), call=1)
    assert asked(service)[-1] == f"/{MAX_REQUESTS}.png"
    assert thumbnails.thumbnail(wanted(0)) is not None
    assert thumbnails.thumbnail(wanted(1)) is None


def test_what_is_out_of_sight_is_not_asked_and_what_was_asked_is_called_off_once():
    service, thumbnails, _ = made()
    thumbnails.show([wanted(number) for number in range(50)], "list")
    thumbnails.show([wanted(number) for number in range(100, 104)], "list")
    thumbnails.show([wanted(number) for number in range(100, 104)], "list")
    assert service.cancelled == list(range(1, MAX_REQUESTS + 1))
    for call in list(service.cancelled):
        service.fail("cancelled", call=call)
    assert asked(service) == [f"/{number}.png" for number in range(100, 104)]


def test_one_that_was_called_off_and_is_in_sight_again_is_asked_again():
    service, thumbnails, _ = made()
    thumbnails.show([wanted(1)], "list")
    thumbnails.show([], "list")
    thumbnails.show([wanted(1)], "list")
    service.fail("cancelled", call=1)
    assert asked(service) == ["/1.png"]
    answer_all(service)
    assert thumbnails.thumbnail(wanted(1)) is not None


def test_what_one_list_shows_is_not_called_off_by_another():
    service, thumbnails, _ = made()
    thumbnails.show([wanted(1)], "one")
    thumbnails.show([wanted(2)], "other")
    assert service.cancelled == []
    answer_all(service)
    assert thumbnails.thumbnail(wanted(1)) is not None
    assert thumbnails.thumbnail(wanted(2)) is not None


@pytest.mark.parametrize("where", ["librarian", "decoding"])
def test_why_there_is_no_image_is_told_and_not_asked_again(where):
    def broken(path):
        raise ValueError("no image")

    service, thumbnails, _ = made(decode=broken if where == "decoding" else image)
    told = []
    thumbnails.changed.connect(told.append)
    thumbnails.show([wanted(1)], "list")
    if where == "librarian":
        service.fail("image_refused", "no image")
    else:
        answer_all(service)
    assert thumbnails.why_broken(wanted(1)) == "no image"
    assert told == ["/1.png"]
    thumbnails.show([wanted(1)], "list")
    assert asked(service) == []
    thumbnails.forget_failures()
    thumbnails.show([wanted(1)], "list")
    assert asked(service) == ["/1.png"]


def test_a_file_that_was_replaced_is_another_image():
    service, thumbnails, _ = made()
    first = ThumbnailKey(path="/1.png", side=128, stamp=1.0)
    thumbnails.show([first], "list")
    answer_all(service)
    assert thumbnails.thumbnail(first) is not None
    assert thumbnails.thumbnail(ThumbnailKey(path="/1.png", side=128, stamp=2.0)) is None


@given(st.lists(st.lists(st.integers(0, 30), max_size=8), max_size=12), st.integers(0, 12))
def test_memory_stays_below_its_bound_but_for_what_is_in_sight(sights, room):
    service, thumbnails, _ = made(most_bytes=room * BYTES)
    for sight in sights:
        thumbnails.show([wanted(number) for number in sight], "list")
        answer_all(service)
        assert thumbnails.bytes_kept() <= max(room, len(set(sight))) * BYTES
        assert all(thumbnails.thumbnail(wanted(number)) is not None for number in sight)
        held = sum(thumbnails.thumbnail(wanted(number)) is not None for number in range(31))
        assert thumbnails.bytes_kept() == held * BYTES


def test_nothing_is_decoded_for_what_has_gone_out_of_sight():
    service, thumbnails, inline = made()
    inline.held = True
    thumbnails.show([wanted(1)], "list")
    thumbnails.show([], "list")
    answer_all(service)
    assert inline.waiting == []


@given(st.floats(1, 2000))
def test_sizes_are_few_and_large_enough(pixels):
    side = side_for(pixels)
    assert side in SIDES
    assert side >= min(pixels, SIDES[-1])


def test_a_thumbnail_that_cannot_be_read_says_what_to_do(tmp_path):
    (tmp_path / "x.jpg").write_bytes(b"no image")
    with pytest.raises(ValueError, match="clear the cache"):
        decoded(str(tmp_path / "x.jpg"))
    image().save(str(tmp_path / "y.png"))
    assert decoded(str(tmp_path / "y.png")).width() == 8
