"""Whole images by kernels that are stood in for on the processor: chosen, failing, left at once, and recorded."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from card_kernels import CardKernels
from fake_kernels import FakeKernels, fake_backends
from PIL import Image

from mezzotint.attention.selection import AttentionBackends
from mezzotint.attention.self_test import CASES
from mezzotint.catalog.catalog import Catalog
from mezzotint.dispatch.library import Unavailable, Unsupported
from mezzotint.engine import Engine
from mezzotint.errors import MezzotintError, UsageError
from mezzotint.families.sdxl.family import Sdxl
from mezzotint.images.metadata import read_metadata
from mezzotint.protocol import (
    Cascade,
    GenerateRequest,
    ImageInput,
    KernelFallback,
    ModelRef,
    Notice,
    Output,
    Sampling,
    Stage,
)

pytestmark = pytest.mark.usefixtures("every_device")

SELF_TEST = len(CASES)  # launches
FLAGS = {"flash-fp16": 16, "int8": 2, "int8-all": 10, "int8-fp8": 34}  # of launches
FLASH = {"attention": "flash", "dtype": "bfloat16"}


@pytest.fixture
def stand_in(every_device):
    """The kernels' library, of that device."""
    return FakeKernels if every_device == "cpu" else CardKernels


@pytest.fixture
def request_for(tmp_path):
    def build(folder: Path, **fields) -> GenerateRequest:
        stage = Stage(model=ModelRef(id=str(folder)), width=64, height=64, sampling=Sampling(steps=2))
        given = {"prompt": "a red house", "seed": 7, "output": Output(path=f"{tmp_path}/out/")}
        return GenerateRequest(**given | {"cascade": Cascade(stages=(stage,))} | fields)

    return build


def engine_with(kernels=None):
    return Engine(Catalog.standard(), attention=None if kernels is None else fake_backends(kernels))


def run(engine, request, events=None):
    return engine.generate(request, (events if events is not None else []).append, lambda: False)


def pixels(image) -> np.ndarray:
    return np.array(Image.open(image.path)).astype(int)


def is_of_autoencoder(launch):
    """The only layer of these small models that sees every latent."""
    return launch.heads == 1 and launch.nq == launch.nk == 32 * 32 and launch.head_dim == 64


def notices(events):
    return [event.code for event in events if isinstance(event, Notice)]


# ---- chosen


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("asked", ["auto", "flash", "flash-fp16", "int8", "int8-all", "int8-fp8"])
@pytest.mark.parametrize("model", ["tiny_sdxl_folder", "tiny_pixart_folder"])
def test_the_kernels_make_the_image(request_for, stand_in, request, model, asked):
    folder, kernels, events = request.getfixturevalue(model), stand_in(), []
    engine = engine_with(kernels)
    plain = run(engine, request_for(folder, attention="sdpa", dtype="bfloat16"))
    assert kernels.launches == [] and plain.attention == "sdpa"
    result = run(engine, request_for(folder, attention=asked, dtype="bfloat16"), events)
    assert result.attention == ("flash" if asked == "auto" else asked)
    assert (result.attention_asked, result.attention_fallbacks, notices(events)) == (asked, (), [])
    large = [launch for launch in kernels.launches if not launch.nk <= 128 < launch.nq]  # few keys: in 16 bits
    assert {launch.flags for launch in large} == {FLAGS.get(asked, 0)}
    assert is_of_autoencoder(kernels.launches[-1])
    assert result.attention_calls == len(kernels.launches) - SELF_TEST
    difference = np.abs(pixels(result.images[0]) - pixels(plain.images[0]))
    assert 0 < difference.mean() < 4


def test_the_words_of_pixart_are_passed_by_their_number(request_for, stand_in, tiny_pixart_folder):
    kernels = stand_in()
    run(engine_with(kernels), request_for(tiny_pixart_folder, **FLASH))
    to_words = [launch for launch in kernels.launches[SELF_TEST:] if launch.nk == 300]
    assert len(to_words) == 4  # two layers, two steps
    assert all(launch.key_lengths and not launch.bias and not launch.key_mask for launch in to_words)


