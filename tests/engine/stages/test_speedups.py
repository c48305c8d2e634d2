"""Refusing options that trade fidelity for speed where they are impossible."""

from types import SimpleNamespace

import pytest

from mezzotint.errors import UsageError
from mezzotint.sampling_protocol import Sampling
from mezzotint.stages.speedups import check_speedups, is_sped_up, settled_cache, why_dense
from mezzotint.values.speed import AUTO_CACHE

SD15 = ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"]
SDXL = ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"]
SPARSE = Sampling(sparse_attention=("pooled", None))
REDUCED, SHRUNK = Sampling(tokens=("todo", 0.75)), Sampling(deep_shrink=(2.0, 0.35))


def unet(blocks):
    part = SimpleNamespace(class_name="UNet2DConditionModel", config={"down_block_types": blocks})
    return SimpleNamespace(components={"unet": part})


def transformer(name):
    return SimpleNamespace(components={"transformer": SimpleNamespace(class_name=name, config={})})


FLUX, SANA = transformer("FluxTransformer2DModel"), transformer("SanaTransformer2DModel")


@pytest.mark.parametrize("sampling", [Sampling(), REDUCED, SPARSE, SHRUNK, Sampling(step_cache=0.1)])
def test_which_are_in_use(sampling):
    assert is_sped_up(sampling) == (sampling != Sampling())


@pytest.mark.parametrize(
    ("sources", "sampling", "size"),
    [
        (unet(SD15), REDUCED, (4, 4)),
        (unet(SDXL), REDUCED, (8, 7)),
        (unet(SDXL), SHRUNK, (16, 16)),
        (FLUX, REDUCED, (4, 9)),
        (FLUX, Sampling(step_cache=0.1), (1, 1)),
        (FLUX, SPARSE, (1, 1)),
        (unet(SD15), SPARSE, (1, 1)),
        (SANA, Sampling(step_cache=0.1), (1, 1)),
        (unet(SDXL), Sampling(step_cache=0.1), (1, 1)),
        (unet(["DownBlock2D"]), Sampling(step_cache=0.0), (64, 64)),
    ],
)
def test_the_smallest_sizes_that_are_possible(sources, sampling, size):
    check_speedups(sampling, sources, "a model", size)


@pytest.mark.parametrize(
    ("sources", "sampling", "size", "why"),
    [
        (unet(SD15), REDUCED, (3, 64), "too small for --tokens: 3 tokens along its shorter side, at least 4"),
        (unet(SDXL), REDUCED, (64, 6), "too small for --tokens: 3 tokens"),
        (unet(["DownBlock2D"] * 2), REDUCED, (64, 64), "a model has no softmax attention over image tokens"),
        (SANA, REDUCED, (64, 64), "leave --tokens out"),
        (SANA, SPARSE, (64, 64), "no softmax attention over image tokens: leave --sparse-attention out"),
        (unet(["DownBlock2D"] * 2), SPARSE, (64, 64), "leave --sparse-attention out"),
        (FLUX, Sampling(tokens=("todo", 0.5), sparse_attention=("topk", 0.5)), (64, 64), "give one of them"),
        (transformer("Unknown"), REDUCED, (64, 64), "leave --tokens out"),
        (unet(SDXL), SHRUNK, (15, 64), "too small for --deep-shrink 2: less than 2 features"),
        (unet(["CrossAttnDownBlock2D"]), SHRUNK, (64, 64), "a model has no U-Net with several levels"),
        (FLUX, SHRUNK, (64, 64), "leave --deep-shrink out"),
        (unet(["DownBlock2D"]), Sampling(step_cache=0.1), (64, 64), "neither a row of blocks nor levels to skip"),
        (unet(SDXL), Sampling(step_cache=0.1, deep_shrink=(2.0, 0.35)), (64, 64), "leave one of them out"),
    ],
)
def test_what_is_impossible_is_refused_with_the_reason(sources, sampling, size, why):
    with pytest.raises(UsageError, match=why):
        check_speedups(sampling, sources, "a model", size)


@pytest.mark.parametrize(
    ("sources", "size", "tokens"),
    [(FLUX, (99, 101), 9999), (FLUX, (100, 100), None), (unet(SD15), (100, 100), None), (unet(SDXL), (128, 128), 4096),
     (unet(SDXL), (256, 200), None)],
)  # fmt: skip
def test_without_a_density_it_takes_enough_tokens(sources, size, tokens):
    why = why_dense(SPARSE, sources, size)
    assert (why == "") == (tokens is None) and (tokens is None or f"there are {tokens}; with a density" in why)
    assert why_dense(Sampling(sparse_attention=("topk", 0.1)), sources, size) == why_dense(REDUCED, sources, size) == ""


@pytest.mark.parametrize(
    ("sources", "density", "size", "tokens"),
    [(FLUX, 0.25, (15, 15), "15x15"), (FLUX, 0.25, (16, 16), ""), (FLUX, 0.6, (64, 32), "32x64"), (FLUX, 1, (8, 8), ""),
     (unet(SDXL), 0.25, (24, 30), "15x12"), (unet(SDXL), 0.25, (24, 32), "")],
)  # fmt: skip
def test_an_image_that_is_not_divided_into_tiles_is_told(sources, density, size, tokens):
    why = why_dense(Sampling(sparse_attention=("tiles", density)), sources, size)
    assert (why == "") == (tokens == "") and f"{tokens} image tokens are not divided"[: len(why)] in (why or tokens)


def test_auto_is_as_it_suits_the_network():
    for sources, threshold in ((unet(SDXL), 0.2), (FLUX, 0.1)):
        assert settled_cache(Sampling(step_cache=AUTO_CACHE), sources) == threshold
        assert settled_cache(Sampling(step_cache=0.3), sources) == 0.3
