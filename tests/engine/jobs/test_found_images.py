"""Images that were made, and nobody could tell the queue."""

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from queue_programs import WritingEngine

from mezzotint.images.encoding import encode_image
from mezzotint.images.naming import NameFields, image_path
from mezzotint.images.record import ImageRecord
from mezzotint.jobs.found_images import found_images, matches_loosely, same_model
from mezzotint.jobs.tasks import Task
from mezzotint.protocol import Cascade, GeneratedImage, GenerateRequest, ModelRef, Output, Sampling, Stage

STAGE = Stage(model=ModelRef(id="m"), width=8, height=8, sampling=Sampling(steps=5, guidance_scale=2.0))


def task_of(request, made=()):
    images = tuple(GeneratedImage(path=f"{one}", width=1, height=1, seed=1, index=one, sha256="") for one in made)
    return Task(
        id=1,
        entry=1,
        index=0,
        request=request,
        state="running",
        attempts=1,
        error_kind=None,
        error=None,
        images=images,
        seconds=None,
    )


def nothing(_):
    return set()


def record_of(request, seed):
    image = GeneratedImage(path="x", width=8, height=8, seed=seed, index=0, sha256="ab")
    return ImageRecord(
        schema_version=1,
        program_version="0",
        request=replace(request, seed=seed, count=1, output=Output()),
        image=image,
        stages=(),
        transitions=(),
        images_used=(),
        device="cpu",
        device_name="",
        dtype="float32",
        attention="sdpa",
        threads=1,
        versions={},
    )


