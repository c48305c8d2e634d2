"""Latents that a job left: a task is finished from its own, and from no other's."""

import dataclasses
import json
import os

import pytest
from draining import House
from hypothesis import given
from hypothesis import strategies as st

from mezzotint import paths
from mezzotint.codec import encode
from mezzotint.protocol import (
    Cascade,
    DecodeRequest,
    GenerateRequest,
    ImageInput,
    Inpaint,
    LoraRef,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Transition,
)
from mezzotint_app.viewmodel.queue.leftover_latents import agrees

pytestmark = pytest.mark.requires_package("PySide6")


@pytest.fixture
def house(tmp_path, inline):
    house = House(tmp_path, inline).open()
    yield house
    house.engine.now = "stopped"
    house.close()
    house.access.close()


# ---- images that are made but not decoded


def settled(request, seed):
    stages = tuple(
        dataclasses.replace(stage, model=ModelRef(id="starter/dit", sha256="0")) for stage in request.cascade.stages
    )
    return dataclasses.replace(request, seed=seed, count=1, cascade=Cascade(stages=stages), output=Output())


def write_latents(request, seed, wanted, name="a"):
    """As a job leaves them, but for the numbers."""
    folder = paths.undecoded_folder()
    folder.mkdir(parents=True, exist_ok=True)
    record = json.dumps({"request": encode(settled(request, seed)), "other": 1})
    about = {"mezzotint_record": record, "mezzotint_path": str(wanted)}
    header = json.dumps({"__metadata__": about, "latents": {"dtype": "F32"}}).encode()
    path = folder / f"{name}-{seed}-0.latents.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + b"\0" * 16)
    return path


def begun(house, **changes):
    """A task that was at its decoding when the engine died; its latents."""
    entry = house.add("a house", cascade=Cascade(stages=(Stage(width=64),)), **changes)
    path = write_latents(house.asked()[-1], 7, house.folder / "out" / "a.png")
    house.engine.die()
    house.engine.become("ready")
    return entry, path


def test_a_picture_whose_latents_are_there_is_only_decoded(house):
    entry, path = begun(house)
    question = house.engine.last()
    assert question.method == "decode" and question.params == DecodeRequest(path=str(path))
    house.save(7, method="decode")
    house.engine.answer(house.image(7), method="decode")
    assert house.states_of(entry) == ["done"]
    assert house.story[-2:] == [("saved", 1, 7), ("ended", 1, None)]


def test_the_other_pictures_of_the_task_are_made_after_it(house):
    begun(house, count=3)
    house.engine.answer(house.image(7), method="decode")
    assert [(request.seed, request.count) for request in house.asked()] == [(7, 3), (8, 2)]


def test_latents_that_cannot_be_decoded_are_left_alone_and_the_picture_is_made(house):
    entry, _ = begun(house)
    house.engine.fail("image_refused", "its latents are not finite", method="decode")
    assert house.engine.last().method == "generate"
    house.succeed()
    assert house.states_of(entry) == ["done"]


def test_a_decoding_that_kills_the_engine_again_sets_the_task_aside(house):
    entry, _ = begun(house)
    house.engine.die()
    assert house.states_of(entry) == ["set_aside"]


def test_out_of_memory_in_the_decoding_is_told_and_a_retry_decodes_again(house):
    entry, path = begun(house)
    house.engine.fail("out_of_memory", "the GPU ran out of memory", method="decode")
    assert house.states_of(entry) == ["failed"]
    house.access.change(lambda store: store.retry([entry]))
    assert house.engine.last().params == DecodeRequest(path=str(path))


@pytest.mark.parametrize(
    "other",
    [
        {"prompt": "another house"},
        {"negative_prompt": "rain"},
        {"seed": 8},
        {"cascade": Cascade(stages=(Stage(width=128),))},
        {"strength": 0.5},
        {"output": Output(path="/elsewhere/")},
        {"quantization": "int8"},
        {"embeddings": ("/a.safetensors",)},
    ],
)
def test_latents_of_another_request_are_not_taken(house, other):
    house.runner.pause()
    path = write_latents(
        house.request("a house", cascade=Cascade(stages=(Stage(width=64),))), 7, house.folder / "out/a.png"
    )
    os.utime(path, (2e9, 2e9))
    house.add(other.pop("prompt", "a house"), **{"cascade": Cascade(stages=(Stage(width=64),))} | other)
    house.runner.resume()
    assert house.engine.last().method == "generate"


