"""T5 in a file of its own is recognised whichever of its two names the embeddings have."""

import pytest
import torch
from safetensors.torch import save_file

from mezzotint.checkpoints.header import read_header
from mezzotint.families.flow.clip_t5_parts import T5_XXL
from mezzotint.families.flow.files import part_needed

ATTENTION, FEED = "encoder.block.0.layer.0.SelfAttention.", "encoder.block.0.layer.1.DenseReluDense."
OTHERS = {
    f"{ATTENTION}q.weight": (8, 4),
    f"{ATTENTION}relative_attention_bias.weight": (32, 2),
    f"{FEED}wi_0.weight": (6, 4),
    f"{FEED}wi_1.weight": (6, 4),
    "encoder.final_layer_norm.weight": (4,),
}


@pytest.mark.parametrize("prefix", ["", "text_encoders.t5xxl.transformer."])
@pytest.mark.parametrize("names", [["shared"], ["encoder.embed_tokens"], ["shared", "encoder.embed_tokens"]])
def test_its_embeddings_are_found(tmp_path, names, prefix):
    shapes = OTHERS | {f"{name}.weight": (50, 4) for name in names}
    save_file({prefix + name: torch.zeros(shape) for name, shape in shapes.items()}, tmp_path / "t5.safetensors")
    part = part_needed(T5_XXL, read_header(tmp_path / "t5.safetensors"))
    assert part is not None and part.original is not None
    assert (part.config["vocab_size"], part.config["d_model"]) == (50, 4)
    placed = [found for name in names for found in part.original.place(f"{name}.weight")]
    assert placed == [("shared.weight", "whole")], "one of both"


def test_without_any_it_is_no_text_encoder(tmp_path):
    save_file({name: torch.zeros(shape) for name, shape in OTHERS.items()}, tmp_path / "t5.safetensors")
    assert part_needed(T5_XXL, read_header(tmp_path / "t5.safetensors")) is None
