"""Configurations derived from shapes: those that Stability AI published, and those of the small models' folders."""

import copy
import json

import pytest
import torch
from published_sizes import CLIP_L, VAE, empty, header_of
from safetensors.torch import load_file
from tiny_sdxl import open_clip_tensors, unet_name, vae_name

from mezzotint.checkpoints.header import read_header
from mezzotint.errors import ModelRefused
from mezzotint.families.loading.original_names import layout_of, place
from mezzotint.families.loading.original_sdxl import PIPELINE_SETTINGS, component_configs, is_refiner

# The sizes of stable-diffusion-xl-base-1.0 and stable-diffusion-xl-refiner-1.0, as their config.json files give them.
PUBLISHED = {
    "base": {
        "block_out_channels": [320, 640, 1280],
        "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"],
        "up_block_types": ["CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
        "transformer_layers_per_block": [1, 2, 10],
        "attention_head_dim": [5, 10, 20],
        "cross_attention_dim": 2048,
        "projection_class_embeddings_input_dim": 2816,
    },
    "refiner": {
        "block_out_channels": [384, 768, 1536, 1536],
        "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
        "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"],
        "transformer_layers_per_block": 4,
        "attention_head_dim": [6, 12, 24, 24],
        "cross_attention_dim": 1280,
        "projection_class_embeddings_input_dim": 2560,
    },
}
SHARED = {
    "sample_size": 128,
    "in_channels": 4,
    "out_channels": 4,
    "layers_per_block": 2,
    "use_linear_projection": True,
    "addition_embed_type": "text_time",
    "addition_time_embed_dim": 256,
}
BIG_G = {
    "vocab_size": 49408,
    "hidden_size": 1280,
    "intermediate_size": 5120,
    "num_hidden_layers": 32,
    "num_attention_heads": 20,
    "max_position_embeddings": 77,
    "projection_dim": 1280,
    "hidden_act": "gelu",
}


def published_header(kind):
    """The names and shapes of a whole published checkpoint, made from networks without weights."""
    from diffusers import AutoencoderKL, UNet2DConditionModel
    from transformers import CLIPTextModel, CLIPTextModelWithProjection

    config = PUBLISHED[kind] | SHARED
    blocks = config["up_block_types"]
    attending = [i for i, block in enumerate(blocks) if block.startswith("CrossAttn")]
    tensors = {
        f"model.diffusion_model.{unet_name(name, layers=2, attending=attending)}": tensor
        for name, tensor in empty(UNet2DConditionModel, config).state_dict().items()
    }
    for name, tensor in empty(AutoencoderKL, VAE).state_dict().items():
        tensors[f"first_stage_model.{vae_name(name, levels=4)}"] = tensor
    if kind == "base":
        for name, tensor in empty(CLIPTextModel, CLIP_L).state_dict().items():
            full = f"text_model.{name.removeprefix('text_model.')}"
            tensors[f"conditioner.embedders.0.transformer.{full}"] = tensor
    prefix = f"conditioner.embedders.{int(kind == 'base')}.model."
    second = open_clip_tensors(empty(CLIPTextModelWithProjection, BIG_G).state_dict())
    tensors |= {prefix + name: tensor for name, tensor in second.items()}
    return header_of({name: tensor.shape for name, tensor in tensors.items()})


@pytest.fixture(scope="module", params=["base", "refiner"])
def published(request):
    return request.param, published_header(request.param)


def contains(config, expected):
    return {key: config[key] for key in expected} == expected


def test_the_published_sizes_are_derived(published):
    kind, header = published
    configs = component_configs(header)
    expected = PUBLISHED[kind] | SHARED
    if kind == "refiner":  # 4 is said of the first level too, which has no attention
        expected = expected | {"transformer_layers_per_block": [1, 4, 4, 4]}
    assert contains(configs["unet"], expected)
    assert contains(configs["vae"], VAE)
    assert contains(configs["text_encoder_2"], BIG_G)
    assert ("text_encoder" in configs) == (kind == "base") == (not is_refiner(header))
    assert kind == "refiner" or contains(configs["text_encoder"], CLIP_L)


def test_the_derived_u_net_is_the_published_one(published):
    from diffusers import UNet2DConditionModel

    kind, header = published
    ours = empty(UNet2DConditionModel, component_configs(header)["unet"])
    theirs = empty(UNet2DConditionModel, PUBLISHED[kind] | SHARED)
    shapes = {name: tensor.shape for name, tensor in ours.state_dict().items()}
    assert shapes == {name: tensor.shape for name, tensor in theirs.state_dict().items()}
    heads = {name: module.heads for name, module in ours.named_modules() if hasattr(module, "heads")}
    assert heads == {name: module.heads for name, module in theirs.named_modules() if hasattr(module, "heads")}
    layout = layout_of(header.tensors)
    filled = {p.name for name in header.tensors for p in place(name, layout) if p.component == "unet"}
    assert filled == shapes.keys()


