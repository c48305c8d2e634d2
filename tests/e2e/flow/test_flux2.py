"""FLUX.2 Klein: bit for bit what the pipeline of diffusers makes."""

from dataclasses import replace

import pytest
from flow_parity import NEGATIVE, PROMPT, SIDE, generator, ours, pipeline, same
from tiny_flux2 import write_tiny_klein

from mezzotint.families.flux2.family import Flux2Klein

pytestmark = pytest.mark.usefixtures("every_device")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_tiny_klein(tmp_path_factory.mktemp("klein") / "FLUX.2-klein-4B")


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return write_tiny_klein(tmp_path_factory.mktemp("base") / "FLUX.2-klein-base-4B", distilled=False)


def test_distilled(folder, tmp_path):
    made = pipeline("Flux2KleinPipeline", folder)(
        prompt=PROMPT, height=SIDE, width=SIDE, num_inference_steps=4, guidance_scale=1.0, generator=generator()
    )
    same(made.images[0], ours(folder, tmp_path))


@pytest.mark.parametrize("halves", ["sequential", "batched"])
def test_base_with_guidance(base, tmp_path, monkeypatch, halves):
    monkeypatch.setattr(Flux2Klein, "spec", replace(Flux2Klein.spec, halves=(halves,)))
    theirs = pipeline("Flux2KleinPipeline", base)
    made = theirs(
        prompt=PROMPT,
        negative_prompt_embeds=theirs.encode_prompt(NEGATIVE)[0],
        height=SIDE,
        width=SIDE,
        num_inference_steps=4,
        guidance_scale=4.0,
        generator=generator(),
    )
    mine = ours(base, tmp_path, steps=4, negative_prompt=NEGATIVE)
    same(made.images[0], mine, apart=halves == "batched")  # one pass of two rows rounds otherwise
