"""A batch worked through."""

import contextlib
import random
from collections import Counter
from dataclasses import replace

import pytest
from batch_made import Batch, Heard
from batch_programs import StandIn, painted, run, task
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.batch.manifest.ledger import read_ledger
from mezzotint.batch.tasks.tasks import Skipped
from mezzotint.protocol import ImageInput


@pytest.fixture
def batch(tmp_path):
    return Batch(tmp_path)


def test_all_is_made_and_told(batch):
    ended = batch.run(batch.tasks(12), workers=2)
    assert (ended.stopped, ended.failures, ended.progress.done, ended.progress.total) == ("finished", 0, 12, 12)
    assert batch.images() == sorted(one.output for one in batch.tasks(12))
    assert Counter(record.key for record in batch.heard.records) == Counter(one.key for one in batch.tasks(12))
    record = batch.records()["3/00003.png"]
    assert (record.seed, record.status, record.attempts, record.settings_hash) == (3, "done", 1, "5" * 64)
    assert record.engine["device"] == "cpu" and record.seconds is not None


def test_unused_settings_of_images_are_told_of_the_first_ones_and_that_there_are_more(batch):
    stream = [replace(one, notices=(f"{one.output}: not used: seed -1",)) for one in batch.tasks(8)]
    batch.run(stream)
    told = [message for code, message in batch.heard.notices if code == "settings_unused"]
    assert told[:5] == [one.notices[0] for one in stream[:5]]
    assert told[5:] == ["settings of further images are not used either: --dry-run lists them"]


def test_run_again_nothing_is_made_and_no_engine_is_opened(batch):
    batch.run(batch.tasks(5))
    ended = batch.run(batch.tasks(5))
    assert (ended.progress.done, ended.progress.already, batch.engines) == (0, 5, [])


def test_what_is_missing_is_made_and_nothing_else(batch):
    batch.run(batch.tasks(5))
    (batch.folder / "2/00002.png").unlink()
    changed = replace(task(3, batch.folder, "other words"))
    stream = [*batch.tasks(3), changed, *batch.tasks(6)[4:]]
    ended = batch.run(stream)
    assert sorted(batch.made) == [2, 3, 5]
    assert (ended.progress.done, ended.progress.already) == (3, 3)
    assert "3/00003-1.png" in batch.images()


def test_failures_are_told_kept_and_tried_again_when_asked(batch):
    stream = [task(0, batch.folder), task(1, batch.folder, "refused"), task(2, batch.folder, "bug")]
    ended = batch.run(stream)
    assert (ended.failures, ended.progress.failed, ended.progress.done) == (2, 2, 1)
    refused, bug = batch.records()["1/00001.png"], batch.records()["2/00002.png"]
    assert (refused.kind, refused.error) == ("image_refused", "broken.png is cut off in the middle")
    assert bug.kind == "bug" and "report" in bug.error
    ended = batch.run(stream)
    assert (batch.engines, ended.progress.left_failed, ended.failures) == ([], 2, 2)

    class Mended(StandIn):
        _refused = _bug = None

    ended = batch.run(stream, Mended(), retry_failed=True)
    assert (sorted(batch.made), ended.failures) == ([1, 2], 0)
    assert batch.records()["1/00001.png"].attempts == 2


def test_files_that_are_no_tasks_are_told_once(batch):
    pipe = Skipped(input="a/pipe.png", reason="it is a pipe", kind="not_a_file")
    ended = batch.run([pipe, task(0, batch.folder)])
    assert (ended.progress.skipped, ended.failures) == (1, 0)
    ended = batch.run([pipe, task(0, batch.folder)])
    assert (ended.progress.skipped, ended.progress.already) == (0, 2)


@pytest.mark.parametrize(
    ("existing", "names"),
    [
        ("rename", ["0/00000-1.png", "0/00000.png"]),
        ("skip", ["0/00000.png"]),
        ("overwrite", ["0/00000.png"]),
    ],
)
def test_a_name_that_is_taken(batch, existing, names):
    path = batch.folder / "0/00000.png"
    path.parent.mkdir()
    painted(77).save(path)
    before = path.read_bytes()
    ended = batch.run(batch.tasks(1), existing=existing)
    assert batch.images() == names
    assert (path.read_bytes() == before) is (existing != "overwrite")
    assert ended.progress.skipped == (existing == "skip")
    again = batch.run(batch.tasks(1), existing=existing)
    assert (again.progress.already, batch.made, batch.images()) == (1, [], names)


