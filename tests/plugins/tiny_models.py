"""Fixtures: the small random models, each written once per session. Tests must not modify them."""

from pathlib import Path

import pytest
from tiny_pixart import write_tiny_pixart
from tiny_sdxl import write_single_file, write_tiny_sdxl


@pytest.fixture(scope="session")
def tiny_models_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the small models."""
    return tmp_path_factory.mktemp("tiny_models")


@pytest.fixture(scope="session")
def tiny_sdxl_folder(tiny_models_folder: Path) -> Path:
    """An SDXL base model in the diffusers layout; pixels per latent: 2."""
    return write_tiny_sdxl(tiny_models_folder / "tiny-sdxl")


@pytest.fixture(scope="session")
def tiny_refiner_folder(tiny_models_folder: Path) -> Path:
    """The matching refiner, with the same VAE."""
    return write_tiny_sdxl(tiny_models_folder / "tiny-refiner", refiner=True)


@pytest.fixture(scope="session")
def tiny_pixart_folder(tiny_models_folder: Path) -> Path:
    """A PixArt-Sigma model in the diffusers layout; pixels per latent: 2, with 2 by 2 latents per patch."""
    return write_tiny_pixart(tiny_models_folder / "tiny-pixart")


@pytest.fixture(scope="session")
def tiny_single_file(tiny_sdxl_folder: Path, tiny_models_folder: Path) -> Path:
    """The weights of `tiny_sdxl_folder` as one file with original key names."""
    return write_single_file(tiny_sdxl_folder, tiny_models_folder / "tiny-sdxl.safetensors")


@pytest.fixture(scope="session")
def tiny_refiner_file(tiny_refiner_folder: Path, tiny_models_folder: Path) -> Path:
    """The weights of `tiny_refiner_folder` as one file with original key names."""
    return write_single_file(tiny_refiner_folder, tiny_models_folder / "tiny-refiner.safetensors")
