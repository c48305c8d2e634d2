"""LoRAs against the diffusers pipelines of the same models, into whose weights the same LoRAs were merged by hand.

diffusers' own loader needs peft, and changes the networks' layers; the arithmetic of a merged weight needs nothing.
"""

from pathlib import Path

import numpy as np
import pytest
import torch
from lora_files import dotted_tensors, kohya_tensors, merge, random_lora, write_lora
from PIL import Image
from tiny_sd15 import write_tiny_sd15

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, LoraRef, ModelRef, Output, Sampling, Stage

pytestmark = pytest.mark.usefixtures("every_device")

SIDE = 64
SDXL_LAYERS = (
    r"attn[12]\.|ff\.net|proj_(in|out)|q_proj|v_proj|out_proj|mlp\.fc|time_emb_proj|resnets.*conv|samplers|conv_in"
)


@pytest.fixture(scope="module")
def engine(every_device):
    return Engine(Catalog.standard())


def networks_of(pipeline):
    names = ("unet", "transformer", "text_encoder", "text_encoder_2")
    return {name: getattr(pipeline, name) for name in names if hasattr(pipeline, name)}


@pytest.fixture(scope="module")
def sdxl(tiny_sdxl_folder):
    from diffusers import StableDiffusionXLPipeline

    return StableDiffusionXLPipeline.from_pretrained(tiny_sdxl_folder, torch_dtype=torch.float32)


@pytest.fixture(scope="module")
def sd15_folder(tmp_path_factory):
    return write_tiny_sd15(tmp_path_factory.mktemp("sd15") / "model")


@pytest.fixture(scope="module")
def sd15(sd15_folder):
    from diffusers import StableDiffusionPipeline

    return StableDiffusionPipeline.from_pretrained(sd15_folder, torch_dtype=torch.float32)


@pytest.fixture(scope="module")
def pixart(tiny_pixart_folder):
    from diffusers import PixArtSigmaPipeline

    return PixArtSigmaPipeline.from_pretrained(tiny_pixart_folder, torch_dtype=torch.float32)


def merged(pipeline, *weighted, **how):
    """The pipeline's image with the LoRAs in its weights, and without; the weights are put back."""
    networks = networks_of(pipeline)
    before = {name: {k: v.clone() for k, v in network.state_dict().items()} for name, network in networks.items()}

    def image():
        generator = torch.Generator("cpu").manual_seed(7)
        made = pipeline(
            "a red house",
            negative_prompt="rain",
            height=SIDE,
            width=SIDE,
            num_inference_steps=3,
            guidance_scale=5.0,
            generator=generator,
            output_type="np",
            **how,
        )
        return made.images[0]

    plain = image()
    try:
        for added, weight in weighted:
            merge(networks, added, weight)
        return image(), plain
    finally:
        for name, network in networks.items():
            network.load_state_dict(before[name])


def ours(engine, folder: Path, tmp_path: Path, *loras: LoraRef) -> np.ndarray:
    stage = Stage(
        model=ModelRef(id=str(folder)),
        width=SIDE,
        height=SIDE,
        sampling=Sampling(steps=3, guidance_scale=5.0),
    )
    request = GenerateRequest(
        prompt="a red house",
        negative_prompt="rain",
        seed=7,
        cascade=Cascade(stages=(stage,)),
        attention="sdpa",
        dtype="float32",
        loras=loras,
        output=Output(path=str(tmp_path / "ours.png")),
    )
    result = engine.generate(request, lambda _: None, lambda: False)
    return np.array(Image.open(result.images[0].path))


