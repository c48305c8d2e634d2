"""Regional prompts through the engine and the command line: what they reach, what is recorded, what is refused."""

import numpy as np
import pytest
from flow_parity import PROMPT, request_of
from PIL import Image
from recorded_again import read_metadata
from tiny_chroma import write_tiny_chroma
from tiny_flux1 import write_tiny_flux
from tiny_sd3 import write_tiny_sd3
from tiny_sd15 import write_tiny_sd15

from mezzotint.catalog.catalog import Catalog
from mezzotint.cli import main
from mezzotint.engine import Engine
from mezzotint.errors import ImageRefused, UsageError
from mezzotint.protocol import Output
from mezzotint.values.regions import RegionRef

OTHER = "two green hills under a dark blue sky"
EVERYWHERE, LEFT = (0.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.5, 1.0)


def region(prompt=PROMPT, box=EVERYWHERE, **settings):
    return RegionRef(box=box, prompt=prompt, **settings)


@pytest.fixture(scope="module")
def engine():
    made = Engine(Catalog.standard())
    yield made
    made.close()


@pytest.fixture(scope="module")
def sd15(tmp_path_factory):
    return write_tiny_sd15(tmp_path_factory.mktemp("sd15") / "model")


def pixels(engine, model, folder, **fields):
    result = engine.generate(request_of(model, folder, **fields), lambda _: None, lambda: False)
    return np.array(Image.open(result.images[0].path)).astype(int)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", ["sd15", "tiny_pixart_folder"])
def test_over_the_whole_image_it_is_its_prompt_bit_for_bit(engine, name, tmp_path, request):
    model, asked = request.getfixturevalue(name), {"steps": 1, "guidance_scale": 3.0}
    plain = pixels(engine, model, tmp_path, **asked)
    assert np.array_equal(pixels(engine, model, tmp_path, **asked, prompt=OTHER, regions=(region(),)), plain)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("write", [write_tiny_flux, write_tiny_sd3])
def test_in_joint_attention_the_images_prompt_then_reaches_nothing(engine, write, tmp_path):
    model, asked = write(tmp_path / "model"), {"steps": 1, "guidance_scale": 1.0}
    plain = pixels(engine, model, tmp_path, **asked)
    assert np.array_equal(pixels(engine, model, tmp_path, **asked, regions=(region(),)), plain)


def test_it_is_recorded_and_made_again_with_another_prompt_for_a_region(sd15, tmp_path, capsys):
    said = "0,0,0.5,1,prompt=a red house, two trees,weight=0.5"
    words = ["generate", "a lake", "-m", str(sd15), "--size", "64x64", "--steps", "1", "--seed", "3"]
    assert main([*words, "--region", said, "-o", str(tmp_path / "one.png")]) == 0
    found = read_metadata(tmp_path / "one.png")
    assert found.request.regions == (region("a red house, two trees", LEFT, weight=0.5),)
    assert found.other["regions"] == said.replace("house, ", "house,, ")
    assert main(["generate", "--from", str(tmp_path / "one.png"), "-o", str(tmp_path / "two.png")]) == 0
    assert read_metadata(tmp_path / "two.png").other["pixels_sha256"] == found.other["pixels_sha256"]
    capsys.readouterr()


def test_masks_are_those_of_the_record(engine, sd15, tmp_path):
    mask, output = tmp_path / "mask.png", Output(path=str(tmp_path / "one.png"))
    Image.new("L", (9, 9), 255).save(mask)
    asked = {"steps": 1, "guidance_scale": 1.0}
    regions = (RegionRef(mask=str(mask), prompt=PROMPT),)
    pixels(engine, sd15, tmp_path, **asked, prompt=OTHER, regions=regions, output=output)
    (recorded,) = read_metadata(tmp_path / "one.png").request.regions
    assert recorded.mask == str(mask) and recorded.mask_sha256 is not None
    Image.new("L", (9, 9)).save(mask)
    with pytest.raises(ImageRefused, match="the mask of a region has changed since it was used"):
        pixels(engine, sd15, tmp_path, **asked, regions=(recorded,))


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"regions": (region(box=(0, 0, 2, 1)),)}, "region: 0,0,2,1 is not a box inside the image"),
        ({"regions": (region(),) * 9}, "9 regions are given; at most 8"),
        ({"compile": True}, "--region and --compile cannot be used together"),
        ({"deep_shrink": (2.0, 0.5)}, "--region and --deep-shrink cannot be used together"),
    ],
)
def test_what_cannot_be_done_is_refused(engine, sd15, tmp_path, fields, reason):
    asked = {"regions": (region(),)} | fields
    with pytest.raises(UsageError, match=reason):
        engine.generate(request_of(sd15, tmp_path, side=128, **asked), lambda _: None, lambda: False)


def test_models_whose_text_has_places_are_refused_by_name(engine, tmp_path):
    model = write_tiny_chroma(tmp_path / "Chroma1-HD")
    with pytest.raises(UsageError, match="Chroma1-HD cannot follow regional prompts"):
        engine.generate(request_of(model, tmp_path, regions=(region(),)), lambda _: None, lambda: False)