def test_an_image_nobody_told_of_is_not_made_again(batch):
    StandIn().write(task(1, batch.folder).request)
    ended = batch.run(batch.tasks(3))
    assert sorted(batch.made) == [0, 2]
    assert (ended.progress.done, len(batch.images())) == (3, 3)


def test_the_same_task_twice_in_a_stream_is_made_once(batch):
    ended = batch.run([*batch.tasks(2), *batch.tasks(2)])
    assert sorted(batch.made) == [0, 1]
    assert len(batch.images()) == 2
    assert ended.stopped == "finished"


def test_an_input_that_changed_is_told_as_that(batch, tmp_path):
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(b"new")
    one = task(0, batch.folder, "refused")
    given = ImageInput(path=str(photo), sha256="1" * 64)
    one = replace(one, request=replace(one.request, images=(given,)), input_hash="1" * 64)
    batch.run([one])
    assert batch.records()["0/00000.png"].kind == "input_changed"
    photo.unlink()
    batch.run([one], retry_failed=True)
    record = batch.records()["0/00000.png"]
    assert record.kind == "input_changed" and "can no longer be read" in record.error


def test_asked_to_stop_the_image_is_finished_and_the_rest_is_left(batch):
    stopping = []

    class Slow(StandIn):
        def write(self, request):
            if request.seed == 3:
                stopping.append(True)
            return super().write(request)

    ended = batch.run(batch.tasks(50), Slow(), stopping=lambda: bool(stopping))
    assert ended.stopped == "interrupted"
    assert "3/00003.png" in batch.images()
    assert len(batch.images()) < 50
    assert set(batch.records()) == set(batch.images())
    assert not read_ledger(batch.folder).journals[0].is_ended
    assert batch.run(batch.tasks(50)).stopped == "finished"
    assert len(batch.images()) == 50
    assert read_ledger(batch.folder).journals[0].is_ended


def test_a_stream_that_breaks_off_ends_the_run_and_keeps_what_was_made(batch):
    def stream():
        yield from batch.tasks(3)
        raise ValueError("a bug in the reading")

    with pytest.raises(ValueError, match="a bug in the reading"):
        batch.run(stream())
    assert set(batch.images()) == set(batch.records())


class Gone(BaseException):
    """The end of a process, with nobody left to tell."""


@given(
    st.lists(st.tuples(st.sampled_from(["begun", "written"]), st.integers(1, 6)), max_size=5),
    st.integers(0, 2**16),
    st.sampled_from([1, 1, 3, 4]),
)
def test_ended_anywhere_and_run_again_each_is_there_once(tmp_path_factory, ends, seed, together):
    """As if the power had gone, too: of the manifest any part may be lost that was not synced."""
    batch = Batch(tmp_path_factory.mktemp("batch"))
    rng = random.Random(seed)
    for point, number in ends:
        count = [0]

        def at(where, point=point, number=number, count=count):
            count[0] += where == point
            if count[0] >= number:
                raise Gone

        with contextlib.suppress(Gone):
            batch.run(batch.tasks(8), StandIn(at=at), together=together)
        path = batch.folder / "mezzotint-manifest.jsonl"
        data = path.read_bytes()
        path.write_bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.5 else data)
    ended = batch.run(batch.tasks(8), retry_failed=True, together=together)
    assert ended.failures == 0
    assert batch.images() == sorted(one.output for one in batch.tasks(8))
    for one in batch.tasks(8):
        with Image.open(batch.folder / one.output) as image:
            assert image.tobytes() == painted(one.request.seed).tobytes()
    assert {record.status for record in batch.records().values()} == {"done"}


def test_by_processes_a_poisoned_task_is_set_aside_and_the_others_are_made(tmp_path):
    stream = [task(0, tmp_path), task(1, tmp_path, "poison"), *(task(number, tmp_path) for number in range(2, 8))]
    heard = Heard()
    ended = run(tmp_path, 8, devices=2, stream=stream, listener=heard)
    assert (ended.progress.done, ended.progress.set_aside, ended.failures) == (7, 1, 1)
    (record,) = [one for one in heard.records if one.status == "set_aside"]
    assert (record.attempts, record.kind) == (2, "died")
    assert "2 processes ended while generating it, the last: the engine exited with code 9" in record.error
    assert [code for code, _ in heard.notices] == ["worker_died"]
    again = run(tmp_path, 8, devices=1, stream=stream)
    assert (again.progress.already, again.progress.left_failed) == (7, 1)
