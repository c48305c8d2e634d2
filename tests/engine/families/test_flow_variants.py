"""Which model of its family a folder is, by its configuration and name."""

import re
from pathlib import Path

import pytest

from mezzotint.checkpoints.folder import Component, FolderCheckpoint
from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.families.chroma.family import Chroma
from mezzotint.families.flux2.family import Flux2Klein
from mezzotint.families.krea2.family import Krea2
from mezzotint.families.sana.family import Sana
from mezzotint.families.sana.sprint import SanaSprint
from mezzotint.families.sd3.family import StableDiffusion3
from mezzotint.families.z_image.family import ZImage

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


@pytest.mark.parametrize(
    ("family", "name", "config", "said"),
    [
        (Chroma(), "Chroma1-HD", {}, None),
        (Chroma(), "my-flashlight", {}, None),
        (Chroma(), "mine-not-flash", {}, None),
        (
            Chroma(),
            "models--x--Chroma1-Flash/snapshots/0",
            {},
            "flash with 8 steps .* its name, Chroma1-Flash",
        ),
        (StableDiffusion3(), "SD3.5-large-Turbo", LARGE, "turbo with 4 steps at guidance 1 is assumed, from its name"),
        (StableDiffusion3(), "stable-diffusion-3.5-large", LARGE, None),
        (Sana(), "Sana-1024", {"sample_size": 16}, None),
    ],
)
def test_a_variant_that_only_a_folders_name_says_is_a_guess(family, name, config, said):
    told = family.detect(folder(name, config)).notices
    assert told == () if said is None else re.match(said, told[0])


@pytest.mark.parametrize(
    ("family", "name", "variant", "said"),
    [
        (ZImage(), "z_image_turbo_bf16", "turbo", None),
        (ZImage(), "z-image-base", "base", "base with 50 steps at guidance 5 is assumed, from its name, z-image-base"),
        (ZImage(), "z-image-turbobase", "turbo", "turbo .* is assumed, from a name that says neither turbo nor base"),
        (Krea2(), "krea2-raw", "raw", "raw with 28 steps at guidance 5.5"),
        (Flux2Klein(), "flux-2-klein", "distilled", "distilled .* from a name that says neither distilled nor base"),
        (Flux2Klein(), "flux-2-klein-base-4b", "base", "base with 50 steps"),
    ],
)
def test_files_of_one_shape_are_told_by_name(family, name, variant, said):
    header = Header(path=Path(f"{name}.safetensors"), tensors={}, metadata={}, bytes=0)
    found = family.detect(FileCheckpoint(path=header.path, header=header, bytes=0))
    assert found.variant == variant
    assert found.notices == () if said is None else re.match(said, found.notices[0])


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
