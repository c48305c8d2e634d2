"""Requests as the queue keeps them."""

import os
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from mezzotint.errors import ProtocolError, UsageError
from mezzotint.images.naming import NameFields, image_path
from mezzotint.jobs.requests import apply_diff, diff, resolve, run_key, steps_of, title_of
from mezzotint.protocol import (
    Cascade,
    ControlRef,
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
from mezzotint.stages.images.request_images import natural_size
from mezzotint.values.details import DetailRef
from mezzotint.values.regions import RegionRef

REQUESTS = st.builds(
    GenerateRequest,
    prompt=st.text(),
    negative_prompt=st.text(max_size=5),
    seed=st.none() | st.integers(0, 2**63 - 2),
    count=st.integers(1, 2),
    strength=st.none() | st.floats(0, 1),
    quantization=st.sampled_from(["auto", "int8"]),
    loras=st.lists(st.builds(LoraRef, path=st.text(max_size=5), weight=st.floats(-2, 2)), max_size=2).map(tuple),
)


@given(REQUESTS, REQUESTS)
def test_what_is_written_as_a_change_is_read_again(base, request):
    assert apply_diff(base, diff(base, request)) == request


@pytest.mark.parametrize("written", ["[]", "{", '{"seed": "x"}', '{"colour": 1}', '{"seed": null, "prompt": 5}', "5"])
def test_what_is_no_change_is_refused(written):
    with pytest.raises(ProtocolError):
        apply_diff(GenerateRequest(prompt="x"), written)


@given(REQUESTS)
def test_a_seed_is_fixed(request):
    resolved = resolve(request)
    assert resolved.request.seed == resolved.seed is not None
    assert resolved.drawn == (request.seed is None)
    assert request.seed in (None, resolved.seed)
    assert resolve(resolved.request).request == resolved.request


@pytest.mark.parametrize(
    "changes", [{"seed": -1}, {"seed": 2**63}, {"seed": 2**63 - 1, "count": 2}, {"count": 0}, {"count": -5}]
)
def test_what_cannot_be_made_is_not_queued(changes):
    with pytest.raises(UsageError):
        resolve(GenerateRequest(prompt="x", **changes))


@pytest.mark.parametrize("path", [None, "out/", "[seed].png", "folder", "a/b[date]", "/abs/[seed].png", "~/x/"])
def test_images_go_where_they_would_have_gone_from_the_folder_of_then(path, tmp_path, monkeypatch):
    """The name of that folder may look like a template, too."""
    here, elsewhere = tmp_path / "in [seed] here", tmp_path / "elsewhere"
    (here / "folder").mkdir(parents=True)
    elsewhere.mkdir()
    names = NameFields(
        seed=5,
        prompt="p",
        model="m",
        width=1,
        height=1,
        steps=1,
        sampler="s",
        index=0,
        count=1,
        now=datetime(2026, 1, 1),
    )
    monkeypatch.chdir(here)
    output = Output(path=path, preview_folder="steps", preview_decoder="taesd.safetensors")
    wanted = image_path(output, names).absolute()
    resolved = resolve(GenerateRequest(prompt="x", output=output)).request.output
    monkeypatch.chdir(elsewhere)
    assert image_path(resolved, names).absolute() == wanted
    assert resolved.preview_folder == str(here / "steps")
    assert resolved.preview_decoder == str(here / "taesd.safetensors")
    assert resolve(GenerateRequest(prompt="x")).request.output.preview_decoder == "auto"


def test_files_are_found_from_everywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.safetensors").touch()
    (tmp_path / "4x.pth").touch()
    (tmp_path / "sdxl-base").mkdir()
    (tmp_path / "nets").mkdir()
    stages = (
        Stage(
            model=ModelRef(id="m.safetensors", vae="v", text_encoders=("t",)),
            weights="w.gguf",
            loras=(LoraRef(path="l"),),
        ),
        Stage(model=ModelRef(id="sdxl-base")),  # an id, though there is a folder of that name
        Stage(model=ModelRef(id="gone.safetensors")),
    )
    request = GenerateRequest(
        prompt="x",
        images=(ImageInput(path="../i.png"),),
        embeddings=("e",),
        loras=(LoraRef(path="/abs/l"),),
        controls=(ControlRef(image="c.png", model="nets/a"), ControlRef(image="c.png", model="union")),
        init_upscaler="4x-Sharp",
        regions=(RegionRef(mask="m.png", prompt="a"), RegionRef(prompt="b")),
        details=(DetailRef(label="face", model="./nets"), DetailRef(label="face", model="rtdetr")),
        cascade=Cascade(stages=stages, transitions=(Transition(upscaler="4x.pth"), Transition())),
    )
    resolved = resolve(request).request
    here = f"{tmp_path}{os.sep}"
    assert resolved.images[0].path == str(tmp_path.parent / "i.png")
    assert resolved.embeddings == (f"{here}e",)
    assert resolved.loras[0].path == str(Path("/abs/l").absolute())
    assert (resolved.controls[0].image, resolved.controls[0].model) == (f"{here}c.png", f"{here}nets{os.sep}a")
    assert resolved.controls[1].model == "union"  # a name
    assert [one.upscaler for one in resolved.cascade.transitions] == [f"{here}4x.pth", "bicubic"]
    assert resolved.init_upscaler == "4x-Sharp"
    assert [region.mask for region in resolved.regions] == [f"{here}m.png", None]
    assert [detail.model for detail in resolved.details] == [f"{here}nets", "rtdetr"]
    first, second, third = resolved.cascade.stages
    assert (first.model.id, first.weights, first.loras[0].path) == (f"{here}m.safetensors", f"{here}w.gguf", f"{here}l")
    assert first.model.parts == (f"{here}v", f"{here}t")
    assert (second.model.id, third.model.id) == ("sdxl-base", "gone.safetensors")


@given(st.text())
def test_a_title_is_one_short_line(prompt):
    title = title_of(GenerateRequest(prompt=prompt))
    assert len(title) <= 200
    assert len(title.splitlines()) <= 1


def stage(steps=20, **changes):
    return Stage(sampling=Sampling(steps=steps), **changes)


@pytest.mark.parametrize(
    ("cascade", "strength", "steps"),
    [
        (Cascade(stages=(stage(30),)), None, 30),
        (Cascade(stages=(stage(30),)), 0.5, 15),
        (Cascade(stages=(stage(20, until=0.8), stage(20)), transitions=(Transition(),)), None, 20),
        (Cascade(stages=(stage(20), stage(20)), transitions=(Transition(scale=2, strength=0.5),)), None, 30),
        (Cascade(stages=(stage(None),)), None, 0),
        (Cascade(stages=()), None, 0),
        (Cascade(stages=(stage(1),)), 0.0, 1),
    ],
)
def test_steps_that_are_said(cascade, strength, steps):
    assert steps_of(GenerateRequest(prompt="x", cascade=cascade, strength=strength)) == steps


def test_what_makes_a_difference_in_time_makes_another_key():
    base = GenerateRequest(prompt="x", cascade=Cascade(stages=(Stage(model=ModelRef(id="m"), width=512, height=512),)))
    same = replace(base, prompt="y", seed=3, count=5)
    assert run_key(base) == run_key(same)
    hires = Cascade(stages=(*base.cascade.stages, Stage()), transitions=(Transition(scale=1.5, strength=0.5),))
    others = [
        replace(base, device="cpu"),
        replace(base, quantization="int8"),
        replace(base, cascade=hires),
        replace(base, cascade=Cascade(stages=(Stage(model=ModelRef(id="m"), width=512, height=768),))),
        replace(base, cascade=Cascade(stages=(Stage(model=ModelRef(id="n"), width=512, height=512),))),
    ]
    assert len({run_key(one) for one in [base, *others]}) == 6


def with_init(path, size, **fields):
    Image.new("RGB", size).save(path)
    cascade = Cascade(stages=(Stage(model=ModelRef(id="m"), **fields),))
    return GenerateRequest(prompt="x", cascade=cascade, images=(ImageInput(path=str(path)),))


def sized_key(request):
    return run_key(request, natural_size)


def test_without_reading_images_the_size_is_left_open(tmp_path):
    assert run_key(with_init(tmp_path / "a.png", (64, 64))).width == 0


def test_a_size_that_an_init_image_gives_makes_another_key(tmp_path):
    small, wide = with_init(tmp_path / "a.png", (64, 64)), with_init(tmp_path / "b.png", (1, 1000))
    keys = [sized_key(one) for one in (small, wide, replace(small, images=()))]
    assert [(key.width, key.height) for key in keys] == [(64, 64), (64, 16384), (0, 0)]
    assert sized_key(with_init(tmp_path / "c.png", (640, 480), width=512, height=512)).width == 512
    assert (sized_key(with_init(tmp_path / "d.png", (640, 480), width=320)).height) == 480
    references = replace(small, images=(ImageInput(path=str(tmp_path / "b.png"), role="reference"),))
    assert sized_key(references).height == 16384


def test_an_image_that_cannot_be_read_leaves_the_size_open(tmp_path):
    request = with_init(tmp_path / "a.png", (64, 64))
    (tmp_path / "a.png").write_bytes(b"no image")
    assert sized_key(request).width == 0
    (tmp_path / "a.png").unlink()
    assert sized_key(request).width == 0
    grown = replace(with_init(tmp_path / "e.png", (64, 64)), inpaint=Inpaint(left=64))
    assert (sized_key(grown).width, sized_key(grown).height) == (128, 64)