def test_latents_older_than_the_task_are_not_taken(house):
    cascade = Cascade(stages=(Stage(width=64),))
    path = write_latents(house.request("a house", cascade=cascade), 7, house.folder / "out/a.png")
    os.utime(path, (1e9, 1e9))
    house.add("a house", cascade=cascade)
    assert house.engine.last().method == "generate"


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0{}", (2**40).to_bytes(8, "little"), b"\x04\0\0\0\0\0\0\0[[[["],
)
def test_files_that_are_no_latents_are_passed_over(house, data):
    folder = paths.undecoded_folder()
    folder.mkdir(parents=True)
    path = folder / "x.latents.safetensors"
    path.write_bytes(data)
    os.utime(path, (2e9, 2e9))
    house.add("a house")
    assert house.engine.last().method == "generate"


# ---- whether they are of this request

SAID = {
    "prompt": st.sampled_from(["a", "b"]),
    "negative_prompt": st.sampled_from(["", "rain"]),
    "strength": st.none() | st.sampled_from([0.3, 0.6]),
    "inpaint": st.none() | st.sampled_from([Inpaint(), Inpaint(left=8)]),
    "images": st.sampled_from([(), (ImageInput(path="/a.png"),), (ImageInput(path="/b.png", role="mask"),)]),
    "embeddings": st.sampled_from([(), ("/e",)]),
    "loras": st.sampled_from([(), (LoraRef(path="/l"),), (LoraRef(path="/l", weight=0.5),)]),
    "dtype": st.sampled_from(["auto", "float16"]),
    "quantization": st.sampled_from(["auto", "int8"]),
    "text_quantization": st.sampled_from(["auto", "int8"]),
}
STAGES = st.builds(
    Stage,
    model=st.none() | st.sampled_from([ModelRef(id="x"), ModelRef(id="/models/y")]),
    width=st.none() | st.just(64),
    until=st.none() | st.just(0.8),
    sampling=st.builds(
        Sampling, sampler=st.none() | st.just("euler"), steps=st.none() | st.just(4), clip_skip=st.none() | st.just(1)
    ),
    loras=st.none() | st.just((LoraRef(path="/l"),)),
    weights=st.none() | st.just("/w"),
)
CASCADES = st.builds(
    Cascade,
    stages=st.lists(STAGES, min_size=1, max_size=2).map(tuple),
    transitions=st.lists(st.builds(Transition, scale=st.sampled_from([1.0, 2.0])), max_size=1).map(tuple),
)
REQUESTS = st.builds(GenerateRequest, cascade=CASCADES, **SAID)


def filled(request):
    """As the engine settles what was left open."""
    stages = tuple(
        dataclasses.replace(
            stage,
            model=stage.model or ModelRef(id="starter-dit"),
            width=stage.width or 512,
            sampling=dataclasses.replace(
                stage.sampling,
                sampler=stage.sampling.sampler or "ddim",
                steps=stage.sampling.steps or 20,
                clip_skip=stage.sampling.clip_skip or 0,
            ),
        )
        for stage in request.cascade.stages
    )
    return dataclasses.replace(
        request,
        cascade=dataclasses.replace(request.cascade, stages=stages),
        strength=request.strength if request.strength is not None else 0.9,
        dtype="float32" if request.dtype == "auto" else request.dtype,
        quantization="none" if request.quantization == "auto" else request.quantization,
        text_quantization="none" if request.text_quantization == "auto" else request.text_quantization,
        output=Output(),
        count=1,
    )


@given(REQUESTS)
def test_what_the_engine_settled_agrees_with_what_was_asked(request_):
    assert agrees(request_, filled(request_))


@given(REQUESTS, REQUESTS)
def test_nothing_that_was_said_otherwise_agrees(one, other):
    if agrees(one, filled(other)):
        for name in ("prompt", "negative_prompt", "images", "embeddings", "loras"):
            assert getattr(one, name) == getattr(other, name)
        assert len(one.cascade.stages) == len(other.cascade.stages)
        for asked, made in zip(one.cascade.stages, filled(other).cascade.stages, strict=True):
            assert asked.width in (None, made.width) and asked.sampling.steps in (None, made.sampling.steps)
