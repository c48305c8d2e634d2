"""The ControlNet of starter-xl: trained again from its state, and an image that follows a drawing."""

import shutil
from pathlib import Path

import pytest
import torch
from diffusers import ControlNetModel, UNet2DConditionModel
from safetensors.torch import load_file

from mezzotint.benchmarks.postcards.layout import follows_layout
from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.scoring import layout_cases
from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.places import Places
from mezzotint.control_protocol import ControlRef
from mezzotint.engine import Engine
from mezzotint.images.reading import read_image
from mezzotint.paths import assets_folder
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage
from mezzotint_starter import recipe
from mezzotint_starter.networks import load_network
from mezzotint_starter.plan import miniature
from mezzotint_starter.xl.control_training import COMPONENT, FOLDER, WEIGHTS, build_control, write_control

BUNDLED = assets_folder() / "starter"
XL = BUNDLED / "xl" / "unet"


@pytest.mark.slow
def test_it_is_made_again_from_its_state(tmp_path):
    plan = miniature(tmp_path / "work", tmp_path / "out", steps=2)
    path = recipe.run(plan, "control") / FOLDER / COMPONENT / WEIGHTS
    first = load_file(path)
    recipe.run(plan, "control")
    assert all(torch.equal(first[name], value) for name, value in load_file(path).items())


def test_an_untrained_one_is_the_encoder_of_the_unet(tmp_path):
    unet = load_network(UNet2DConditionModel, XL)
    shutil.copytree(XL, tmp_path / "xl" / "unet")
    write_control(build_control(unet, 0), unet, tmp_path / FOLDER / COMPONENT)
    read = load_network(ControlNetModel, tmp_path / FOLDER / COMPONENT).state_dict()
    shared = read.keys() & unet.state_dict().keys()
    assert len(shared) > 100 and all(torch.equal(read[name], unet.state_dict()[name]) for name in shared)
    assert not any(read[name].any() for name in read if name.startswith(("controlnet_down", "controlnet_mid")))


def test_images_follow_the_drawing_that_the_bundled_one_is_shown(tmp_path):
    (case,) = layout_cases(1)
    paint(case.scene).save(tmp_path / "drawing.png")
    control = ControlRef(image=str(tmp_path / "drawing.png"), model="starter-edges", preprocess="canny")
    made = []
    engine = Engine(Catalog(Places(bundled=BUNDLED)))
    for number, controls in enumerate(((control,), ())):
        stage = Stage(model=ModelRef(id="starter-xl"), sampling=Sampling(steps=6))
        output = Output(path=str(tmp_path / f"{number}.png"))
        request = GenerateRequest(
            prompt=case.prompt, cascade=Cascade(stages=(stage,)), controls=controls, seed=0, device="cpu", output=output
        )
        result = engine.generate(request, lambda _event: None, lambda: False)
        made.append(read_image(Path(result.images[0].path)))
    engine.close()
    assert [follows_layout(image, case.scene) for image in made] == [True, False]
