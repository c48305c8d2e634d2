"""Options that trade fidelity for speed: recorded and repeated, streamed, compiled, refused."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image
from recorded_again import read_metadata
from tiny_pixart import write_tiny_pixart

from mezzotint.acceleration.compiled_blocks import CompiledBlocks
from mezzotint.catalog.catalog import Catalog
from mezzotint.cli.entry import run
from mezzotint.engine import Engine
from mezzotint.errors import UsageError
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage

OF_UNETS = {"tokens": ("todo", 0.75), "deep_shrink": (2.0, 0.6)}
OF_TRANSFORMERS = {"tokens": ("merge", 0.5), "step_cache": 0.5}


@pytest.fixture(scope="module")
def pixart(tmp_path_factory):
    return write_tiny_pixart(tmp_path_factory.mktemp("models") / "pixart")


@pytest.fixture(params=["unet", "transformer", pytest.param("cached unet", marks=pytest.mark.slow)])
def kind(request, tiny_sdxl_folder, pixart):
    """A model and the options that it has."""
    if request.param == "cached unet":  # which excludes deep shrink
        return tiny_sdxl_folder, {"step_cache": 0.5}
    return (tiny_sdxl_folder, OF_UNETS) if request.param == "unet" else (pixart, OF_TRANSFORMERS)


def request_for(folder, tmp_path, side=64, **fields):
    sampling = Sampling(steps=4, **{name: fields.pop(name) for name in list(fields) if name in Sampling.__slots__})
    stage = Stage(model=ModelRef(id=str(folder)), width=side, height=side, sampling=sampling)
    usual = {"prompt": "a red house", "seed": 7, "dtype": "float32", "output": Output(path=f"{tmp_path}/out/")}
    return GenerateRequest(cascade=Cascade(stages=(stage,)), **usual | fields)


def made(request):
    return Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)


def test_each_changes_the_image_and_values_of_nothing_do_not(kind, tmp_path):
    folder, options = kind
    plain = made(request_for(folder, tmp_path)).images[0].sha256
    nothing = {"tokens": ("merge", 0.0), "deep_shrink": (1.0, 1.0), "step_cache": 0.0}
    for name, value in options.items():
        result = made(request_for(folder, tmp_path, **{name: value}))
        assert result.images[0].sha256 != plain and getattr(result.stages[0], name) == value
        assert made(request_for(folder, tmp_path, **{name: nothing[name]})).images[0].sha256 == plain


def test_all_are_recorded_and_repeated(kind, tmp_path):
    folder, options = kind
    words = ["generate", "a red house", "-m", str(folder), "--size", "64x64", "--steps", "4", "--seed", "7"]
    for name, value in options.items():
        words += [f"--{name.replace('_', '-')}", ":".join(map(str, value)) if isinstance(value, tuple) else str(value)]
    assert run([*words, "-o", str(tmp_path / "a.png")]) == 0
    sampling = read_metadata(tmp_path / "a.png").request.cascade.stages[0].sampling
    assert {name: getattr(sampling, name) for name in options} == options
    assert run(["generate", "--from", str(tmp_path / "a.png"), "-o", str(tmp_path / "b.png")]) == 0
    assert np.array_equal(Image.open(tmp_path / "a.png"), Image.open(tmp_path / "b.png"))


@pytest.mark.slow
def test_streamed_blocks_give_the_same_image(kind, tmp_path):
    folder, options = kind
    plain = made(request_for(folder, tmp_path, **options))
    exact = {"quantization": "none", "text_quantization": "none"}
    streamed = made(request_for(folder, tmp_path, vram_limit_bytes=2**29, memory="lowest", **exact, **options))
    assert streamed.images[0].sha256 == plain.images[0].sha256


@pytest.mark.slow
def test_compiled_blocks_give_the_same_image(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(CompiledBlocks.__init__, "__defaults__", ("eager",))
    torch.compiler.reset()
    folder, options = kind
    request = request_for(folder, tmp_path, **options)
    plain, compiled = made(request), made(replace(request, compile=True))
    assert compiled.compiled and compiled.images[0].sha256 == plain.images[0].sha256
    torch.compiler.reset()


@pytest.mark.parametrize(
    ("of_unet", "options", "side", "why"),
    [
        (True, {"step_cache": 0.1, "deep_shrink": (2.0, 0.35)}, 64, "leave one of them out"),
        (False, {"deep_shrink": (2.0, 0.35)}, 64, "leave --deep-shrink out"),
        (False, {"tokens": ("todo", 1.0)}, 64, "expected todo or merge"),
        (False, {"step_cache": 2.0}, 64, "from 0 to 1"),
    ],
)
def test_what_a_model_or_size_cannot_have_is_refused(tiny_sdxl_folder, pixart, tmp_path, of_unet, options, side, why):
    folder = tiny_sdxl_folder if of_unet else pixart
    with pytest.raises(UsageError, match=why):
        made(request_for(folder, tmp_path, side, **options))
