import json
import shutil

import pytest
import torch
from diffusers import PixArtSigmaPipeline
from safetensors.torch import load_file

from mezzotint.training.starter import recipe, sheets
from mezzotint.training.starter.__main__ import parser, plan_from
from mezzotint.training.starter.autoencoder import encode_scenes, normalize_latents, picture_tensor
from mezzotint.training.starter.denoising import HIGH_FROM, Reader, noise_levels, prompts_for
from mezzotint.training.starter.judge import bundled_judge, load_judge
from mezzotint.training.starter.networks import build_autoencoder, build_text_encoder
from mezzotint.training.starter.sharpening import train_decoder
from mezzotint.training.starter.vocabulary import build_tokenizer
from mezzotint.training.starter.world import training_scene


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder that a miniature of the recipe makes, and the folder of its states."""
    folder = tmp_path_factory.mktemp("starter")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sheets, "PROMPTS", sheets.PROMPTS[:1])
        return recipe.run(recipe.miniature(folder / "work", folder / "out", steps=2)), folder / "work"


def test_the_stock_pipeline_loads_and_draws(made):
    pipeline = PixArtSigmaPipeline.from_pretrained(made[0], local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    pictures = sheets.draw_samples(pipeline, ["a red house", "Zyx ü"], steps=2)
    assert [picture.size for picture in pictures] == [(128, 128)] * 2


def test_pictures_do_not_depend_on_the_padding_of_the_prompt(made):
    pipeline = PixArtSigmaPipeline.from_pretrained(made[0], local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
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


def test_the_folder_is_small_half_precision_and_free_of_code(made):
    files = [file for file in made[0].rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 12_000_000
    assert {file.suffix for file in files} == {".json", ".safetensors"}
    for file in made[0].rglob("*.safetensors"):
        assert {tensor.dtype for tensor in load_file(file).values()} == {torch.float16}


def test_the_folder_says_what_it_is(made):
    note = json.loads((made[0] / "mezzotint.json").read_text("utf-8"))
    assert (note["name"], note["family"], note["licence"]) == ("starter-dit", "pixart", "Apache-2.0")
    assert set(note["defaults"]) == {"width", "height", "steps", "guidance_scale"}
    index = json.loads((made[0] / "model_index.json").read_text("utf-8"))
    assert index["_class_name"] == "PixArtSigmaPipeline"
    scheduler = json.loads((made[0] / "scheduler" / "scheduler_config.json").read_text("utf-8"))
    assert (scheduler["prediction_type"], scheduler["use_flow_sigmas"]) == ("flow_prediction", True)


def test_running_again_from_the_states_makes_the_same_weights(made, tmp_path, monkeypatch):
    monkeypatch.setattr(sheets, "PROMPTS", sheets.PROMPTS[:1])
    shutil.copytree(made[1], tmp_path / "work")
    (tmp_path / "work" / "denoising.safetensors").unlink()
    again = recipe.run(recipe.miniature(tmp_path / "work", tmp_path / "out", steps=2))
    for file in made[0].rglob("*.safetensors"):
        first, second = load_file(file), load_file(again / file.relative_to(made[0]))
        assert all(torch.equal(first[name], second[name]) for name in first)


def test_normalized_latents_are_standard_and_decode_as_before():
    network = build_autoencoder(0).eval()
    picture = picture_tensor(training_scene(0, 0)).unsqueeze(0)
    with torch.no_grad():
        before = network.decode(network.encode(picture).latent_dist.mean).sample
        normalize_latents(network, seed=0, device="cpu", pictures=32)
        after = network.decode(network.encode(picture).latent_dist.mean).sample
    torch.testing.assert_close(before, after, atol=1e-3, rtol=1e-3)
    latents = encode_scenes(network, [training_scene(0, index) for index in range(32)], "cpu")
    torch.testing.assert_close(latents.mean(dim=(0, 2, 3)), torch.zeros(4), atol=1e-3, rtol=0)
    torch.testing.assert_close(latents.std(dim=(0, 2, 3)), torch.ones(4), atol=1e-3, rtol=0)


def test_sharpening_leaves_the_latents_alone(tmp_path):
    network, scenes = build_autoencoder(0).eval(), [training_scene(0, 1)]
    latents = encode_scenes(network, scenes, "cpu")
    weight = network.decoder.conv_out.weight.clone()
    train_decoder(network, tmp_path, seed=0, steps=1, device="cpu")
    assert torch.equal(encode_scenes(network, scenes, "cpu"), latents)
    assert not torch.equal(network.decoder.conv_out.weight, weight)


def test_the_text_encoder_learns_nothing_from_pictures():
    tokenizer = build_tokenizer(0, captions=500)
    reader = Reader(tokenizer=tokenizer, encoder=build_text_encoder(0, len(tokenizer)), device="cpu")
    tokens, mask = reader(["a red house", ""])
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
    assert (plan.denoiser_steps, plan.parts, plan.out) == (7, 3, tmp_path / "starter-dit")
    assert plan_from(parser().parse_args(["--steps", "5"])).reading_steps == 5
    assert plan_from(parser().parse_args(["--device", "cuda"])).parts == 1


def test_a_miniature_of_the_judge_can_be_used(tmp_path):
    made = recipe.run_judge(recipe.miniature(tmp_path / "work", tmp_path / "judge", steps=1))
    assert made == tmp_path / "judge"
    load_judge(made)


def test_the_judge_is_made_where_the_program_looks_for_it(tmp_path):
    assert plan_from(parser().parse_args(["--only", "judge"])).out == bundled_judge()
    assert plan_from(parser().parse_args(["--only", "judge", "--out", str(tmp_path)])).out == tmp_path
