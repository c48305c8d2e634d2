"""Sparse attention in whole jobs: recorded and repeated, streamed, refused, told where it does nothing."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from recorded_again import read_metadata
from tiny_pixart import write_tiny_pixart

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli.entry import run
from mezzotint.engine import Engine
from mezzotint.errors import UsageError
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage

SIDE = 256  # pixels: several tiles of tokens in every model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_pixart(tmp_path_factory.mktemp("models") / "pixart")


def request_for(folder, tmp_path, side=SIDE, **fields):
    sampling = Sampling(steps=2, **{name: fields.pop(name) for name in list(fields) if name in Sampling.__slots__})
    stage = Stage(model=ModelRef(id=str(folder)), width=side, height=side, sampling=sampling)
    usual = {"prompt": "a red house", "seed": 7, "output": Output(path=f"{tmp_path}/out/")}
    return GenerateRequest(cascade=Cascade(stages=(stage,)), **usual | fields)


def made(request):
    return Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)


@pytest.mark.slow
def test_it_is_recorded_and_repeated(folder, tmp_path):
    words = ["generate", "a red house", "-m", str(folder), "--size", f"{SIDE}x{SIDE}", "--steps", "2"]
    words += ["--seed", "7", "--attention", "sdpa", "--attention", "sparse:tiles:0.25"]
    assert run([*words, "-o", str(tmp_path / "a.png")]) == 0
    request = read_metadata(tmp_path / "a.png").request
    assert request.cascade.stages[0].sampling.sparse_attention == ("tiles", 0.25) and request.attention == "sdpa"
    assert run(["generate", "--from", str(tmp_path / "a.png"), "-o", str(tmp_path / "b.png")]) == 0
    assert np.array_equal(Image.open(tmp_path / "a.png"), Image.open(tmp_path / "b.png"))


@pytest.mark.slow
def test_without_a_density_a_small_image_is_dense_and_told_so(folder, tmp_path):
    plain = made(request_for(folder, tmp_path))
    result = made(request_for(folder, tmp_path, sparse_attention=("window", None)))
    assert result.images[0].sha256 == plain.images[0].sha256
    (told,) = (note for note in result.notices if "sparse" in note)
    assert "pays from about 10000 image tokens" in told and "such as window:0.25" in told
    assert result.stages[0].sparse_attention == ("window", None)


@pytest.mark.slow
def test_streamed_blocks_give_the_same_image(folder, tmp_path):
    job = request_for(folder, tmp_path, sparse_attention=("pooled", 0.3))
    exact = replace(job, vram_limit_bytes=2**30, memory="lowest", quantization="none", text_quantization="none")
    assert made(exact).images[0].sha256 == made(job).images[0].sha256


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"sparse_attention": ("pooled", 1.5)}, "above 0 and up to 1"),
        ({"sparse_attention": ("swin", None)}, "swin attention fails in models trained without it"),
        ({"sparse_attention": ("topk", 0.5), "tokens": ("todo", 0.5)}, "give one of them"),
    ],
)
def test_what_is_impossible_is_refused(folder, tmp_path, options, why):
    with pytest.raises(UsageError, match=why):
        made(request_for(folder, tmp_path, **options))
