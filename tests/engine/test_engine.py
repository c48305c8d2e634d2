"""The engine on small random models: what goes in decides what comes out, and what cannot be done is refused whole."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from recorded_again import read_metadata
from tiny_pixart import write_tiny_pixart

from mezzotint import codec
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled, DeviceLost, ImageRefused, MezzotintError, OutOfMemory, UnknownModel, UsageError
from mezzotint.families.sdxl.family import Sdxl
from mezzotint.protocol import (
    Cascade,
    Decoding,
    Encoding,
    GenerateRequest,
    GenerateResult,
    ImageInput,
    Loading,
    ModelRef,
    Notice,
    Output,
    Sampling,
    Saved,
    Stage,
    Step,
    Transition,
)

SIDE = 64


@pytest.fixture(scope="module")
def engine():
    return Engine(Catalog.standard())


@pytest.fixture
def request_for(tmp_path):
    def build(folder: Path, **fields) -> GenerateRequest:
        stage = Stage(
            model=ModelRef(id=str(folder)),
            width=fields.pop("width", SIDE),
            height=fields.pop("height", SIDE),
            sampling=Sampling(steps=fields.pop("steps", 3), **fields.pop("sampling", {})),
        )
        fields = {"prompt": "a red house", "seed": 7, "output": Output(path=f"{tmp_path}/out/")} | fields
        return GenerateRequest(**{"cascade": Cascade(stages=(stage,))} | fields)

    return build


def run(engine, request, events=None, cancelled=lambda: False) -> GenerateResult:
    return engine.generate(request, (events if events is not None else []).append, cancelled)


def pixels(image) -> np.ndarray:
    return np.array(Image.open(image.path))


# ---- what decides an image


def test_a_seed_is_an_image_and_the_file_makes_it_again(engine, request_for, tiny_sdxl_folder):
    request = request_for(tiny_sdxl_folder, negative_prompt="rain")
    first, second = run(engine, request), run(engine, request)
    assert first.images[0].path != second.images[0].path
    np.testing.assert_array_equal(pixels(first.images[0]), pixels(second.images[0]))
    recorded = read_metadata(Path(first.images[0].path)).request
    again = run(engine, replace(recorded, output=request.output))
    assert again.images[0].sha256 == first.images[0].sha256
    other = run(engine, replace(request, seed=8))
    assert other.images[0].sha256 != first.images[0].sha256


def test_each_image_of_a_count_is_the_one_made_alone(engine, request_for, tiny_pixart_folder):
    three = run(engine, request_for(tiny_pixart_folder, count=3))
    assert [image.seed for image in three.images] == [7, 8, 9]
    for image in three.images:
        alone = run(engine, request_for(tiny_pixart_folder, seed=image.seed))
        assert alone.images[0].sha256 == image.sha256
        assert read_metadata(Path(image.path)).request.seed == image.seed


def test_a_seed_is_drawn_and_recorded(engine, request_for, tiny_sdxl_folder):
    drawn = [run(engine, request_for(tiny_sdxl_folder, seed=None, steps=1)).seed for _ in range(2)]
    assert drawn[0] != drawn[1]


def test_the_result_states_what_was_used(engine, request_for, tiny_sdxl_folder):
    result = run(engine, request_for(tiny_sdxl_folder, sampling={"sampler": "dpmpp_2m", "schedule": "karras"}))
    (stage,) = result.stages
    assert (stage.sampler, stage.schedule, stage.steps, stage.width, stage.height) == (
        "dpmpp_2m",
        "karras",
        3,
        SIDE,
        SIDE,
    )
    assert len(stage.sigmas) == 4 and stage.sigmas[-1] == 0 and list(stage.sigmas) == sorted(stage.sigmas)[::-1]
    assert {Path(file.path).parent.name for file in stage.model.files} == {
        "unet",
        "vae",
        "text_encoder",
        "text_encoder_2",
    }
    assert result.attention == "sdpa" and result.dtype == "float32" and result.device == "cpu"
    assert result.threads == torch.get_num_threads()
    assert result.memory.peak_ram_bytes > 10**7
    assert result.timings.total >= sum(result.timings.denoise) > 0
    assert codec.decode(GenerateResult, codec.encode(result)) == result


def test_the_events_come_in_order_and_every_byte_is_counted(request_for, tiny_sdxl_folder):
    events = []
    run(Engine(Catalog.standard()), request_for(tiny_sdxl_folder, count=2), events)
    kinds = [type(event) for event in events]
    image = [Step, Step, Step, Decoding, Saved]
    loading = [event for event in events if isinstance(event, Loading)]
    assert kinds == [Loading] * len(loading) + [Encoding] + image * 2
    done = [event.bytes_done for event in loading]
    assert done == sorted(done) and done[-1] == loading[-1].bytes_total
    assert [event.sigma for event in events if isinstance(event, Step)][2::3] == [0, 0]


def test_what_is_loaded_is_kept_for_the_next_job(request_for, tiny_sdxl_folder):
    engine, events = Engine(Catalog.standard()), []
    run(engine, request_for(tiny_sdxl_folder))
    run(engine, request_for(tiny_sdxl_folder), events)
    assert not [event for event in events if isinstance(event, Loading)]


def test_a_replaced_file_is_loaded_anew(request_for, tmp_path):
    engine, events = Engine(Catalog.standard()), []
    folder = write_tiny_pixart(tmp_path / "model", seed=1)
    first = run(engine, request_for(folder))
    write_tiny_pixart(folder, seed=2)
    second = run(engine, request_for(folder), events)
    assert [event for event in events if isinstance(event, Loading)]
    assert first.images[0].sha256 != second.images[0].sha256


def test_with_guidance_off_the_negative_prompt_has_no_part(engine, request_for, tiny_sdxl_folder):
    plain = run(engine, request_for(tiny_sdxl_folder, sampling={"guidance_scale": 1.0}))
    long = request_for(tiny_sdxl_folder, sampling={"guidance_scale": 1.0}, negative_prompt="rain, snow, " * 60)
    told = run(engine, long)
    assert told.images[0].sha256 == plain.images[0].sha256
    assert "negative prompt is ignored" in told.notices[0]


def test_a_replay_with_other_weights_is_told(request_for, tmp_path):
    engine, folder = Engine(Catalog.standard()), write_tiny_pixart(tmp_path / "model", seed=1)
    request = request_for(folder)
    recorded = read_metadata(Path(run(engine, request).images[0].path)).request
    assert not run(engine, replace(recorded, output=request.output)).notices
    write_tiny_pixart(folder, seed=2)
    events = []
    again = run(engine, replace(recorded, output=request.output), events)
    assert "has other files than before" in again.notices[0]
    assert [event.code for event in events if isinstance(event, Notice)] == ["model_changed"]


def test_reference_attention_agrees(engine, request_for, tiny_sdxl_folder):
    plain = run(engine, request_for(tiny_sdxl_folder))
    reference = run(engine, request_for(tiny_sdxl_folder, attention="reference"))
    assert reference.attention == "reference"
    difference = pixels(plain.images[0]).astype(int) - pixels(reference.images[0])
    assert np.abs(difference).max() <= 2


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("model", ["tiny_sdxl_folder", "tiny_pixart_folder"])
def test_sixteen_bits_make_about_the_same_image(engine, request_for, request, model, dtype):
    """What a GPU computes in, here on the processor."""
    folder = request.getfixturevalue(model)
    plain = run(engine, request_for(folder))
    short = run(engine, request_for(folder, dtype=dtype))
    assert short.dtype == dtype
    difference = pixels(plain.images[0]).astype(float) - pixels(short.images[0])
    assert 0 < np.abs(difference).mean() < 4


def test_previews_sharpen_towards_the_image(engine, request_for, tiny_sdxl_folder, tmp_path):
    events = []
    output = Output(path=f"{tmp_path}/out/", preview_folder=str(tmp_path / "steps"))
    run(engine, request_for(tiny_sdxl_folder, previews=True, output=output), events)
    assert all(event.preview for event in events if isinstance(event, Step))
    assert len(list((tmp_path / "steps").iterdir())) == 3
    assert all(Image.open(path).size == (128, 128) for path in (tmp_path / "steps").iterdir())


# ---- cascades


def stages_of(result):
    return [(stage.width, stage.height, len(stage.timesteps)) for stage in result.stages]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("space", ["latent", "pixel"])
def test_a_second_stage_at_twice_the_size(engine, request_for, tiny_sdxl_folder, space):
    request = request_for(tiny_sdxl_folder, steps=4)
    cascade = Cascade(
        stages=(*request.cascade.stages, Stage(sampling=Sampling(steps=4))),
        transitions=(Transition(scale=2.0, strength=0.5, space=space),),
    )
    result = run(engine, replace(request, cascade=cascade))
    assert stages_of(result) == [(64, 64, 4), (128, 128, 2)]
    assert pixels(result.images[0]).shape == (128, 128, 3)


@pytest.mark.slow
def test_base_larger_base_and_refiner(engine, request_for, tiny_sdxl_folder, tiny_refiner_folder):
    """Resolution and noise both in stages: each by the same list."""
    request = request_for(tiny_sdxl_folder, steps=10)
    cascade = Cascade(
        stages=(
            *request.cascade.stages,
            Stage(until=0.8, sampling=Sampling(steps=10)),
            Stage(model=ModelRef(id=str(tiny_refiner_folder))),
        ),
        transitions=(Transition(scale=1.5, strength=0.5), Transition()),
    )
    result = run(engine, replace(request, cascade=cascade))
    assert stages_of(result) == [(64, 64, 10), (96, 96, 3), (96, 96, 2)]
    middle, last = result.stages[1:]
    assert middle.log_snr_end == last.log_snr_start
    assert middle.sigmas[-1] == pytest.approx(last.sigmas[0])
    recorded = read_metadata(Path(result.images[0].path)).request
    assert run(engine, replace(recorded, output=request.output)).images[0].sha256 == result.images[0].sha256


@pytest.mark.slow
def test_a_split_that_also_grows(engine, request_for, tiny_sdxl_folder, tiny_refiner_folder):
    request = request_for(tiny_sdxl_folder, steps=10)
    cascade = Cascade(
        stages=(replace(request.cascade.stages[0], until=0.6), Stage(model=ModelRef(id=str(tiny_refiner_folder)))),
        transitions=(Transition(scale=2.0),),
    )
    result = run(engine, replace(request, cascade=cascade))
    assert stages_of(result) == [(64, 64, 6), (128, 128, 4)]


def test_pixels_pass_between_families_and_latents_do_not(
    engine, request_for, tiny_sdxl_folder, tiny_pixart_folder, tmp_path
):
    other = write_tiny_pixart(tmp_path / "alpha", sigma=False)  # another scaling factor
    request = request_for(tiny_sdxl_folder)
    stages = (*request.cascade.stages, Stage(model=ModelRef(id=str(other)), sampling=Sampling(steps=4)))
    cascade = Cascade(stages=stages, transitions=(Transition(space="pixel", strength=0.5),))
    assert stages_of(run(engine, replace(request, cascade=cascade))) == [(64, 64, 3), (64, 64, 2)]
    cascade = replace(cascade, transitions=(Transition(strength=0.5),))
    with pytest.raises(UsageError, match="autoencoders differ"):
        run(engine, replace(request, cascade=cascade))


def test_the_words_of_a_stage_are_its_own(engine, request_for, tiny_sdxl_folder):
    request = request_for(tiny_sdxl_folder)
    stage = request.cascade.stages[0]
    own = replace(request, prompt="ignored", cascade=Cascade(stages=(replace(stage, prompt="a red house"),)))
    assert run(engine, own).images[0].sha256 == run(engine, request).images[0].sha256


# ---- images that go in


@pytest.fixture
def init(tmp_path):
    path = tmp_path / "init.png"
    Image.linear_gradient("L").resize((200, 100)).convert("RGB").save(path)
    return path


def test_an_init_image_gives_its_shape(engine, request_for, tiny_sdxl_folder, init):
    request = request_for(tiny_sdxl_folder, width=None, height=None, images=(ImageInput(path=str(init)),), steps=4)
    result = run(engine, request)
    assert result.strength == 0.6
    assert result.stages[0].log_snr_start is not None  # not from pure noise
    width, height = result.images[0].width, result.images[0].height
    assert width / height == pytest.approx(2, rel=0.1)
    assert result.images_used[0].path == str(init)


def test_a_changed_init_image_is_told(engine, request_for, tiny_sdxl_folder, init):
    request = request_for(tiny_sdxl_folder, images=(ImageInput(path=str(init)),))
    recorded = read_metadata(Path(run(engine, request).images[0].path)).request
    Image.new("RGB", (64, 64)).save(init)
    with pytest.raises(ImageRefused, match="has changed"):
        run(engine, replace(recorded, output=request.output))


# ---- stopping


def test_cancel_within_one_step(engine, request_for, tiny_sdxl_folder, tmp_path):
    events = []
    with pytest.raises(Cancelled, match="2 of 5"):
        run(
            engine,
            request_for(tiny_sdxl_folder, steps=5),
            events,
            cancelled=lambda: sum(isinstance(event, Step) for event in events) >= 2,
        )
    assert sum(isinstance(event, Step) for event in events) == 2
    assert not list(tmp_path.glob("out/*"))


def test_cancel_between_tensors_and_then_make_the_image(request_for, tiny_sdxl_folder):
    engine, events = Engine(Catalog.standard()), []
    with pytest.raises(Cancelled):
        run(engine, request_for(tiny_sdxl_folder), events, cancelled=lambda: len(events) >= 5)
    assert all(isinstance(event, Loading) for event in events) and len(events) == 5
    assert run(engine, request_for(tiny_sdxl_folder)).images


def test_images_that_are_finished_stay(engine, request_for, tiny_sdxl_folder):
    events = []
    with pytest.raises(Cancelled):
        run(
            engine,
            request_for(tiny_sdxl_folder, count=3),
            events,
            cancelled=lambda: any(isinstance(event, Saved) for event in events),
        )
    (saved,) = [event for event in events if isinstance(event, Saved)]
    assert Path(saved.image.path).is_file()


# ---- refused, and nothing left behind


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"width": 0}, "0x64.*64x64"),
        ({"height": -8}, "-8"),
        ({"width": 65}, "multiples of 2.*64x64"),
        ({"steps": 1001}, "steps: '1001'"),
        ({"sampling": {"guidance_scale": float("nan")}}, "guidance: 'nan'"),
        ({"sampling": {"guidance_scale": -1.0}}, "guidance: '-1.0'"),
        ({"sampling": {"guidance_rescale": 2.0}}, "rescale: '2.0'"),
        ({"sampling": {"clip_skip": -1}}, "clip skip: '-1'"),
        ({"sampling": {"clip_skip": 9}}, "clip skip 9"),
        ({"sampling": {"sampler": "eulr"}}, "eulr.*euler"),
        ({"sampling": {"sampler": "ddim", "schedule": "caras"}}, "caras.*karras"),
        ({"count": 0}, "count: '0'"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 10**400}, "seed is 1000"),
        ({"seed": 2**63 - 1, "count": 2}, "seed is"),
        ({"width": 10**400}, "too large"),
        ({"cascade": Cascade(stages=(Stage(),) * 99, transitions=(Transition(),) * 98)}, "number of stages"),
        ({"strength": 0.5}, "without an init image"),
        ({"images": (ImageInput(path="x.png", role="mask"),)}, "without an init image"),
        ({"images": (ImageInput(path="x.png", weight=0.5),)}, "weight 0.5"),
        ({"images": (ImageInput(path="x.png"), ImageInput(path="y.png"))}, "2 init images"),
        ({"attention": "flash"}, "flash"),
        ({"prompt": "x" * 70_000}, "70000 characters"),
        ({"negative_prompt": "a \udcff"}, "half a character"),
        ({"cascade": Cascade(stages=())}, "0 stages"),
        ({"cascade": Cascade(stages=(Stage(until=0.5),))}, "last stage stops at 0.5"),
        ({"cascade": Cascade(stages=(Stage(), Stage()), transitions=(Transition(),))}, "needs a strength"),
        (
            {"cascade": Cascade(stages=(Stage(until=1.5), Stage()), transitions=(Transition(),))},
            "switches at 1.5",
        ),
    ],
)
def test_what_cannot_be_is_refused(engine, request_for, tiny_sdxl_folder, tmp_path, fields, message):
    fields = dict(fields)
    if "cascade" in fields:
        model = ModelRef(id=str(tiny_sdxl_folder))
        stages = tuple(replace(stage, model=model) for stage in fields["cascade"].stages)
        fields["cascade"] = replace(fields["cascade"], stages=stages)
    with pytest.raises(UsageError, match=message):
        run(engine, request_for(tiny_sdxl_folder, **fields))
    assert not list(tmp_path.glob("**/*.png"))


def test_steps_of_zero_are_refused(engine, request_for, tiny_sdxl_folder):
    with pytest.raises(UsageError, match="steps: '0'"):
        run(engine, request_for(tiny_sdxl_folder, steps=0))


@pytest.mark.parametrize("strength", [-0.1, 1.1, float("nan")])
def test_strength_outside_its_range(engine, request_for, tiny_sdxl_folder, init, strength):
    with pytest.raises(UsageError, match="strength: "):
        run(engine, request_for(tiny_sdxl_folder, images=(ImageInput(path=str(init)),), strength=strength))


def test_strength_that_leaves_no_step(engine, request_for, tiny_sdxl_folder, init):
    events = []
    with pytest.raises(UsageError, match="no step"):
        run(engine, request_for(tiny_sdxl_folder, images=(ImageInput(path=str(init)),), strength=0.1), events)
    assert {type(event) for event in events} <= {Notice}  # told before weights are read


def test_an_unknown_model(engine, request_for):
    with pytest.raises(UnknownModel):
        run(engine, request_for(Path("no-such-model")))


def test_words_with_weights_for_a_model_that_reads_plain_words(engine, request_for, tiny_pixart_folder):
    events = []
    result = run(engine, request_for(tiny_pixart_folder, prompt="a (red:1.5) house"), events)
    assert [event.code for event in events if isinstance(event, Notice)] == ["weights_ignored"]
    assert len(result.notices) == 1
    with pytest.raises(UsageError, match="does not support embeddings"):
        run(engine, request_for(tiny_pixart_folder, embeddings=("x.safetensors",)))
    with pytest.raises(UsageError, match="has no clip skip"):
        run(engine, request_for(tiny_pixart_folder, sampling={"clip_skip": 1}))


class _Raising:
    def __init__(self, error):
        self._error = error

    def __call__(self, *args):
        raise self._error


@pytest.mark.slow_after(2)
@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20 GiB"),
        RuntimeError("MPS backend out of memory (MPS allocated: 20 GB)"),
        RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling cublasCreate"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
        MemoryError(),
    ],
)
def test_memory_that_ends_is_our_error(engine, request_for, tiny_sdxl_folder, monkeypatch, tmp_path, error):
    monkeypatch.setattr(Sdxl, "predict", _Raising(error))
    with pytest.raises(OutOfMemory, match="ran out of memory"):
        run(engine, request_for(tiny_sdxl_folder))
    assert not list(tmp_path.glob("out/*"))


def test_a_lost_device_is_told_apart(engine, request_for, tiny_sdxl_folder, monkeypatch):
    error = RuntimeError("CUDA error: an illegal memory access was encountered")
    monkeypatch.setattr(Sdxl, "predict", _Raising(error))
    with pytest.raises(DeviceLost) as raised:
        run(engine, request_for(tiny_sdxl_folder))
    assert raised.value.exit_code == 86


def test_a_bug_stays_a_bug(engine, request_for, tiny_sdxl_folder, monkeypatch):
    monkeypatch.setattr(Sdxl, "predict", _Raising(RuntimeError("something else")))
    with pytest.raises(RuntimeError, match="something else"):
        run(engine, request_for(tiny_sdxl_folder))


def test_numbers_that_overflow_make_no_image(engine, request_for, tiny_sdxl_folder, monkeypatch, tmp_path):
    monkeypatch.setattr(Sdxl, "predict", lambda self, model, sample, *_: sample * float("nan"))
    with pytest.raises(MezzotintError, match="contains NaN"):
        run(engine, request_for(tiny_sdxl_folder))
    assert not list(tmp_path.glob("out/*"))


def test_an_autoencoder_that_overflows_makes_no_image(engine, request_for, tiny_sdxl_folder, monkeypatch, tmp_path):
    decoded = "mezzotint.stages.images.decode.decode_latents"
    monkeypatch.setattr(decoded, lambda vae, latents, tile: latents * float("nan"))
    with pytest.raises(MezzotintError, match="decoded image contains NaN"):
        run(engine, request_for(tiny_sdxl_folder))
    assert not list(tmp_path.glob("out/*"))


def test_cancel_before_decoding(engine, request_for, tiny_sdxl_folder, tmp_path):
    events = []
    with pytest.raises(Cancelled):
        run(engine, request_for(tiny_sdxl_folder), events, lambda: sum(isinstance(e, Step) for e in events) == 3)
    assert not any(isinstance(event, Decoding) for event in events)
    assert not list(tmp_path.glob("out/*"))


def test_a_job_opens_no_connection_and_starts_no_program(request_for, tiny_sdxl_folder):
    seen, watching = [], True

    def hook(event, arguments):
        if watching and event in ("socket.connect", "socket.bind", "subprocess.Popen", "os.system", "os.exec"):
            seen.append((event, arguments))

    sys.addaudithook(hook)
    run(Engine(Catalog.standard()), request_for(tiny_sdxl_folder))
    watching = False
    assert not seen
