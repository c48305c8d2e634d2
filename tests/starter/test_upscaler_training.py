"""The bundled upscaler: trained again from its state, and nearer to the scenes than interpolation."""

from dataclasses import replace

import pytest
import torch
from safetensors.torch import load_file

from mezzotint.paths import assets_folder
from mezzotint.upscaling.reading import open_upscaler
from mezzotint_starter import recipe
from mezzotint_starter.plan import miniature
from mezzotint_starter.upscaler_training import build_upscaler, upscaler_psnr

BUNDLED = assets_folder() / "starter" / "upscaler" / "model.safetensors"


@pytest.mark.slow
def test_it_is_made_again_from_its_state(tmp_path):
    plan = replace(miniature(tmp_path / "work", tmp_path / "out", steps=2), measured=2)
    path = recipe.run(plan, "upscaler") / "upscaler" / "model.safetensors"
    first = load_file(path)
    recipe.run(plan, "upscaler")
    assert all(torch.equal(first[name], value) for name, value in load_file(path).items())
    assert open_upscaler(path).scale == 2


def test_the_bundled_one_is_better_than_interpolation():
    network = open_upscaler(BUNDLED).network.float()
    bundled, bicubic = upscaler_psnr(network, seed=0, device="cpu", images=4)
    untrained, _ = upscaler_psnr(build_upscaler(0), seed=0, device="cpu", images=4)
    assert bundled > bicubic + 1.5 and untrained < bicubic