def assert_same(theirs: np.ndarray, mine: np.ndarray, plain: np.ndarray) -> None:
    assert np.abs(theirs - plain).mean() > 0.01  # a LoRA that does nothing would prove nothing
    difference = np.abs((theirs * 255).round() - mine)
    assert difference.max() <= 1 and (difference > 0).mean() < 0.001


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("naming", ["kohya", "kohya-original", "diffusers", "down"])
def test_sdxl_with_text_encoders_and_convolutions(engine, sdxl, tiny_sdxl_folder, tmp_path, naming):
    added = random_lora(networks_of(sdxl), SDXL_LAYERS, alpha=3.0)
    match naming:
        case "kohya" | "kohya-original":
            tensors = kohya_tensors(added, original=naming == "kohya-original")
        case _:
            tensors = dotted_tensors(added, naming)
    path = write_lora(tmp_path / "a.safetensors", tensors)
    theirs, plain = merged(sdxl, (added, 0.4))
    assert_same(theirs, ours(engine, tiny_sdxl_folder, tmp_path, LoraRef(path=str(path), weight=0.4)), plain)


@pytest.mark.slow
@pytest.mark.parametrize("naming", ["kohya", "diffusers"])
def test_stable_diffusion_1_with_its_text_encoder(engine, sd15, sd15_folder, tmp_path, naming):
    added = random_lora(networks_of(sd15), SDXL_LAYERS, alpha=3.0)
    tensors = dotted_tensors(added)
    if naming == "kohya":
        tensors = {name.replace("lora_te1_", "lora_te_"): tensor for name, tensor in kohya_tensors(added).items()}
    path = write_lora(tmp_path / "a.safetensors", tensors)
    theirs, plain = merged(sd15, (added, 0.4))
    assert_same(theirs, ours(engine, sd15_folder, tmp_path, LoraRef(path=str(path), weight=0.4)), plain)


@pytest.mark.parametrize("naming", ["kohya", "diffusers"])
def test_pixart_with_its_text_encoder(engine, pixart, tiny_pixart_folder, tmp_path, naming):
    layers = r"attn[12]\.to_|ff\.net|adaln_single\.linear|SelfAttention\.[qv]|DenseReluDense|pos_embed\.proj"
    added = random_lora(networks_of(pixart), layers, alpha=3.0)
    tensors = dotted_tensors(added)
    if naming == "kohya":
        tensors = {name.replace("lora_te1_", "lora_te_"): tensor for name, tensor in kohya_tensors(added).items()}
    path = write_lora(tmp_path / "a.safetensors", tensors)
    theirs, plain = merged(pixart, (added, 0.5), use_resolution_binning=False)
    assert_same(theirs, ours(engine, tiny_pixart_folder, tmp_path, LoraRef(path=str(path), weight=0.5)), plain)


@pytest.mark.slow
def test_two_with_weights(engine, sdxl, tiny_sdxl_folder, tmp_path):
    first = random_lora(networks_of(sdxl), r"attn[12]\.|q_proj", alpha=1.0)
    second = random_lora(networks_of(sdxl), r"attn2\.|ff\.net|conv1", rank=5, alpha=4.0, seed=2)
    paths = (
        write_lora(tmp_path / "first.safetensors", kohya_tensors(first)),
        write_lora(tmp_path / "second.safetensors", kohya_tensors(second, original=True)),
    )
    refs = tuple(LoraRef(path=str(path), weight=weight) for path, weight in zip(paths, (0.8, -0.5), strict=True))
    theirs, plain = merged(sdxl, (first, 0.8), (second, -0.5))
    assert_same(theirs, ours(engine, tiny_sdxl_folder, tmp_path, *refs), plain)


@pytest.mark.slow_after(1)
@pytest.mark.parametrize(("naming", "sides"), [("kohya", "outputs"), ("kohya", "inputs"), ("diffusers", "outputs")])
def test_a_dora(engine, sdxl, tiny_sdxl_folder, tmp_path, naming, sides):
    added = random_lora(networks_of(sdxl), SDXL_LAYERS, alpha=3.0 if naming == "diffusers" else 2.0, dora=sides)
    tensors = dotted_tensors(added) if naming == "diffusers" else kohya_tensors(added, original=True)
    path = write_lora(tmp_path / "a.safetensors", tensors)
    theirs, plain = merged(sdxl, (added, 0.6))
    assert_same(theirs, ours(engine, tiny_sdxl_folder, tmp_path, LoraRef(path=str(path), weight=0.6)), plain)