@pytest.mark.slow
def test_a_job_leaves_the_networks_as_they_were(request_for, stand_in, tiny_sdxl_folder):
    engine = engine_with(stand_in())
    plain = request_for(tiny_sdxl_folder, attention="sdpa", dtype="bfloat16")
    before = run(engine, plain)
    run(engine, replace(plain, attention="flash"))
    run(engine, replace(plain, attention="reference"))
    assert run(engine, plain).images[0].sha256 == before.images[0].sha256


@pytest.mark.parametrize("model", ["tiny_sdxl_folder", "tiny_pixart_folder"])
def test_the_reference_differs_by_no_more_than_rounding(request_for, request, model):
    folder, engine = request.getfixturevalue(model), engine_with()
    plain = run(engine, request_for(folder, attention="sdpa", dtype="float32"))
    reference = run(engine, request_for(folder, attention="reference", dtype="float32"))
    assert reference.attention == "reference"
    assert np.abs(pixels(reference.images[0]) - pixels(plain.images[0])).max() <= 2


# ---- failing


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("fault", ["wrong", "unsupported"])
def test_after_a_failed_self_test_the_image_is_torch_s_own(request_for, stand_in, tiny_sdxl_folder, fault):
    engine, events = engine_with(stand_in(fault)), []
    result = run(engine, request_for(tiny_sdxl_folder, **FLASH, count=2), events)
    plain = run(engine, request_for(tiny_sdxl_folder, attention="sdpa", dtype="bfloat16"))
    assert result.attention == "sdpa" and result.attention_asked == "flash"
    (fallback,) = result.attention_fallbacks
    assert fallback.calls == 0 and fallback.reason in result.notices[0]
    assert notices(events) == ["attention_fell_back"]
    assert result.images[0].sha256 == plain.images[0].sha256
    assert read_metadata(Path(result.images[0].path)).request.attention == "sdpa"


@pytest.mark.slow
@pytest.mark.parametrize("step", [2, 1])
def test_latents_that_come_out_as_not_a_number_are_made_again(request_for, stand_in, tiny_sdxl_folder, step):
    counted = stand_in()
    run(engine_with(counted), request_for(tiny_sdxl_folder, **FLASH))
    each = sum(not is_of_autoencoder(launch) for launch in counted.launches[SELF_TEST:]) // 2
    engine, events = engine_with(stand_in("nan", after=SELF_TEST + (step - 1) * each)), []
    result = run(engine, request_for(tiny_sdxl_folder, **FLASH, count=2), events)
    plain = run(engine, request_for(tiny_sdxl_folder, attention="sdpa", dtype="bfloat16", count=2))
    reason = "the image contains NaN or infinity"
    assert result.attention_fallbacks == (KernelFallback(reason=reason, calls=0),)
    assert notices(events) == ["attention_fell_back"]
    assert [image.sha256 for image in result.images] == [image.sha256 for image in plain.images]
    # Each image's record is of what it was begun with: begun so again, it falls back again.
    assert [read_metadata(Path(image.path)).request.attention for image in result.images] == ["flash", "sdpa"]


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("with_init", [False, True])
def test_an_autoencoder_that_overflows_is_asked_again(request_for, stand_in, tiny_sdxl_folder, tmp_path, with_init):
    Image.linear_gradient("L").resize((64, 64)).convert("RGB").save(tmp_path / "init.png")
    given = {"images": (ImageInput(path=str(tmp_path / "init.png")),)} if with_init else {}
    kernels = stand_in("nan", after=SELF_TEST, only=is_of_autoencoder)
    engine = engine_with(kernels)
    result = run(engine, request_for(tiny_sdxl_folder, **FLASH, **given))
    where = "the encoded image" if with_init else "the decoded image"
    assert [fallback.reason for fallback in result.attention_fallbacks] == [f"{where} contains NaN or infinity"]
    plain = run(engine, request_for(tiny_sdxl_folder, attention="sdpa", dtype="bfloat16", **given))
    if with_init:  # what it drew in vain was drawn again
        assert result.images[0].sha256 == plain.images[0].sha256
    assert pixels(result.images[0]).std() > 1


