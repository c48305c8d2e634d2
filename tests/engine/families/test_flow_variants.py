"""Which model of its family a folder is, by its configuration and name."""

from pathlib import Path

import pytest

from mezzotint.checkpoints.folder import Component, FolderCheckpoint
from mezzotint.families.chroma.family import Chroma
from mezzotint.families.sana.family import Sana
from mezzotint.families.sana.sprint import SanaSprint
from mezzotint.families.sd3.family import StableDiffusion3

LARGE = {"num_layers": 38}


@pytest.mark.parametrize(
    ("family", "name", "config", "variant", "size", "steps", "scale"),
    [
        (Chroma(), "Chroma1-HD", {}, "hd", 1024, 35, 5.0),
        (Chroma(), "Chroma1-Base", {}, "base", 512, 35, 5.0),
        (Chroma(), "models--lodestones--Chroma1-Flash/snapshots/0", {}, "flash", 1024, 8, 1.0),
        (StableDiffusion3(), "stable-diffusion-3.5-large", LARGE, "large", 1024, 28, 3.5),
        (StableDiffusion3(), "stable-diffusion-3.5-large-turbo", LARGE, "turbo", 1024, 4, 1.0),
        (StableDiffusion3(), "mine", {"num_layers": 24, "dual_attention_layers": [0]}, "medium", 1024, 40, 4.5),
        (StableDiffusion3(), "mine", {"num_layers": 24}, "sd3", 1024, 28, 7.0),
        (Sana(), "mine", {"sample_size": 16}, "512", 512, 20, 4.5),
        (Sana(), "mine", {"sample_size": 128}, "4096", 4096, 20, 4.5),
        (Sana(), "mine", {}, "1024", 1024, 20, 4.5),
        (SanaSprint(), "mine", {}, "sprint", 1024, 2, 4.5),
    ],
)
def test_a_variant_and_what_it_is_run_with(family, name, config, variant, size, steps, scale):
    found = family.detect(folder(name, config))
    assert found.variant == variant
    assert (found.defaults.width, found.defaults.height, found.defaults.steps) == (size, size, steps)
    assert found.defaults.guidance_scale == scale


def folder(name, config):
    transformer = Component(
        name="transformer", library="diffusers", class_name="", config=config, folder=Path(name), files=()
    )
    return FolderCheckpoint(
        path=Path("models") / name,
        pipeline_class="",
        components={"transformer": transformer},
        bytes=0,
        settings={},
        options={},
    )
