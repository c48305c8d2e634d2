"""Words are encoded once: for the same model, LoRAs and embedding files, and never for others."""

from dataclasses import replace

import pytest
import torch

from mezzotint.families.family import Conditioning, LoadedModel
from mezzotint.protocol import FileUsed, LoraUsed, Sampling
from mezzotint.stages.prompts import PromptInputs, encoded

INPUTS = PromptInputs(
    prompt="a red house",
    negative_prompt="",
    width=64,
    height=64,
    guidance_scale=3.0,
    clip_skip=0,
    embeddings=(),
)


class Encoder:
    """Counts what it is asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, inputs):
        self.asked.append(inputs)
        text = torch.full((2, 3, 4), float(len(self.asked)))
        return Conditioning(
            guided=True, sampling=Sampling(guidance_scale=3.0, guidance_rescale=0.0), tensors={"text": text}
        )


@pytest.fixture
def model():
    return LoadedModel(sources=None, device=torch.device("cpu"), dtype=torch.float32)


def lora(sha256, weight=1.0):
    return LoraUsed(file=FileUsed(path="a", sha256=sha256, bytes=1), weight=weight, tensors_sha256="")


def test_the_same_words_are_encoded_once(model):
    encode = Encoder()
    first, second = (encoded(model, INPUTS, (), encode) for _ in range(2))
    assert len(encode.asked) == 1 and torch.equal(first.tensors["text"], second.tensors["text"])
    assert (second.guided, second.sampling.guidance_scale) == (True, 3.0)


@pytest.mark.parametrize(
    "change",
    [{"prompt": "a boat"}, {"negative_prompt": "rain"}, {"clip_skip": 1}, {"width": 128}, {"guidance_scale": 2.0}],
)
def test_others_are_encoded(model, change):
    encode = Encoder()
    encoded(model, INPUTS, (), encode)
    encoded(model, replace(INPUTS, **change), (), encode)
    assert len(encode.asked) == 2


def test_with_other_loras_they_are_others(model):
    encode = Encoder()
    for loras in ((), (lora("1"),), (lora("1", 0.5),), (lora("2"),), (lora("1"),)):
        encoded(model, INPUTS, loras, encode)
    assert len(encode.asked) == 4


def test_with_an_embedding_file_that_has_changed_they_are_others(model, tmp_path):
    encode, file = Encoder(), tmp_path / "learned.safetensors"
    for content in ("one", "another", "another"):
        if not file.exists() or file.read_text() != content:
            file.write_text(content)
        encoded(model, replace(INPUTS, embeddings=(file,)), (), encode)
    assert len(encode.asked) == 2 and encode.asked[0].embeddings == (file,)


def test_a_model_that_was_lowered_in_the_middle_neither_gives_nor_takes(model):
    encode = Encoder()
    encoded(model, INPUTS, (), encode)
    model.lowered = True
    for _ in range(2):
        encoded(model, INPUTS, (), encode)
    assert len(encode.asked) == 3
    model.lowered = False
    assert float(encoded(model, INPUTS, (), encode).tensors["text"][0, 0, 0]) == 1


def test_one_that_is_lowered_by_encoding_is_not_remembered(model):
    def encode(inputs):
        model.lowered = True
        return Encoder()(inputs)

    encoded(model, INPUTS, (), encode)
    assert len(model.prompt_cache) == 0
