"""Which configurations are of one graph."""

import pytest

from mezzotint.memory.footprints.graph_hash import graph_hash
from mezzotint.memory.footprints.shipped import known_graph, shipped

UNET = "UNet2DConditionModel"
REFINER = {
    "block_out_channels": [384, 768, 1536, 1536],
    "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
    "transformer_layers_per_block": 4,
    "attention_head_dim": [6, 12, 24, 24],
    "layers_per_block": 2,
}
SAME = [
    (UNET, {}, {"sample_size": 64, "_diffusers_version": "0.19", "norm_eps": 1e-6}),
    (UNET, {}, {"norm_num_groups": 32, "num_class_embeds": None}),
    (UNET, {"block_out_channels": [320, 640]}, {"block_out_channels": (320, 640)}),
    (UNET, REFINER, {**REFINER, "transformer_layers_per_block": [1, 4, 4, 4], "layers_per_block": [2, 2, 2, 2]}),
    ("AutoencoderKL", {"latent_channels": 4}, {"scaling_factor": 0.13, "force_upcast": False}),
    ("T5EncoderModel", {"d_model": 4096}, {"d_model": 4096, "torch_dtype": "bfloat16", "temperature": 1.0}),
    ("CLIPTextModel", {}, {"projection_dim": 768, "architectures": ["CLIPModel"]}),
]
UNLIKE = [
    (UNET, {}, {"block_out_channels": [320, 640]}),
    (UNET, REFINER, {**REFINER, "transformer_layers_per_block": [1, 4, 4, 3]}),
    (UNET, {}, {"time_cond_proj_dim": 256}),
    ("AutoencoderKL", {}, {"mid_block_add_attention": False}),
    ("T5EncoderModel", {}, {"feed_forward_proj": "gated-gelu"}),
    ("CLIPTextModel", {}, {"hidden_act": "gelu"}),
    ("SomethingNew", {}, {"width": 3}),
]


@pytest.mark.parametrize(("class_name", "one", "other"), SAME)
def test_same_graph(class_name, one, other):
    assert graph_hash(class_name, one, 77) == graph_hash(class_name, {**one, **other}, 77)


@pytest.mark.parametrize(("class_name", "one", "other"), UNLIKE)
def test_other_graph(class_name, one, other):
    assert graph_hash(class_name, one, 77) != graph_hash(class_name, {**one, **other}, 77)


def test_class_and_prompt_matter():
    assert len({graph_hash("CLIPTextModel", {}, 0), graph_hash("T5EncoderModel", {}, 0), graph_hash(UNET, {}, 0)}) == 3
    assert graph_hash(UNET, {}, 77) != graph_hash(UNET, {}, 300)


@pytest.mark.parametrize("depths", [4, [1, 4, 4, 4]])  # as its config.json has it, and as its one file shows
def test_the_published_refiner_is_known_however_it_is_told(depths):
    told = {
        "sample_size": 128,
        "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
        "cross_attention_dim": 1280,
        "use_linear_projection": True,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": 256,
        "projection_class_embeddings_input_dim": 2560,
    }
    key = graph_hash(UNET, {**REFINER, **told, "transformer_layers_per_block": depths}, 77)
    assert known_graph(key) == shipped("sdxl-refiner").denoiser
