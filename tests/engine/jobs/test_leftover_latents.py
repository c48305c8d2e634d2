"""Latents that an earlier run has left: a task is finished from its own, and from no other's."""

import dataclasses
import os
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from queue_programs import WritingEngine

from mezzotint import paths
from mezzotint.errors import DeviceLost, ImageRefused, OutOfMemory
from mezzotint.images.record import ImageRecord
from mezzotint.jobs.drain import DrainControl, drain
from mezzotint.jobs.leftover_latents import matches_exactly
from mezzotint.protocol import (
    Cascade,
    ControlRef,
    DecodeRequest,
    GeneratedImage,
    GenerateRequest,
    ImageInput,
    Inpaint,
    LoraRef,
    ModelRef,
    Output,
    Sampling,
    Saved,
    Stage,
    Transition,
)
from mezzotint.queue_protocol import DrainSettings
from mezzotint.stages.images.pending_decode import PendingDecode, write_latents
from mezzotint.values.regions import RegionRef

CASCADE = Cascade(stages=(Stage(width=64),))


class DecodingEngine(WritingEngine):
    """Dies at its first image with the latents on the disk; then it decodes, or fails as it is told."""

    def __init__(self, *errors):
        super().__init__()
        self.errors = list(errors)
        self.asked = []

    def generate(self, request, on_event, cancelled):
        self.asked.append(request)
        return super().generate(request, on_event, cancelled)

    def decode(self, request, on_event, cancelled):
        self.asked.append(request)
        if self.errors:
            raise self.errors.pop(0)
        image = GeneratedImage(path="/out/7.png", width=1, height=1, seed=7, index=0, sha256="0")
        on_event(Saved(image=image, images=1))
        return image


@pytest.fixture
def work(store):
    heard = []

    def call(engine, **settings):
        control = DrainControl(on_event=heard.append, cancelled=lambda: False, settings=DrainSettings(**settings))
        return drain(store, "me", engine, control, on_ended=heard.append)

    made: Any = call
    made.heard = heard
    return made


@pytest.fixture
def begun(store, tmp_path):
    """A task that was at its decoding when its engine died; its latents."""

    def call(made=None, **changes):
        asked = GenerateRequest(
            **{"prompt": "a house", "seed": 7, "cascade": CASCADE, "output": Output(path=f"{tmp_path}/out/[seed].png")}
            | changes
        )
        store.add([asked])
        store.claim("me")
        path = leave_latents(made or asked, 7, tmp_path / "out" / "7.png")
        store.on_engine_death(1, because="a crash")
        return str(path)

    return call


def leave_latents(request, seed, wanted, written=2e9):
    stages = tuple(dataclasses.replace(stage, model=ModelRef(id="starter/dit")) for stage in request.cascade.stages)
    settled = dataclasses.replace(request, seed=seed, count=1, cascade=Cascade(stages=stages), output=Output())
    image = GeneratedImage(path=wanted.name, width=64, height=64, seed=seed, index=0, sha256="")
    record = ImageRecord(
        schema_version=1,
        program_version="0",
        request=settled,
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
    path = write_latents(paths.undecoded_folder(), torch.zeros(1, 4, 8, 8), PendingDecode(path=wanted, record=record))
    os.utime(path, (written, written))
    return path


def states(store):
    return [task.state for task in store.entry(1).tasks]


def test_an_image_whose_latents_are_there_is_only_decoded(store, work, begun):
    path, engine = begun(), DecodingEngine()
    assert work(engine, device="cpu").done == 1
    assert engine.asked == [DecodeRequest(path=path, device="cpu")]
    assert states(store) == ["done"] and store.row(1).images == 1
    saved, ended = work.heard
    assert isinstance(saved, Saved) and (ended.state, ended.result, ended.error) == ("done", None, None)


def test_the_other_images_of_the_task_are_made_after_it(store, work, begun):
    path, engine = begun(count=3), DecodingEngine()
    assert work(engine).done == 1
    first, second = engine.asked
    assert first.path == path and (second.seed, second.count) == (8, 2)
    assert store.row(1).images == 3


def test_latents_that_cannot_be_decoded_are_left_alone_and_the_image_is_made(store, work, begun):
    begun()
    engine = DecodingEngine(ImageRefused("its latents are not finite"))
    assert work(engine).done == 1
    assert [type(one) for one in engine.asked] == [DecodeRequest, GenerateRequest]


def test_a_decoding_that_kills_the_engine_again_sets_the_task_aside(store, work, begun):
    begun()
    with pytest.raises(DeviceLost):
        work(DecodingEngine(DeviceLost("an illegal memory access")))
    assert states(store) == ["set_aside"]


def test_out_of_memory_in_the_decoding_is_told_and_a_retry_decodes_again(store, work, begun):
    path, engine = begun(), DecodingEngine(OutOfMemory("the GPU ran out of memory"))
    assert work(engine).failed == 1
    store.retry([1])
    assert work(engine).done == 1
    assert engine.asked == [DecodeRequest(path=path)] * 2


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
def test_latents_of_another_request_are_not_taken(work, begun, request_of, other, tmp_path):
    begun(made=request_of("a house", cascade=CASCADE), **other)
    engine = DecodingEngine()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WritingEngine, "write", lambda self, request, index: image_of(request, index))
        work(engine)
    assert [type(one) for one in engine.asked] == [GenerateRequest]


