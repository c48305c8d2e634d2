"""Images that are made again from what they say, which may have been written to hurt."""

import json
import unicodedata
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from batch_programs import StandIn
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from mezzotint.batch.job.job import InputFolder, JobFile
from mezzotint.batch.tasks.skipped import Skipped
from mezzotint.batch.tasks.tasks import BatchTask, tasks_of
from mezzotint.images.untrusted import MAX_TEXT
from mezzotint.protocol import Cascade, GenerateRequest, LoraRef, ModelRef, Output, Stage
from mezzotint.request_protocol import MAX_SEED

JOB = JobFile(input=InputFolder(folder="in", work="again"))
GOOD = "a tree\nSteps: 9, Sampler: Euler, CFG scale: 4, Seed: 77, Size: 64x32"
HOSTILE = (
    *(None, True, -1, 2**70, float("inf"), float("nan"), [], {}),
    *("~nobody-is-called/x", "../../x", "/dev/zero", "a\0b", "\x1b[31m", "\ud800", "x" * 70_000, "[seed]/[nobody]"),
)


def said(folder, **texts):
    """An image with these texts, and one after it that is as it should be."""
    for name, chunks in (("a.png", texts), ("b.png", {"parameters": GOOD})):
        info = PngInfo()
        for key, text in chunks.items():
            info.add_text(key, text, zip=len(text) > 1000)
        (folder / "in").mkdir(exist_ok=True)
        Image.new("RGB", (8, 8)).save(folder / "in" / name, pnginfo=info)
    first, last = tasks_of(JOB, base=folder)
    assert isinstance(last, BatchTask)
    assert (last.input, last.output, last.request.prompt, last.request.seed) == ("b.png", "b.png", "a tree", 77)
    return first


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """What an image of ours says, as data."""
    stage = Stage(model=ModelRef(id="m"), width=64, height=64, weights="w.safetensors")
    request = GenerateRequest(
        prompt="a house",
        cascade=Cascade(stages=(stage,)),
        seed=3,
        embeddings=("e.safetensors",),
        loras=(LoraRef(path="l.safetensors"),),
        output=Output(path=str(tmp_path_factory.mktemp("made") / "a.png")),
    )
    path = StandIn().write(request).path
    with Image.open(path) as image:
        return json.loads(image.info["mezzotint"])


def test_markup_controls_and_a_megabyte_are_plain_words(tmp_path):
    words = "<img src=file:///etc/passwd> \x1b[31m\x07\u202e" + "tree " * 200_000
    task = said(tmp_path, parameters=f"{words}\nSteps: 9, Sampler: Euler, CFG scale: 4, Seed: 7, Size: 64x32")
    assert not [one for one in task.request.prompt if unicodedata.category(one) == "Cc"]
    assert MAX_TEXT < len(task.request.prompt) < MAX_TEXT + 100  # the engine then says how many it reads
    short = said(tmp_path, parameters=f"{words[:60]}\nSteps: 9, Sampler: Euler, CFG scale: 4, Seed: 7, Size: 64x32")
    assert short.request.prompt.startswith("<img src=file:///etc/passwd> [31m")
    assert short.output == "a.png"


@pytest.mark.parametrize("key", ["parameters", "prompt", "invokeai_metadata", "mezzotint", "workflow"])
@pytest.mark.parametrize("text", ['{"a":' * 10_000, "[" * 10_000, "{" + "}" * 10_000, "\u2028", "{}", "null"])
def test_nesting_without_end_and_nonsense_are_passed_over_with_a_reason(tmp_path, key, text):
    first = said(tmp_path, **{key: text})
    if key == "parameters" and not text.startswith("{"):  # what is no JSON may be words
        assert isinstance(first, BatchTask)
        return
    assert (first.input, first.kind) == ("a.png", "usage")
    assert "a.png has no metadata about how it was made" in first.reason and len(first.reason) < 1000


def test_what_is_malformed_in_part_is_taken_in_part(tmp_path):
    task = said(tmp_path, parameters="a bush\nSteps: many, Sampler: Nobody, CFG scale: nan, Seed: -5, Size: 0x")
    stage = task.request.cascade.stages[0]
    assert (task.request.prompt, stage.sampling.steps, stage.sampling.sampler) == ("a bush", None, None)
    assert 0 <= task.request.seed <= MAX_SEED


@given(st.text(max_size=200), st.sampled_from(["", GOOD, "\nSteps: 2, Seed: ", '{"sui_image_params": {"prompt": ']))
def test_no_text_of_another_program_ends_the_job(tmp_path_factory, text, start):
    text = text.encode("utf-8", "ignore").decode()
    said(tmp_path_factory.getbasetemp(), parameters=f"{start}{text}")


def places(data, way=()):
    """The ways to every value of a record."""
    yield way
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in items:
        yield from places(value, (*way, key))


def with_value(data, way, value):
    if not way:
        return value
    copy = data.copy()
    copy[way[0]] = with_value(data[way[0]], way[1:], value)
    return copy


def test_our_own_record_with_any_value_in_any_place_harms_nobody(tmp_path, record):
    """Every place once with every value that might: a path into a home that nobody has once ended whole runs."""
    folder = tmp_path / "in"
    folder.mkdir()
    ways = [way for way in places(record) if way[:1] in ((), ("request",), ("schema_version",))]
    count = 0
    for way in ways:
        for value in HOSTILE:
            info = PngInfo()
            info.add_text("mezzotint", json.dumps(with_value(record, way, value)))
            Image.new("RGB", (2, 2)).save(folder / f"{count:05d}.png", pnginfo=info, compress_level=0)
            count += 1
    found = list(tasks_of(JOB, base=tmp_path))
    assert len(found) == count
    assert {type(one) for one in found} == {BatchTask, Skipped}
    for one in found:
        if isinstance(one, BatchTask):
            assert PurePosixPath(one.output) == PurePosixPath(one.input)
            assert Path(one.request.output.path) == tmp_path / "out" / one.output
            asked = replace(one.request.output, path=None, required_folder=None)
            assert (asked, one.request.count) == (Output(), 1)
        else:
            assert one.reason and one.reason.isprintable()


@pytest.mark.parametrize("path", ["//server/share/l.safetensors", "\\\\server\\share\\l.safetensors"])
def test_a_record_calls_no_other_computer(tmp_path, record, path):
    stages = with_value(record, ("request", "loras", 0, "path"), path)
    assert "on another computer" in said(tmp_path, mezzotint=json.dumps(stages)).reason
