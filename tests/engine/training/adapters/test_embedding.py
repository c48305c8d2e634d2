"""A word that is learned: its vectors change, and nothing else; its file is read as what was trained."""

import pytest
import torch
from flow_parity import ours
from safetensors.torch import load_file
from tiny_sd15 import write_tiny_sd15
from tiny_training import SIDE, TinyTraining

from mezzotint.checkpoints.header import read_header
from mezzotint.errors import UsageError
from mezzotint.families.family import PromptInputs
from mezzotint.families.lora.description import Description
from mezzotint.families.text.clip_encode import clip_encoders
from mezzotint.families.text.textual_inversion import load_inversions
from mezzotint.training.adapters.embedding import EmbeddingAdapter

TEXT = "a house and 0 trees beside a zibble"


@pytest.fixture(scope="module", params=["sd15", "sdxl"])
def folder(request, tmp_path_factory):
    if request.param == "sdxl":
        return request.getfixturevalue("tiny_sdxl_folder")
    return write_tiny_sd15(tmp_path_factory.mktemp("sd15") / "model")


@pytest.fixture(scope="module")
def tiny(folder):
    return TinyTraining(folder, images=1)


@pytest.fixture
def adapter(tiny):
    encoders = clip_encoders(tiny.model.tokenizers, tiny.model.networks)
    return EmbeddingAdapter(encoders, "zibble", initial="castle tower", vectors=3)


def encoded(tiny, *files, text=TEXT):
    inputs = PromptInputs(
        prompt=text,
        negative_prompt="",
        width=SIDE,
        height=SIDE,
        guidance_scale=1.0,
        clip_skip=0,
        embeddings=files,
    )
    return tiny.family.encode(tiny.model, inputs).tensors


def same(a, b):
    return all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.slow
def test_it_begins_as_another_word_and_learns_vectors_alone(tiny, adapter):
    before = {key: each.detach().clone() for key, each in adapter.named().items()}
    weights = {name: each.clone() for name, each in tiny.model.networks["text_encoder"].state_dict().items()}
    wanted = encoded(tiny, text="a house and 0 trees beside a castle tower castle")
    assert same({name: each.detach() for name, each in tiny.conditioning(0, adapter.words).tensors.items()}, wanted)
    trainer = tiny.trainer(adapter, steps=4, peak=0.05)

    def loss():
        return trainer.validation_loss(lambda: tiny.batch_now(0, size=1, words=adapter.words))

    first = loss()
    for _ in range(4):
        trainer.train_step(lambda number: tiny.batch_now(number, size=1, words=adapter.words))
    assert loss() < first
    assert all(not torch.equal(each, before[key]) for key, each in adapter.named().items())
    after = tiny.model.networks["text_encoder"].state_dict()
    assert same(weights, after)


def test_its_file_is_read_as_what_was_trained(tiny, folder, adapter, tmp_path):
    for parameter in adapter.parameters():
        parameter.data = parameter.data + 0.1
    about = Description(title="zibble", trigger_phrase="zibble", others={"mezzotint.training": "{}"})
    adapter.write(tmp_path / "zibble.safetensors", tiny.family.name, about, overwrite=False)
    (read,) = load_inversions([tmp_path / "zibble.safetensors"], {k: v.shape[1] for k, v in adapter.named().items()})
    assert read.word == "zibble" and same(adapter.named(), read.vectors)
    with torch.no_grad():
        assert same(tiny.conditioning(0, adapter.words).tensors, encoded(tiny, tmp_path / "zibble.safetensors"))
    names = {"clip_l", "clip_g"} if tiny.family.name == "sdxl" else {"emb_params"}
    assert load_file(tmp_path / "zibble.safetensors").keys() == names
    said = read_header(tmp_path / "zibble.safetensors").metadata
    assert said["modelspec.architecture"].endswith("/textual-inversion") and said["mezzotint.training"] == "{}"
    with pytest.raises(UsageError, match="exists already"):
        adapter.write(tmp_path / "zibble.safetensors", tiny.family.name, about, overwrite=False)
    images = [
        ours(folder, tmp_path, steps=1, prompt="a zibble", embeddings=files)
        for files in ((), (str(tmp_path / "zibble.safetensors"),))
    ]
    assert (images[0] != images[1]).any()


def test_vectors_do_not_decay_and_are_averaged_like_others(tiny, adapter):
    (group,) = adapter.groups()
    assert not group.decays
    trainer = tiny.trainer(adapter, ema=0.5)
    trainer.train_step(lambda number: tiny.batch_now(number, words=adapter.words))
    now = adapter.words[0].vectors["clip_l"].detach().clone()
    with trainer.averaged():
        assert not torch.equal(adapter.words[0].vectors["clip_l"], now)
    assert torch.equal(adapter.words[0].vectors["clip_l"], now)


def test_it_needs_a_word_to_begin_with(tiny):
    encoders = clip_encoders(tiny.model.tokenizers, tiny.model.networks)
    with pytest.raises(UsageError, match="name it by --word"):
        EmbeddingAdapter(encoders, "zibble", initial="", vectors=1)
