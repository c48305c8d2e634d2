import json
import shutil

import pytest
import torch
from diffusers import (
    AutoencoderKL,
    PixArtSigmaPipeline,
    StableDiffusionXLPipeline,
    UNet2DConditionModel,
)
from safetensors.torch import load_file
from transformers import CLIPTextModel, CLIPTextModelWithProjection, T5EncoderModel

from mezzotint.benchmarks.postcards.judge import load_judge
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint.catalog.catalog import Catalog
from mezzotint.catalog.places import Places
from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.families.detection import detect
from mezzotint_starter import recipe, sheets
from mezzotint_starter.__main__ import parser, plan_from
from mezzotint_starter.autoencoder import encode_scenes, image_tensor, normalize_latents
from mezzotint_starter.denoising import HIGH_FROM, PromptEncoder, noise_levels, prompts_for
from mezzotint_starter.networks import build_autoencoder, build_text_encoder, load_network
from mezzotint_starter.plan import miniature
from mezzotint_starter.vocabulary import build_tokenizer

MODELS = ("dit", "xl", "xl-refiner", "flow")
MEGABYTE = 2**20
IN_8_BITS = {torch.float16, torch.float32, torch.int8}
DTYPES = {
    "flow/transformer": IN_8_BITS | {torch.uint8},
    "dit/transformer": {torch.float16},
    "dit/vae": {torch.float16},
    "dit/preview_decoder": {torch.float16},
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of the models that a miniature of the recipe makes, and the folder of its states."""
    folder = tmp_path_factory.mktemp("starter")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sheets, "PROMPTS", sheets.PROMPTS[:1])
        return recipe.run(miniature(folder / "work", folder / "out", steps=2)), folder / "work"


def stock_pipeline(folder):
    encoder = load_network(T5EncoderModel, folder / "dit" / "text_encoder")
    pipeline = PixArtSigmaPipeline.from_pretrained(folder / "dit", text_encoder=encoder, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def test_the_stock_pipeline_loads_and_draws(made):
    pipeline = stock_pipeline(made[0])
    samples = sheets.draw_samples(pipeline, ["a red house", "Zyx ü"], steps=2)
    assert [image.size for image in samples] == [(128, 128)] * 2


def test_images_do_not_depend_on_the_padding_of_the_prompt(made):
    pipeline = stock_pipeline(made[0])
    drawn = [
        pipeline(
            "a red house",
            height=128,
            width=128,
            use_resolution_binning=False,
            clean_caption=False,
            num_inference_steps=2,
            max_sequence_length=length,
            generator=torch.Generator().manual_seed(1),
            output_type="pt",
        ).images
        for length in (32, 300)
    ]
    torch.testing.assert_close(*drawn, atol=1e-4, rtol=0)


def test_the_stock_pipeline_draws_with_the_shared_parts_in_hand(made):
    xl = made[0] / "xl"
    unet = load_network(UNet2DConditionModel, xl / "unet")
    first = load_network(CLIPTextModel, xl / "text_encoder")
    second = load_network(CLIPTextModelWithProjection, xl / "text_encoder_2")
    vae = AutoencoderKL.from_pretrained(made[0] / "dit" / "vae", local_files_only=True)
    pipeline = StableDiffusionXLPipeline.from_pretrained(
        xl,
        vae=vae,
        unet=unet,
        text_encoder=first,
        text_encoder_2=second,
        add_watermarker=False,
        local_files_only=True,
    )
    pipeline.set_progress_bar_config(disable=True)
    assert pipeline("a red house", height=128, width=256, num_inference_steps=1).images[0].size == (256, 128)


def test_the_folders_are_small_half_precision_and_free_of_code(made):
    files = [file for file in made[0].rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 24 * MEGABYTE
    assert {file.suffix for file in files} == {".json", ".safetensors"}
    for name in MODELS:
        for file in (made[0] / name).rglob("*.safetensors"):
            dtypes = {tensor.dtype for tensor in load_file(file).values()}
            assert dtypes == DTYPES.get(f"{name}/{file.parent.name}", IN_8_BITS)


def test_tokenizers_are_compact(made):
    files = list(made[0].rglob("tokenizer.json"))
    assert files and all(file.read_text("utf-8").count("\n") == 1 for file in files)


def test_the_folders_say_what_they_are(made):
    notes = {name: json.loads((made[0] / name / "mezzotint.json").read_text("utf-8")) for name in MODELS}
    assert [(note["name"], note["family"]) for note in notes.values()] == [
        ("starter-dit", "pixart"),
        ("starter-xl", "sdxl"),
        ("starter-xl-refiner", "sdxl"),
        ("starter-flow", "flux"),
    ]
    for note in notes.values():
        assert note["licence"] == "Apache-2.0"
        assert set(note["defaults"]) == {"width", "height", "steps", "guidance_scale"}
    scheduler = json.loads((made[0] / "dit" / "scheduler" / "scheduler_config.json").read_text("utf-8"))
    assert (scheduler["prediction_type"], scheduler["use_flow_sigmas"]) == ("flow_prediction", True)


def test_the_program_takes_them_for_what_they_are(made):
    found = {name: detect(open_checkpoint(made[0] / name)) for name in MODELS}
    assert [(each.family, each.variant) for each in found.values()] == [
        ("pixart", "sigma"),
        ("sdxl", "base"),
        ("sdxl", "refiner"),
        ("flux", "edit"),
    ]
    assert {each.prediction_type for name, each in found.items() if "xl" in name} == {"v_prediction"}
    assert {(each.defaults.width, each.defaults.steps) for each in found.values()} == {(128, 20), (256, 20)}
    assert (found["flow"].references, found["flow"].guidance) == (1, "cfg")
    catalog = Catalog(Places(bundled=made[0]))
    assert sorted(info.id for info in catalog.models() if info.problem is None) == [
        "starter-dit",
        "starter-flow",
        "starter-xl",
        "starter-xl-refiner",
    ]


@pytest.mark.parametrize(("state", "model"), [("denoising", "dit"), ("base", "xl"), ("refiner", "xl")])
def test_running_again_from_the_states_makes_the_same_weights(made, tmp_path, monkeypatch, state, model):
    monkeypatch.setattr(sheets, "PROMPTS", sheets.PROMPTS[:1])
    shutil.copytree(made[1], tmp_path / "work")
    (tmp_path / "work" / f"{state}.safetensors").unlink()
    again = recipe.run(miniature(tmp_path / "work", tmp_path / "out", steps=2), model)
    files = list(again.rglob("*.safetensors"))
    assert files
    for file in files:
        first, second = load_file(made[0] / file.relative_to(again)), load_file(file)
        assert all(torch.equal(first[name], second[name]) for name in first)


def test_normalized_latents_are_standard_and_decode_as_before():
    network = build_autoencoder(0).eval()
    image = image_tensor(training_scene(0, 0)).unsqueeze(0)
    with torch.no_grad():
        before = network.decode(network.encode(image).latent_dist.mean).sample
        normalize_latents(network, seed=0, device="cpu", images=32)
        after = network.decode(network.encode(image).latent_dist.mean).sample
    torch.testing.assert_close(before, after, atol=1e-3, rtol=1e-3)
    latents = encode_scenes(network, [training_scene(0, index) for index in range(32)], "cpu")
    torch.testing.assert_close(latents.mean(dim=(0, 2, 3)), torch.zeros(4), atol=1e-3, rtol=0)
    torch.testing.assert_close(latents.std(dim=(0, 2, 3)), torch.ones(4), atol=1e-3, rtol=0)


def test_the_text_encoder_learns_nothing_from_images():
    tokenizer = build_tokenizer(0, captions=500)
    prompt_encoder = PromptEncoder(tokenizer=tokenizer, encoder=build_text_encoder(0, len(tokenizer)), device="cpu")
    tokens, mask = prompt_encoder(["a red house", ""])
    assert not tokens.requires_grad
    assert tokens.shape[:2] == mask.shape


def test_more_than_a_third_of_the_noise_levels_are_high():
    sigmas = noise_levels(4000, torch.Generator().manual_seed(0))
    assert 0 <= float(sigmas.min()) <= float(sigmas.max()) <= 1
    assert 0.33 < float((sigmas > HIGH_FROM).float().mean()) < 0.42


def test_some_prompts_are_empty():
    prompts = [prompt for step in range(40) for prompt in prompts_for(list(range(48)), seed=0, step=step)]
    assert 0.09 < prompts.count("") / len(prompts) < 0.15


def test_the_options_make_the_plan(tmp_path):
    plan = plan_from(parser().parse_args(["--work", str(tmp_path), "--denoiser-steps", "7", "--parts", "3"]))
    assert (plan.denoiser_steps, plan.parts, plan.out) == (7, 3, tmp_path / "models")
    assert plan_from(parser().parse_args(["--steps", "5", "--base-steps", "6"])).reading_steps == 5
    assert plan_from(parser().parse_args(["--steps", "5", "--base-steps", "6"])).base_steps == 6
    assert plan_from(parser().parse_args(["--device", "cuda", "--precision", "float32"])).parts == 1


def test_a_miniature_of_the_judge_can_be_used(made):
    load_judge(made[0] / "judge")
