"""Token reduction, sparse attention and the step cache in every family of transformers."""

import numpy as np
import pytest
from flow_parity import request_of
from PIL import Image
from tiny_chroma import write_tiny_chroma
from tiny_flux1 import write_tiny_flux
from tiny_flux2 import write_tiny_klein
from tiny_krea2 import write_tiny_krea2
from tiny_qwen_image import write_tiny_qwen_image
from tiny_sana import write_tiny_sana
from tiny_sd3 import write_tiny_sd3
from tiny_z_image import write_tiny_z_image

from mezzotint.acceleration import sparse_attention, speedups, token_reduction
from mezzotint.attention.reduction import attend_downsampled
from mezzotint.attention.sparse import attend_sparsely
from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import UsageError

# How a model is written, how often a pass attends over image tokens, and whether they begin the sequence.
MODELS = {
    "z-image": (write_tiny_z_image, 1 + 2, True),  # the refiner of noise, and layers
    "flux2-klein": (write_tiny_klein, 2 + 2, False),
    "flux": (write_tiny_flux, 2 + 2, False),
    "qwen-image": (write_tiny_qwen_image, 2, False),
    "krea2": (write_tiny_krea2, 2, False),
    "chroma": (write_tiny_chroma, 1 + 2, False),
    "sd3": (write_tiny_sd3, 2 + 1, True),
    "sana": (write_tiny_sana, 0, True),  # linear attention
}
STEPS = 3


@pytest.fixture(scope="module", params=MODELS)
def model(request, tmp_path_factory):
    write, layers, image_first = MODELS[request.param]
    return write(tmp_path_factory.mktemp("models") / request.param), layers, image_first


def made(request) -> np.ndarray:
    result = Engine(Catalog.standard()).generate(request, lambda _: None, lambda: False)
    return np.array(Image.open(result.images[0].path)).astype(int)


@pytest.mark.slow_after(1)
def test_image_tokens_are_found_and_blocks_are_skipped(model, tmp_path, monkeypatch):
    folder, layers, image_first = model
    grids, caches = [], []

    def watched(attend, q, *others, grid, ratio):
        grids.append((grid, q.shape[2]))
        return attend_downsampled(attend, q, *others, grid=grid, ratio=ratio)

    def kept(*args):
        caches.append(caching(*args))
        return caches[-1]

    caching = speedups.caching_steps
    monkeypatch.setattr(token_reduction, "_METHODS", {"todo": watched})
    how = {"steps": STEPS, "guidance_scale": 1.0}
    plain = made(request_of(folder, tmp_path, **how))
    if not layers:
        with pytest.raises(UsageError, match="no softmax attention over image tokens"):
            made(request_of(folder, tmp_path, tokens=("todo", 0.75), **how))
    else:
        reduced = made(request_of(folder, tmp_path, tokens=("todo", 0.75), **how))
        assert len(grids) == STEPS * layers and 0 < np.abs(reduced - plain).mean() < 60
        sides = {(grid.height, grid.width) for grid, _ in grids}
        assert len(sides) == 1 and (image_first or all(grid.stop == tokens for grid, tokens in grids))
        assert all((grid.start == 0) == image_first for grid, _ in grids)
    monkeypatch.setattr(speedups, "caching_steps", kept)
    cached = made(request_of(folder, tmp_path, step_cache=1.0, **how))
    assert cached.shape == plain.shape and np.abs(cached - plain).mean() < 60 and len(caches) == 1


@pytest.mark.slow_after(1)
def test_image_tiles_see_some_of_each_other(model, tmp_path, monkeypatch):
    folder, layers, image_first = model
    how = {"steps": 1, "guidance_scale": 1.0, "side": 192}
    grids = []

    def watched(attend, q, *others, grid, **how):
        grids.append((grid.start == 0, grid.stop - grid.start == 144))
        return attend_sparsely(attend, q, *others, grid=grid, **how)

    monkeypatch.setattr(sparse_attention, "attend_sparsely", watched)
    if not layers:
        with pytest.raises(UsageError, match="leave --sparse-attention out"):
            made(request_of(folder, tmp_path, sparse_attention=("pooled", 0.3), **how))
        return
    plain = made(request_of(folder, tmp_path, **how))
    sparse = made(request_of(folder, tmp_path, sparse_attention=("window", 0.3), **how))
    assert grids == [(image_first, True)] * layers
    assert 0 < np.abs(sparse - plain).mean() < 60


def test_a_unets_options_are_refused(model, tmp_path):
    with pytest.raises(UsageError, match="no U-Net with several levels to shrink"):
        made(request_of(model[0], tmp_path, deep_shrink=(2.0, 0.35)))
