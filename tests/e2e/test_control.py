"""Control images through the engine and the command line: recorded, made again, left out and refused by name."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flow_parity import SIDE, request_of
from PIL import Image
from recorded_again import read_metadata
from tiny_control import weights_of, write_tiny_control
from tiny_perception import write_depth
from tiny_sdxl import write_tiny_sdxl

from mezzotint import codec, paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.cli import main
from mezzotint.control_protocol import ControlImageRequest
from mezzotint.engine import Engine
from mezzotint.errors import ImageRefused, ModelRefused, UnknownModel, UsageError
from mezzotint.images.canvas import fit
from mezzotint.protocol import (
    ControlRef,
    GenerateManyRequest,
    GenerateResult,
    ImageInput,
    ModelRef,
    Output,
    Sampling,
    Stage,
    Transition,
)


@pytest.fixture(scope="module")
def engine():
    made = Engine(Catalog.standard())
    yield made
    made.close()


@pytest.fixture(scope="module")
def net(tiny_sdxl_folder, tmp_path_factory):
    return write_tiny_control(tmp_path_factory.mktemp("control") / "net", tiny_sdxl_folder)


@pytest.fixture
def control(net, tmp_path):
    Image.radial_gradient("L").resize((SIDE + 9, SIDE)).save(tmp_path / "control.png")
    return ControlRef(image=str(tmp_path / "control.png"), model=str(net), weight=0.9)


def run(engine, request, notices=None):
    events = []
    result = engine.generate(request, events.append, lambda: False)
    if notices is not None:
        notices += [event.code for event in events if type(event).__name__ == "Notice"]
    return result


def pixels(result):
    return np.array(Image.open(result.images[0].path)).astype(int)


@pytest.fixture
def asked(tiny_sdxl_folder, tmp_path, control):
    return request_of(tiny_sdxl_folder, tmp_path, steps=2, guidance_scale=3.0, controls=(control,))


def test_what_was_used_is_recorded_and_made_again(engine, asked, control, net, tmp_path):
    made = run(engine, asked)
    (used,) = made.stages[0].controls
    assert (used.file.path, used.image.path) == (str(weights_of(net)), control.image)
    assert (used.weight, used.start, used.end, used.type, used.preprocess) == (0.9, 0.0, 1.0, None, "none")
    assert str(weights_of(net)) not in [file.path for file in made.stages[0].model.files]
    found = read_metadata(Path(made.images[0].path))
    assert found.other["controls"] == f"{weights_of(net).name}:0.9"
    (recorded,) = found.request.controls
    assert recorded == replace(control, sha256=used.file.sha256, image_sha256=used.image.sha256)
    again = run(engine, replace(found.request, output=Output(path=str(tmp_path / "again.png"))))
    assert again.images[0].sha256 == made.images[0].sha256
    Image.new("RGB", (SIDE, SIDE)).save(control.image)
    with pytest.raises(ImageRefused, match="the control image has changed since it was used .* --control"):
        run(engine, found.request)
    changed = replace(recorded, image_sha256=None, sha256="0" * 64)
    with pytest.raises(ModelRefused, match="the ControlNet has changed since it was used .* --control"):
        run(engine, replace(found.request, controls=(changed,)))


def test_the_command_line_and_from(engine, asked, control, tiny_sdxl_folder, tmp_path, capsys):
    expected = run(engine, replace(asked, attention="auto")).images[0].sha256
    shared = ("-m", str(tiny_sdxl_folder), "--size", f"{SIDE}x{SIDE}", "--steps", "2", "--guidance", "3", "--seed", "7")
    said = f"{control.image},model={control.model},weight=0.9"
    target = str(tmp_path / "cli.png")
    words = ["generate", asked.prompt, *shared, "--dtype", "float32", "--control", said, "-o", target]
    assert main([*words, "--json", "--quiet"]) == 0
    made = codec.decode(GenerateResult, json.loads(capsys.readouterr().out))
    assert made.images[0].sha256 == expected
    assert main(["generate", "--from", target, "-o", str(tmp_path / "again.png"), "--json", "--quiet"]) == 0
    assert codec.decode(GenerateResult, json.loads(capsys.readouterr().out)).images[0].sha256 == expected
    assert main(["generate", "a house", "--control", f"{control.image},model=x,height=2"]) == 2
    assert "'height' is not a key" in capsys.readouterr().err


def test_a_second_pass_is_controlled_and_a_refiner_left_out(engine, asked, tiny_refiner_folder):
    first = asked.cascade.stages[0]
    refiner = Stage(model=ModelRef(id=str(tiny_refiner_folder)), sampling=Sampling(steps=4))
    stages = (replace(first, until=0.5), refiner, replace(first, width=2 * SIDE, height=2 * SIDE))
    transitions = (Transition(), Transition(scale=2.0, strength=0.5, space="pixel"))
    notices = []
    made = run(engine, replace(asked, cascade=replace(asked.cascade, stages=stages, transitions=transitions)), notices)
    assert [len(stage.controls) for stage in made.stages] == [1, 0, 1]
    assert notices.count("control_left_out") == 1


def test_an_inpainting_network_and_preprocessing(engine, asked, control, tmp_path):
    model = write_tiny_sdxl(tmp_path / "inpaint", inpaint=True)
    Image.linear_gradient("L").resize((SIDE, SIDE)).convert("RGB").save(tmp_path / "init.png")
    Image.new("L", (SIDE, SIDE), 255).save(tmp_path / "mask.png")
    images = (ImageInput(path=f"{tmp_path}/init.png"), ImageInput(path=f"{tmp_path}/mask.png", role="mask"))
    stage = replace(asked.cascade.stages[0], model=ModelRef(id=str(model)))
    request = replace(asked, cascade=replace(asked.cascade, stages=(stage,)), images=images)
    found = [
        pixels(run(engine, replace(request, controls=controls)))
        for controls in ((), (control,), (replace(control, preprocess="canny"),))
    ]
    assert all(np.abs(one - other).max() > 0 for one, other in ((found[0], found[1]), (found[1], found[2])))


def test_a_network_prepares_the_image_as_the_command_does(engine, asked, control, tmp_path):
    depth = replace(asked, controls=(replace(control, preprocess="depth", keep=True),))
    with pytest.raises(UnknownModel, match="`mezzotint models get depth-anything/Depth-Anything-V2-Small-hf`"):
        run(engine, depth)
    network = paths.models_folder() / "depth-small"
    write_depth(network)
    made = run(engine, depth)
    (used,) = made.stages[0].controls
    assert (used.preprocess, [file.path for file in used.networks]) == ("depth", [str(network / "model.safetensors")])
    assert read_metadata(Path(made.images[0].path)).request.controls[0].preprocess == "depth"
    fitted = fit(Image.open(control.image).convert("RGB"), SIDE, SIDE, Image.Resampling.LANCZOS)
    fitted.save(tmp_path / "fitted.png")
    prepared = engine.prepare_control(ControlImageRequest(path=f"{tmp_path}/fitted.png", preprocess="depth"))
    kept = Path(made.images[0].path).with_name(f"{Path(made.images[0].path).stem}-control-1.png")
    assert Image.open(kept).convert("RGB") == Image.open(prepared.path).convert("RGB")
    ready = run(engine, replace(asked, controls=(replace(control, image=prepared.path),)))
    assert made.images[0].sha256 == ready.images[0].sha256


def test_several_requests_have_their_own_control_images(engine, asked, control, tmp_path):
    Image.linear_gradient("L").save(tmp_path / "other.png")
    controls = (control, replace(control, image=str(tmp_path / "other.png")))
    requests = tuple(
        replace(asked, controls=(one,), output=Output(path=f"{tmp_path}/{number}.png"))
        for number, one in enumerate(controls)
    )
    done = engine.generate_many(GenerateManyRequest(requests=requests), lambda _: None, lambda: False)
    for request, outcome in zip(requests, done.outcomes, strict=True):
        together = pixels(outcome.result)
        assert outcome.result.together == 2
        assert outcome.result.stages[0].controls[0].image.path == request.controls[0].image
        assert np.abs(together - pixels(run(engine, replace(request, output=asked.output)))).max() <= 1
    assert np.abs(pixels(done.outcomes[0].result) - pixels(done.outcomes[1].result)).max() > 1


def test_what_cannot_be_is_refused_by_name(engine, asked, control, tiny_pixart_folder):
    with pytest.raises(UsageError, match="--deep-shrink and --control cannot be used together"):
        stage = replace(asked.cascade.stages[0], sampling=Sampling(deep_shrink=(2.0, 0.3)))
        run(engine, replace(asked, cascade=replace(asked.cascade, stages=(stage,))))
    with pytest.raises(UsageError, match="control: weight='7.0' is invalid"):
        run(engine, replace(asked, controls=(replace(control, weight=7.0),)))
    with pytest.raises(UsageError, match="9 control images are given; at most 8"):
        run(engine, replace(asked, controls=(control,) * 9))
    with pytest.raises(ModelRefused, match="is of the family pixart, and it is for a U-Net"):
        stage = replace(asked.cascade.stages[0], model=ModelRef(id=str(tiny_pixart_folder)))
        run(engine, replace(asked, cascade=replace(asked.cascade, stages=(stage,))))
