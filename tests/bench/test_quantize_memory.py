"""What quantizing takes, at a small width: never as much memory as the model has bytes."""

import shutil
import sys

import pytest

from mezzotint.paths import assets_folder

WIDTH = 32  # a U-Net of 114 MB


@pytest.fixture
def run(script, monkeypatch, capfd, tmp_path):
    def start(*words):
        monkeypatch.setattr(sys, "argv", ["quantize_memory.py", str(tmp_path), "--width", str(WIDTH), *words])
        return script.main(), capfd.readouterr()

    return start


@pytest.mark.slow
def test_the_model_is_never_in_memory_as_a_whole(run, tmp_path):
    code, said = run("--schemes", "int8", "--diffusers", "--threads", "1")
    assert code == 0, said.err
    header, *rows = said.out.splitlines()
    assert header.split() == ["scheme", "seconds", "imports", "above", "U-Net", "share"]
    assert [row[:22].strip() for row in rows] == ["int8", "int4 --for diffusers"]
    size = (tmp_path / "model" / "unet" / "diffusion_pytorch_model.safetensors").stat().st_size / 2**20
    assert size > 100
    for row, most in zip(rows, (0.55, 0.45), strict=True):
        _, imports, _, above, _, after, _, share = row[22:].split()
        assert float(imports) > 100
        assert 0 < float(above) < 0.8 * size
        assert float(after) < most * size
        assert float(share) < most
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_the_full_size_is_sdxls(script):
    import accelerate
    from diffusers import UNet2DConditionModel

    with accelerate.init_empty_weights():
        network = UNet2DConditionModel(**script.unet_settings(script.WIDTH))
    assert sum(parameter.numel() for parameter in network.parameters()) == 2_567_463_684


@pytest.mark.slow
def test_a_scheme_that_is_none_ends_it(run, tmp_path):
    shutil.copytree(assets_folder() / "starter" / "dit", tmp_path / "model")  # in the place of one that is written
    code, said = run("--schemes", "int3,int8")
    assert code == 2
    assert "int3" in said.err
