"""A batch whose tasks are made several at a time."""

import contextlib
from collections import Counter

import pytest
from batch_made import Batch, Heard
from batch_programs import StandIn, run, task
from hypothesis import given, settings
from hypothesis import strategies as st

from mezzotint.errors import DeviceLost, MezzotintError, NoDevice, StorageError
from mezzotint.protocol import Saved


class Gone(BaseException):
    """The end of a process, with nobody left to tell."""


@pytest.fixture
def batch(tmp_path):
    return Batch(tmp_path)


def test_they_are_made_in_groups_and_each_is_told_of(batch):
    ended = batch.run(batch.tasks(20), together=4)
    (engine,) = batch.engines
    assert engine.groups and max(engine.groups) == 4
    assert (ended.progress.done, ended.failures, sorted(batch.made)) == (20, 0, list(range(20)))
    assert batch.images() == sorted(one.output for one in batch.tasks(20))
    saved = [(output, event.image.seed) for output, event in batch.heard.events if isinstance(event, Saved)]
    assert sorted(saved) == sorted((one.output, one.request.seed) for one in batch.tasks(20))
    assert {record.attempts for record in batch.heard.records} == {1}


@pytest.mark.parametrize("together", [1, 4])
def test_one_that_cannot_be_made_harms_no_other(batch, together):
    faults = {3: "refused", 7: "bug"}
    stream = [task(number, batch.folder, faults.get(number)) for number in range(12)]
    ended = batch.run(stream, together=together)
    assert (ended.progress.done, ended.progress.failed) == (10, 2)
    assert Counter(record.kind for record in batch.heard.records) == {None: 10, "image_refused": 1, "bug": 1}
    assert sorted(batch.made) == list(range(12))


@pytest.mark.parametrize("error", [ValueError("a bug"), MezzotintError("no memory"), StorageError("cannot read it")])
def test_what_ends_a_group_is_tried_one_by_one(batch, error):
    class Alone(StandIn):
        def generate_many(self, request, on_event, cancelled):
            self.groups.append(len(request.requests))
            self.generate(request.requests[0], on_event, cancelled)
            raise error

    ended = batch.run(batch.tasks(9), Alone(), together=3)
    assert (ended.progress.done, ended.failures, len(batch.images())) == (9, 0, 9)
    (engine,) = batch.engines
    assert engine.groups
    assert {code for code, _ in batch.heard.notices} == {"together_failed"}
    assert Counter(batch.made) == Counter(range(9))


def test_no_device_blames_no_task(batch):
    class Nowhere(StandIn):
        def generate(self, request, on_event, cancelled):
            raise NoDevice("there is no such card")

        def generate_many(self, request, on_event, cancelled):
            raise NoDevice("there is no such card")

    with pytest.raises(NoDevice):
        batch.run(batch.tasks(8), Nowhere(), together=4)
    assert batch.records() == {}
    assert batch.run(batch.tasks(8), together=4).progress.done == 8


@settings(max_examples=15)
@given(st.integers(0, 9), st.integers(2, 5), st.sampled_from(["lost", "gone"]))
def test_of_a_group_that_ends_its_process_only_the_poisoned_one_is_set_aside(tmp_path_factory, bad, together, end):
    batch = Batch(tmp_path_factory.mktemp("batch"))

    class Poisoned(StandIn):
        def _gone(self):
            raise Gone

    stream = [task(number, batch.folder, end if number == bad else None) for number in range(10)]
    for _ in range(4):
        with contextlib.suppress(Gone, DeviceLost):
            ended = batch.run(stream, Poisoned(), together=together)
            break
    assert (ended.stopped, ended.failures) == ("finished", 1)
    assert [one.output for one in batch.records().values() if one.status == "set_aside"] == [stream[bad].output]
    assert len(batch.images()) == 9


def test_by_processes_the_poisoned_one_of_a_group_is_found(tmp_path):
    stream = [task(number, tmp_path, "poison" if number == 5 else None) for number in range(16)]
    heard = Heard()
    ended = run(tmp_path, 16, devices=2, stream=stream, listener=heard, together=4)
    assert (ended.progress.done, ended.progress.set_aside, ended.failures) == (15, 1, 1)
    (record,) = [one for one in heard.records if one.status == "set_aside"]
    assert record.output == stream[5].output
    assert "2 processes ended while generating it" in record.error
    assert len(list(tmp_path.rglob("*.png"))) == 15
    together = [words for code, words in heard.notices if code == "together_failed"]
    assert len(together) == 1 and "the engine exited with code 9" in together[0]
