import pytest
import torch
from transformers import CLIPTextModel, CLIPTokenizer, T5EncoderModel, T5Tokenizer

from mezzotint.benchmarks.postcards.edits import training_edit
from mezzotint.paths import assets_folder
from mezzotint_starter.autoencoder import encode_scenes
from mezzotint_starter.flow.edit_latents import edit_latents
from mezzotint_starter.flow.flow_training import (
    FlowStage,
    FlowTextEncoders,
    build_flow_transformer,
    flow_edit_loss,
    prompts_at,
    train_flow,
)
from mezzotint_starter.networks import TOKENS, build_autoencoder, load_network

STAGE = FlowStage(phase="flow", steps=2, batch=6, rate=1e-3, seed=0)
ALL = slice(None)


@pytest.fixture(scope="module")
def encoders():
    folder = assets_folder() / "starter"
    return FlowTextEncoders(
        t5=load_network(T5EncoderModel, folder / "dit" / "text_encoder"),
        t5_tokenizer=T5Tokenizer.from_pretrained(folder / "dit" / "tokenizer"),
        clip=load_network(CLIPTextModel, folder / "xl" / "text_encoder"),
        clip_tokenizer=CLIPTokenizer.from_pretrained(folder / "xl" / "tokenizer"),
        device="cpu",
    )


@pytest.fixture(scope="module")
def latents(tmp_path_factory):
    network = build_autoencoder(0).eval()
    return edit_latents(network, tmp_path_factory.mktemp("latents"), seed=0, count=6, side=64, device="cpu")


def test_latents_of_an_edit_are_those_of_its_two_scenes(latents):
    edit, network = training_edit(0, 3), build_autoencoder(0).eval()
    before, after = (encode_scenes(network, [scene], "cpu", 64)[0] for scene in (edit.before, edit.after))
    torch.testing.assert_close(latents.before[3], before)
    torch.testing.assert_close(latents.after[3], after)
    assert not torch.equal(latents.before[3], latents.after[3])


def test_prompts_are_encoded_with_their_padding(encoders):
    tensors = encoders(["a red house", "make it night"]).tensors
    assert tensors["text"].shape == (2, TOKENS, 192)
    assert not torch.equal(tensors["pooled"][0], tensors["pooled"][1])


def test_a_third_of_a_batch_sees_the_scene_before_its_edit(encoders, latents):
    network = build_flow_transformer(0)
    with torch.no_grad():
        usual = flow_edit_loss(network, encoders, latents, STAGE, 0, ALL)
        other = type(latents)(before=latents.before.flip(0) + 1, after=latents.after)
        assert flow_edit_loss(network, encoders, other, STAGE, 0, ALL) != usual
        assert flow_edit_loss(network, encoders, latents, STAGE, 0, ALL) == usual


def test_prompts_are_instructions_or_captions_and_some_are_empty():
    edits, captions = (prompts_at([1] * 60, STAGE, 0, edits=edits) for edits in (True, False))
    assert training_edit(0, 1).instruction not in captions
    many = [prompts_at([1], STAGE, step, edits=True)[0] for step in range(60)]
    assert set(many) == {"", training_edit(0, 1).instruction}
    assert set(edits) <= set(many)


def test_training_moves_the_weights_and_resumes(encoders, latents, tmp_path):
    network, before = build_flow_transformer(0), build_flow_transformer(0)
    train_flow(network, encoders, latents, tmp_path, STAGE, lambda _: None)
    moved = [not torch.equal(a, b) for a, b in zip(network.parameters(), before.parameters(), strict=True)]
    assert any(moved)
    again = build_flow_transformer(1)
    train_flow(again, encoders, latents, tmp_path, STAGE, lambda _: None)
    assert all(torch.equal(a, b) for a, b in zip(network.parameters(), again.parameters(), strict=True))