def write(path, request, seed):
    """An image of ours, as the engine writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(encode_image(Image.new("RGB", (8, 8)), path.suffix, record_of(request, seed)))
    return str(path)


@pytest.fixture
def request_in(tmp_path):
    def call(name="[seed].png", **changes):
        values = {"prompt": "a <b> & 'c' \u00fc", "seed": 7, "count": 3, "cascade": Cascade(stages=(STAGE,))}
        return GenerateRequest(**values | changes, output=Output(path=f"{tmp_path}/{name}"))

    return call


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".webp"])
def test_found_in_files_of_every_kind(tmp_path, request_in, suffix):
    request = request_in(f"[seed]{suffix}")
    path = write(tmp_path / f"8{suffix}", request, 8)
    (found,) = found_images(task_of(request), 0, nothing)
    assert (found.path, found.seed, found.index, found.sha256) == (path, 8, 1, "ab")


def test_only_what_is_missing_is_looked_for(tmp_path, request_in):
    request = request_in()
    for seed in (6, 7, 8, 9, 10):
        write(tmp_path / f"{seed}.png", request, seed)
    assert [one.index for one in found_images(task_of(request, made=[0]), 0, nothing)] == [1, 2]
    assert found_images(task_of(request, made=[0, 1, 2]), 0, nothing) == []


def test_what_the_queue_knows_is_another_ones(tmp_path, request_in):
    request = request_in()
    path = write(tmp_path / "8.png", request, 8)
    assert found_images(task_of(request), 0, lambda paths: {path} & set(paths)) == []


def test_what_was_there_before_is_not_counted(tmp_path, request_in):
    request = request_in()
    path = Path(write(tmp_path / "8.png", request, 8))
    os.utime(path, (1000, 1000))
    assert found_images(task_of(request), 1002, nothing) != []  # disks keep times coarsely
    assert found_images(task_of(request), 1010, nothing) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"prompt": "another"},
        {"negative_prompt": "rain"},
        {"cascade": Cascade(stages=(replace(STAGE, width=16),))},
        {"cascade": Cascade(stages=(replace(STAGE, model=ModelRef(id="n")),))},
        {"cascade": Cascade(stages=(replace(STAGE, sampling=Sampling(steps=6, guidance_scale=2.0)),))},
        {"cascade": Cascade(stages=(STAGE, STAGE))},
    ],
)
def test_an_image_of_something_else_is_none_of_it(tmp_path, request_in, changes):
    write(tmp_path / "8.png", replace(request_in(), **changes), 8)
    assert found_images(task_of(request_in()), 0, nothing) == []


def test_what_was_left_open_may_be_anything(tmp_path, request_in):
    write(tmp_path / "8.png", request_in(), 8)
    asked = request_in(cascade=Cascade(stages=(Stage(),)), prompt="a <b> & 'c' \u00fc <lora:ink:0.5>")
    assert len(found_images(task_of(asked), 0, nothing)) == 1


def test_twins_count_once(tmp_path, request_in):
    for name in ("8.png", "8-1.png"):
        write(tmp_path / name, request_in(), 8)
    assert len(found_images(task_of(request_in()), 0, nothing)) == 1


@given(
    st.sampled_from(
        [
            "[seed]",
            "[date]/[prompt]-[index]",
            "x [[y/[model]",
            "[prompt]",
            "a.b[seed]",
            "plain",
            "[count]/[seed]/",
            "o: [seed]",
        ]
    ),
    st.text(max_size=10),
    st.sampled_from([".png", ".jpg"]),
)
def test_wherever_the_engine_puts_it_it_is_found(tmp_path_factory, template, prompt, suffix):
    folder = tmp_path_factory.mktemp("out")
    path = f"{folder}/{template}" + ("" if template.endswith("/") else suffix)
    request = GenerateRequest(prompt=prompt, seed=7, count=2, output=Output(path=path))
    fields = NameFields(
        seed=8,
        prompt=prompt,
        model="m",
        width=8,
        height=8,
        steps=5,
        sampler="s",
        index=1,
        count=2,
        now=datetime(2026, 1, 2),
    )
    wanted = image_path(request.output, fields)
    write(wanted.with_stem(f"{wanted.stem}-3"), request, 8)  # the name was taken
    (found,) = found_images(task_of(request), 0, nothing)
    assert found.index == 1


@pytest.mark.parametrize(
    "content",
    [b"", b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\n" + b"\xff" * 100, b"<mezzotint:record>{}</mezzotint:record>"],
)
def test_files_of_others_are_passed_over(tmp_path, request_in, content):
    (tmp_path / "8.png").write_bytes(content)
    (tmp_path / "7.png").mkdir()
    assert found_images(task_of(request_in()), 0, nothing) == []


def test_nowhere_to_look(request_in):
    assert found_images(task_of(request_in("gone/[date]/[seed].png")), 0, nothing) == []
    assert found_images(task_of(GenerateRequest(prompt="x", seed=1)), 0, nothing) == []


def test_any_words_of_a_record_are_taken_as_a_strangers(tmp_path, request_in, monkeypatch):
    request = request_in()
    write(tmp_path / "8.png", request, 8)
    data = (tmp_path / "8.png").read_bytes()
    for at in range(0, len(data), 37):
        (tmp_path / "8.png").write_bytes(data[:at] + b"\xee" + data[at + 1 :])
        assert len(found_images(task_of(request), 0, nothing)) <= 1


def test_the_queue_takes_them_over(store, tmp_path):
    """Claimed, written, and then the end: it is done all the same."""
    store.add([GenerateRequest(prompt="p", seed=5, output=Output(path=f"{tmp_path}/[seed].png"))])
    task = store.claim("dead")
    store._now = lambda: 0.0
    store._database.connection.execute("UPDATE entries SET started = 0")
    WritingEngine().write(task.request, 0)
    assert store.recover(lambda _: False).done == (task.id,)
    assert store.row(1).first_image == f"{tmp_path}/5.png"


def test_a_model_with_another_vae_is_another():
    made = ModelRef(id="flux", sha256="ab", vae="/data/v.safetensors")
    assert same_model(ModelRef(id="/models/flux", vae="v.safetensors"), made)
    assert not same_model(ModelRef(id="flux"), made)
    assert not same_model(ModelRef(id="flux", vae="w.safetensors"), made)


@pytest.mark.parametrize("tag", ["<lora:a:1>", "<lyco:a>", ""])
def test_tags_of_loras_may_differ_and_words_may_not(tag):
    asked, made = (GenerateRequest(prompt=f"a {words}{tag}", cascade=Cascade(stages=(STAGE,))) for words in "xy")
    assert matches_loosely(asked, replace(asked, prompt="a  x")) and not matches_loosely(asked, made)


def test_a_prompt_of_unfinished_tags_takes_no_time():
    request = GenerateRequest(prompt="<lora:" * 50_000, cascade=Cascade(stages=(STAGE,)))
    assert matches_loosely(request, request)