def test_what_has_no_kernel_is_counted(request_for, stand_in, tiny_sdxl_folder):
    base: Any = stand_in

    class NoVae(base):
        def plan(self, arguments, device):
            if is_of_autoencoder(arguments):
                raise Unsupported("no kernel for autoencoders")
            return super().plan(arguments, device)

    events = []
    result = run(engine_with(NoVae()), request_for(tiny_sdxl_folder, **FLASH), events)
    assert result.attention == "flash"
    assert result.attention_fallbacks == (KernelFallback(reason="no kernel for autoencoders", calls=1),)
    assert notices(events) == ["attention_fell_back"]


def test_weights_that_overflow_are_not_mended_by_falling_back(request_for, stand_in, tiny_sdxl_folder, monkeypatch):
    monkeypatch.setattr(Sdxl, "predict", lambda self, model, sample, *_: sample * float("nan"))
    engine = engine_with(stand_in())
    with pytest.raises(MezzotintError, match="the image contains NaN"):
        run(engine, request_for(tiny_sdxl_folder, **FLASH))
    engine.close()  # weights that nobody came to use may be on their way


# ---- recorded, and made again


@pytest.mark.slow
def test_an_image_that_was_not_insisted_on_can_be_made_again_anywhere(request_for, stand_in, tiny_sdxl_folder):
    kernels = stand_in()
    result = run(engine_with(kernels), request_for(tiny_sdxl_folder, attention="auto", dtype="bfloat16"))
    metadata = read_metadata(Path(result.images[0].path))
    assert (metadata.request.attention, metadata.other["attention"]) == ("auto", "flash")
    again = replace(metadata.request, output=Output(path=str(Path(result.images[0].path).parent) + "/"))
    assert run(engine_with(stand_in()), again).images[0].sha256 == result.images[0].sha256
    assert run(engine_with(), again).attention == "sdpa"
    insisted = run(engine_with(kernels), request_for(tiny_sdxl_folder, **FLASH))
    assert read_metadata(Path(insisted.images[0].path)).request.attention == "flash"


OLD = Unavailable("the driver is too old: update it")


@pytest.mark.parametrize(
    ("every_device", "backends", "message"),
    [
        ("cpu", AttentionBackends(), "needs an NVIDIA GPU, and the device is cpu"),
        ("cpu", fake_backends(error=OLD), "the driver is too old: update it"),
        ("cuda:0", fake_backends(error=OLD, device_type="cuda"), "the driver is too old: update it"),
    ],
    indirect=["every_device"],
)
def test_what_cannot_be_is_refused_before_weights_are_read(request_for, tiny_sdxl_folder, backends, message):
    events = []
    with pytest.raises(UsageError, match=message):
        run(Engine(Catalog.standard(), attention=backends), request_for(tiny_sdxl_folder, **FLASH), events)
    assert events == []


def test_numbers_of_32_bits_are_refused_by_name(request_for, stand_in, tiny_sdxl_folder):
    with pytest.raises(UsageError, match="not float32"):
        run(engine_with(stand_in()), request_for(tiny_sdxl_folder, attention="flash", dtype="float32"))


@pytest.mark.gpu
@pytest.mark.parametrize("every_device", ["cpu"], indirect=True)
def test_on_a_card_the_kernels_make_the_image(request_for, tiny_sdxl_folder):
    missing = AttentionBackends().compiled["flash"].missing("cuda:0", "float16")
    if missing is not None:
        pytest.skip(missing)
    engine = Engine(Catalog.standard())
    plain = run(engine, request_for(tiny_sdxl_folder, device="cuda", attention="sdpa", dtype="float16"))
    result = run(engine, request_for(tiny_sdxl_folder, device="cuda", attention="flash", dtype="float16"))
    assert torch.cuda.is_available() and result.attention == "flash"
    assert np.abs(pixels(result.images[0]) - pixels(plain.images[0])).mean() < 4