@pytest.mark.parametrize("kind", ["base", "refiner"])
def test_the_file_and_the_folder_of_a_small_model_say_the_same(kind, request):
    names = {"base": ("tiny_single_file", "tiny_sdxl_folder"), "refiner": ("tiny_refiner_file", "tiny_refiner_folder")}
    path, folder = map(request.getfixturevalue, names[kind])
    for component, config in component_configs(read_header(path)).items():
        name = "scheduler_config.json" if component == "scheduler" else "config.json"
        theirs = json.loads((folder / component / name).read_text())
        unseen = {"sample_size"}  # of which a file shows nothing
        assert {key: value for key, value in config.items() if theirs.get(key) != value}.keys() <= unseen
    index = json.loads((folder / "model_index.json").read_text())
    assert contains(index, PIPELINE_SETTINGS[kind == "refiner"])


def test_networks_of_the_derived_configurations_compute_what_those_of_diffusers_do(tiny_single_file, tiny_sdxl_folder):
    from diffusers import AutoencoderKL, StableDiffusionXLPipeline, UNet2DConditionModel
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    pipeline = StableDiffusionXLPipeline.from_single_file(
        str(tiny_single_file), config=str(tiny_sdxl_folder), local_files_only=True
    )
    configs = component_configs(read_header(tiny_single_file))
    tensors = load_file(tiny_single_file)
    layout = layout_of(tensors)
    ours = {
        "unet": UNet2DConditionModel.from_config(configs["unet"]),
        "vae": AutoencoderKL.from_config(configs["vae"]),
        "text_encoder": CLIPTextModel(CLIPTextConfig(**configs["text_encoder"])),
        "text_encoder_2": CLIPTextModelWithProjection(CLIPTextConfig(**configs["text_encoder_2"])),
    }
    for component, network in ours.items():
        placements = [(p, name) for name in tensors for p in place(name, layout) if p.component == component]
        network.load_state_dict({p.name: p.take(tensors[name]) for p, name in placements})
        network.eval()
    generator = torch.Generator().manual_seed(1)
    # Copies, because diffusers' weights lie in the mapped file, and sums differ in the last bit by alignment.
    peers = {name: copy.deepcopy(getattr(pipeline, name)) for name in ours}
    latents = torch.randn(1, 4, 16, 16, generator=generator)
    ids = torch.tensor([[49406, 320, 2368, 49407]])
    added = {"text_embeds": torch.randn(1, 64, generator=generator), "time_ids": torch.ones(1, 6)}
    text = torch.randn(1, 4, 96, generator=generator)
    with torch.no_grad():
        for name in ("text_encoder", "text_encoder_2"):
            assert torch.equal(ours[name](ids)[0], peers[name](ids)[0])
        assert torch.equal(ours["vae"].decode(latents)[0], peers["vae"].decode(latents)[0])
        outputs = [
            networks["unet"](latents, 500, encoder_hidden_states=text, added_cond_kwargs=added)[0]
            for networks in (ours, peers)
        ]
    assert outputs[0].std() > 0
    assert torch.equal(*outputs)


def test_the_noise_is_walked_from_its_very_end_when_that_is_pure_noise(tiny_single_file):
    header = read_header(tiny_single_file)
    usual = component_configs(header)["scheduler"]
    assert (usual["prediction_type"], usual["timestep_spacing"]) == ("epsilon", "leading")
    other = component_configs(header, prediction_type="v_prediction", zero_terminal_snr=True)["scheduler"]
    assert other["prediction_type"] == "v_prediction"
    assert other["rescale_betas_zero_snr"] is True
    assert other["timestep_spacing"] == "trailing"


def test_overrides_win(tiny_single_file):
    configs = component_configs(read_header(tiny_single_file), overrides={"unet": {"attention_head_dim": [2, 4]}})
    assert configs["unet"]["attention_head_dim"] == [2, 4]


UNET = "model.diffusion_model."


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({UNET + "out.2.weight": None}, "out.2.weight is missing"),
        ({UNET + "out.2.weight": (4,)}, r"out.2.weight has the shape \(4,\)"),
        ({UNET + "out.2.weight": (0, 32, 3, 3)}, "has the shape"),
        ({UNET + "label_emb.0.0.weight": (128, 60)}, "takes 60 channels"),
        ({UNET + "input_blocks.99.0.in_layers.0.bias": (64,)}, "gaps"),
        ({UNET + "middle_block.1.transformer_blocks.0.attn2.to_k.weight": (64, 50)}, "text of width 50"),
        ({"conditioner.embedders.1.model.token_embedding.weight": (9, 9, 9)}, "token_embedding.weight has the shape"),
        ({"first_stage_model.encoder.down.1.block.0.conv2.weight": None}, "conv2.weight is missing"),
    ],
)
def test_what_is_not_laid_out_as_sdxl_is_refused_by_name(tiny_single_file, change, message):
    shapes = {name: spec.shape for name, spec in read_header(tiny_single_file).tensors.items()} | change
    header = header_of({name: shape for name, shape in shapes.items() if shape is not None})
    with pytest.raises(ModelRefused, match=message):
        component_configs(header)


@pytest.mark.parametrize(
    ("name", "shape"),
    [
        ("input_blocks.5.0.out_layers.3.weight", (960, 640, 3, 3)),
        ("input_blocks.5.1.transformer_blocks.{depth}.norm1.bias", (640,)),
    ],
)
def test_layers_that_differ_within_a_level_are_refused(published, name, shape):
    kind, header = published
    name = name.format(depth=2 if kind == "base" else 4)
    shapes = {each: spec.shape for each, spec in header.tensors.items()} | {UNET + name: shape}
    with pytest.raises(ModelRefused, match="differ within a level"):
        component_configs(header_of(shapes))