def image_of(request, index):
    return GeneratedImage(path="/x.png", width=1, height=1, seed=request.seed + index, index=index, sha256="0")


def test_latents_older_than_the_task_are_not_taken(store, work, request_of, tmp_path):
    asked = request_of("a house", cascade=CASCADE)
    leave_latents(asked, 7, tmp_path / "nowhere" / "7.png", written=1000)
    store.add([asked])
    engine = DecodingEngine()
    assert work(engine).done == 1 and isinstance(engine.asked[0], GenerateRequest)


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff" * 8, b"\x02\0\0\0\0\0\0\0{}", (2**40).to_bytes(8, "little"), b"\x04\0\0\0\0\0\0\0[[[["],
)
def test_files_that_are_no_latents_are_passed_over(store, work, request_of, data):
    folder = paths.undecoded_folder()
    folder.mkdir(parents=True)
    path = folder / "x.latents.safetensors"
    path.write_bytes(data)
    os.utime(path, (2e9, 2e9))
    store.add([request_of("a house")])
    engine = DecodingEngine()
    assert work(engine).done == 1 and isinstance(engine.asked[0], GenerateRequest)


# ---- whether they are of this request

MASKED = RegionRef(mask="/m.png", prompt="a")
CONTROL = ControlRef(image="/a.png", model="/canny")
MADE_WITH = {"sha256": "0", "image_sha256": "1", "encoder": "clip", "encoder_sha256": "2"}
SAID = {
    "prompt": st.sampled_from(["a", "b"]),
    "negative_prompt": st.sampled_from(["", "rain"]),
    "strength": st.none() | st.sampled_from([0.3, 0.6]),
    "inpaint": st.none() | st.sampled_from([Inpaint(), Inpaint(left=8)]),
    "images": st.sampled_from([(), (ImageInput(path="/a.png"),), (ImageInput(path="/b.png", role="mask"),)]),
    "embeddings": st.sampled_from([(), ("/e",)]),
    "loras": st.sampled_from([(), (LoraRef(path="/l"),), (LoraRef(path="/l", weight=0.5),)]),
    "controls": st.sampled_from(
        [(), (CONTROL,), (dataclasses.replace(CONTROL, weight=0.5),), (dataclasses.replace(CONTROL, mask="/m"),)]
    ),
    "regions": st.sampled_from([(), (RegionRef(prompt="a"),), (MASKED,), (dataclasses.replace(MASKED, weight=0.5),)]),
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
        controls=tuple(dataclasses.replace(one, **MADE_WITH) for one in request.controls),
        regions=tuple(dataclasses.replace(one, mask_sha256=one.mask and "2") for one in request.regions),
        strength=request.strength if request.strength is not None else 0.9,
        dtype="float32" if request.dtype == "auto" else request.dtype,
        quantization="none" if request.quantization == "auto" else request.quantization,
        text_quantization="none" if request.text_quantization == "auto" else request.text_quantization,
        output=Output(),
        count=1,
    )


@given(REQUESTS)
def test_what_the_engine_settled_agrees_with_what_was_asked(request_):
    assert matches_exactly(request_, filled(request_))


@given(REQUESTS, REQUESTS)
def test_nothing_that_was_said_otherwise_agrees(one, other):
    if matches_exactly(one, filled(other)):
        for name in ("prompt", "negative_prompt", "images", "embeddings", "loras", "controls", "regions"):
            assert getattr(one, name) == getattr(other, name)
        assert len(one.cascade.stages) == len(other.cascade.stages)
        for asked, made in zip(one.cascade.stages, filled(other).cascade.stages, strict=True):
            assert asked.width in (None, made.width) and asked.sampling.steps in (None, made.sampling.steps)
