"""A batch that overwrites: what is of others, but never an image of its own."""

import contextlib
from dataclasses import replace

import pytest
from batch_made import Batch
from batch_programs import StandIn, painted, task
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.protocol import Output


@pytest.fixture
def batch(tmp_path):
    return Batch(tmp_path)


def run(batch, names, **options):
    """A job of these names and of what is painted under each; no two names of a job are alike."""
    stream = [placed(task(number, batch.folder, output=name), batch.folder / name) for name, number in names.items()]
    return batch.run(stream, existing="overwrite", **options)


def placed(one, path):
    return replace(one, request=replace(one.request, output=Output(path=str(path))))


def numbers(batch):
    """Whose image each file is, as its pixels say, and as the manifest does."""
    painted_as = {painted(number).tobytes(): number for number in range(20)}
    there = {}
    for name in batch.images():
        with Image.open(batch.folder / name) as image:
            there[name] = painted_as[image.tobytes()]
    told = {name: record.seed for name, record in batch.records().items() if record.status == "done"}
    assert {name: there[name] for name in told} == told
    return there


def test_what_is_of_others_or_was_asked_otherwise_is_replaced(batch):
    painted(9).save(batch.folder / "a.png")
    run(batch, {"a.png": 1, "b.png": 2})
    run(batch, {"a.png": 1, "b.png": 3})
    assert numbers(batch) == {"a.png": 1, "b.png": 3}


@pytest.mark.parametrize("first", [0, 1])
def test_an_image_whose_name_another_is_to_have_now_is_not_lost(batch, first):
    """Another input came, and stands before it in the job: as a.jpg before a.png."""
    run(batch, {"a.png": 1})
    names = list({"a.png": 2, "a-2.png": 1}.items())
    run(batch, dict(names[first:] + names[:first]))
    assert sorted(numbers(batch).values()) == [1, 2]


class Gone(BaseException):
    """The end of a process, with nobody left to tell."""


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from("abcdef"), min_size=1, max_size=6, unique=True),
            st.sampled_from([None, "begun", "written"]),
            st.integers(1, 4),
            st.sampled_from([1, 3]),
        ),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_is_renamed_and_wherever_it_ends_all_images_of_the_last_job_are_there(tmp_path_factory, runs):
    batch = Batch(tmp_path_factory.mktemp("batch"))
    for order, point, number, together in runs:
        count = [0]

        def at(where, point=point, number=number, count=count):
            count[0] += where == point
            if count[0] >= number:
                raise Gone

        names = {f"{place}.png": ord(one) - ord("a") for place, one in enumerate(order)}
        with contextlib.suppress(Gone):
            run(batch, names, engine=StandIn(at=at), together=together)
    ended = run(batch, names, retry_failed=True)
    assert ended.failures == 0
    assert set(numbers(batch).values()) >= set(names.values())
    kept = {record.seed for record in batch.records().values() if record.status == "done"}
    assert kept >= set(names.values())
    again = run(batch, names)
    assert (again.progress.already, batch.made) == (len(names), [])
