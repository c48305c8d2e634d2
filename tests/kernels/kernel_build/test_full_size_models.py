"""Folders that the engine knows as SDXL, of random weights."""

from safetensors.torch import load_file

from kernel_build.full_size_models import write_sdxl
from mezzotint.catalog.catalog import Catalog
from mezzotint.protocol import ModelRef


def test_base_and_refiner_are_known_as_such(tmp_path, small_recipes):
    for name, variant in (("sdxl", "base"), ("sdxl-refiner", "refiner")):
        written = write_sdxl(tmp_path / name, name)
        info = Catalog.standard().find(ModelRef(id=str(tmp_path / name))).info
        assert (info.problem, info.family, info.variant) == (None, "sdxl", variant)
        sizes = [path.stat().st_size for path in (tmp_path / name).rglob("*.safetensors")]
        assert written < sum(sizes) < written + 2**20


def test_weights_are_random_and_small(tmp_path, small_recipes):
    write_sdxl(tmp_path / "sdxl", "sdxl")
    tensors = load_file(tmp_path / "sdxl" / "unet" / "diffusion_pytorch_model.safetensors")
    weight = max(tensors.values(), key=lambda tensor: tensor.numel()).float()
    assert abs(weight.mean()) < 0.002 and 0.015 < weight.std() < 0.025
