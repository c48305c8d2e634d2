"""The dataset is checked shortly after a change; answers to earlier questions do not count."""

import pytest
from fake_clock import FakeClock
from fake_service import FakeService
from train_made import check, image, request

from mezzotint.training_protocol import CaptionEdit
from mezzotint_app.viewmodel.train.checks import DatasetChecks


@pytest.fixture
def parts():
    service, clock = FakeService(), FakeClock()
    return service, clock, DatasetChecks(service, clock)


def test_several_changes_in_a_row_are_one_question(parts):
    service, clock, checks = parts
    for name in ("a", "b", "c"):
        checks.check(request(name))
    assert checks.is_checking() and service.asked == []
    clock.advance(1)
    assert [one.params.name for one in service.asked] == ["c"]
    service.answer(check())
    assert checks.found() == check() and not checks.is_checking()


def test_an_answer_that_comes_too_late_is_dropped(parts):
    service, clock, checks = parts
    checks.check(request(dataset="/a"))
    clock.advance(1)
    checks.check(request(dataset="/b"))
    clock.advance(1)
    assert service.cancelled == [1]
    service.answer(check(image(7)), call=1)
    assert checks.found() is None
    service.answer(check(), call=2)
    assert checks.found() == check()


def test_while_the_same_folder_is_checked_again_the_last_answer_stays(parts):
    service, clock, checks = parts
    checks.check(request())
    clock.advance(1)
    service.answer(check())
    checks.again()
    assert checks.found() is not None
    checks.check(request(dataset="/other"))
    assert checks.found() is None


def test_a_folder_that_cannot_be_read_is_told(parts):
    service, clock, checks = parts
    checks.check(request())
    clock.advance(1)
    service.fail("storage", "it is not a folder")
    assert checks.failure() == "it is not a folder" and not checks.is_checking()
    checks.check(None)
    assert checks.failure() == "" and not checks.is_checking()


def test_a_caption_is_written_and_the_folder_checked_again(parts):
    service, clock, checks = parts
    told = []
    checks.not_written.connect(told.append)
    checks.check(request())
    clock.advance(1)
    service.answer(check())
    checks.write("/a.png", ("a castle",))
    assert service.last().params == CaptionEdit(image="/a.png", captions=("a castle",))
    service.answer("/a.txt", "training_caption")
    clock.advance(1)
    assert service.methods().count("training_check") == 2
    checks.write("/a.png", ("a",))
    service.fail("storage", "the disk is full", "training_caption")
    clock.advance(1)
    assert told == ["the disk is full"] and service.methods().count("training_check") == 3
