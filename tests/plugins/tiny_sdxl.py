"""Small random SDXL models for tests: a diffusers folder, and the same weights as one file with original key names.

Every size that a single file does not contain (above all attention heads) follows the rule by which it is derived:
heads of 64 channels, or one head if there are fewer. So the file and the folder are the same model.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from mezzotint.families.tokenizers import END, VOCABULARY_SIZE, clip_tokenizer

LAYERS = 1  # per level of the U-Net and the VAE
LEVELS = 2

_SCHEDULER = {
    "beta_schedule": "scaled_linear",
    "beta_start": 0.00085,
    "beta_end": 0.012,
    "timestep_spacing": "leading",
    "steps_offset": 1,
}
_RESNET = {
    "norm1": "in_layers.0",
    "conv1": "in_layers.2",
    "time_emb_proj": "emb_layers.1",
    "norm2": "out_layers.0",
    "conv2": "out_layers.3",
    "conv_shortcut": "skip_connection",
}
_UNET_ENDS = {
    "time_embedding.linear_1": "time_embed.0",
    "time_embedding.linear_2": "time_embed.2",
    "time_embedding.cond_proj": "time_embed.cond_proj",
    "add_embedding.linear_1": "label_emb.0.0",
    "add_embedding.linear_2": "label_emb.0.2",
    "conv_in": "input_blocks.0.0",
    "conv_norm_out": "out.0",
    "conv_out": "out.2",
}
_VAE_ATTENTION = {"group_norm": "norm", "to_q": "q", "to_k": "k", "to_v": "v", "to_out.0": "proj_out"}
_OPEN_CLIP = {
    "self_attn.out_proj": "attn.out_proj",
    "layer_norm1": "ln_1",
    "layer_norm2": "ln_2",
    "mlp.fc1": "mlp.c_fc",
    "mlp.fc2": "mlp.c_proj",
}


def write_tiny_sdxl(
    folder: Path, *, refiner: bool = False, inpaint: bool = False, seed: int = 0, **scheduler: object
) -> Path:
    """Write an SDXL folder of about 20 MB; models with the same seed share a VAE. `scheduler` overrides settings."""
    import torch
    from diffusers import (
        EulerDiscreteScheduler,
        StableDiffusionXLImg2ImgPipeline,
        StableDiffusionXLInpaintPipeline,
        StableDiffusionXLPipeline,
    )

    torch.manual_seed(seed)
    vae = _vae()
    second = _text_encoder(hidden=64, projected=True)
    both = {
        "vae": vae.eval(),
        "unet": _unet(refiner=refiner, channels=9 if inpaint else 4).eval(),
        "text_encoder_2": second.eval(),
        "tokenizer_2": clip_tokenizer(pad_token="!"),
        "scheduler": EulerDiscreteScheduler(**{**_SCHEDULER, **scheduler}),
    }
    if refiner:
        pipeline = StableDiffusionXLImg2ImgPipeline(
            **both,
            text_encoder=None,
            tokenizer=None,
            requires_aesthetics_score=True,
            force_zeros_for_empty_prompt=False,
            add_watermarker=False,
        )
    else:
        first = _text_encoder(hidden=32, projected=False).eval()
        pipeline_class = StableDiffusionXLInpaintPipeline if inpaint else StableDiffusionXLPipeline
        pipeline = pipeline_class(
            **both, text_encoder=first, tokenizer=clip_tokenizer(pad_token=END), add_watermarker=False
        )
    pipeline.save_pretrained(folder)
    return folder


def _vae() -> Any:
    from diffusers import AutoencoderKL

    return AutoencoderKL(
        block_out_channels=(32, 64),
        down_block_types=("DownEncoderBlock2D",) * LEVELS,
        up_block_types=("UpDecoderBlock2D",) * LEVELS,
        layers_per_block=LAYERS,
        latent_channels=4,
        sample_size=64,
        scaling_factor=0.13025,
    )


def _unet(*, refiner: bool, channels: int = 4) -> Any:
    from diffusers import UNet2DConditionModel

    return UNet2DConditionModel(
        sample_size=32,
        in_channels=channels,
        block_out_channels=(32, 64),
        layers_per_block=LAYERS,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=(1, 1),  # the number of heads, despite its name
        use_linear_projection=True,
        transformer_layers_per_block=(1, 2),
        cross_attention_dim=64 if refiner else 32 + 64,
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        projection_class_embeddings_input_dim=(5 if refiner else 6) * 8 + 64,
    )


def _text_encoder(*, hidden: int, projected: bool) -> Any:
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    config = CLIPTextConfig(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        projection_dim=hidden,
        num_hidden_layers=3,
        num_attention_heads=max(1, hidden // 64),
        hidden_act="gelu" if projected else "quick_gelu",
        bos_token_id=49406,
        eos_token_id=49407,
        pad_token_id=1,
    )
    return CLIPTextModelWithProjection(config) if projected else CLIPTextModel(config)


def write_single_file(
    folder: Path, path: Path, *, metadata: Mapping[str, str] | None = None, extra: Mapping[str, Any] | None = None
) -> Path:
    """Write the weights of a tiny SDXL folder as one file with original key names, plus `extra` tensors."""
    from safetensors.torch import load_file, save_file

    tensors: dict[str, Any] = dict(extra or {})
    weights = {path.parent.name: load_file(path) for path in folder.rglob("*.safetensors")}
    tensors.update({f"model.diffusion_model.{unet_name(k)}": v for k, v in weights["unet"].items()})
    for name, tensor in weights["vae"].items():
        square = tensor.ndim == 2  # the original VAE's attention consists of 1x1 convolutions
        tensors[f"first_stage_model.{vae_name(name)}"] = tensor[:, :, None, None] if square else tensor
    for name, tensor in weights.get("text_encoder", {}).items():
        full = "text_model." + name.removeprefix("text_model.")
        tensors[f"conditioner.embedders.0.transformer.{full}"] = tensor
    prefix = f"conditioner.embedders.{int('text_encoder' in weights)}.model."
    tensors.update({prefix + k: v for k, v in open_clip_tensors(weights["text_encoder_2"]).items()})
    save_file({k: v.contiguous() for k, v in tensors.items()}, path, metadata=dict(metadata or {}))
    return path


def unet_name(name: str, layers: int = LAYERS, attending: Collection[int] = (0,)) -> str:
    """Return the original name of a diffusers U-Net tensor; `attending` are the up blocks with attention."""
    for new, old in _UNET_ENDS.items():
        if name.startswith(new + "."):
            return old + name.removeprefix(new)
    if match := re.fullmatch(r"mid_block\.(resnets|attentions)\.(\d)\.(.+)", name):
        part, index, rest = match.groups()
        return f"middle_block.{1 if part == 'attentions' else 2 * int(index)}.{_resnet(rest)}"
    match = re.fullmatch(r"(down|up)_blocks\.(\d+)\.(\w+)\.(\d+)\.(.+)", name)
    assert match, name
    side, block, part, layer, rest = match.groups()
    first = int(block) * (layers + 1)
    where = f"input_blocks.{first + 1}" if side == "down" else f"output_blocks.{first}"
    number = int(where.rpartition(".")[2])
    group = where.rpartition(".")[0]
    if part == "downsamplers":
        return f"{group}.{number + layers}.0.op.{rest.removeprefix('conv.')}"
    if part == "upsamplers":
        return f"{group}.{number + layers}.{2 if int(block) in attending else 1}.{rest}"
    return f"{group}.{number + int(layer)}.{int(part == 'attentions')}.{_resnet(rest)}"


def _resnet(rest: str) -> str:
    head, _, tail = rest.partition(".")
    return f"{_RESNET[head]}.{tail}" if head in _RESNET else rest


def vae_name(name: str, levels: int = LEVELS) -> str:
    """Return the original name of a diffusers VAE tensor."""
    name = name.replace("conv_norm_out", "norm_out").replace("conv_shortcut", "nin_shortcut")
    name = re.sub(r"mid_block\.resnets\.(\d)", lambda m: f"mid.block_{int(m[1]) + 1}", name)
    if "mid_block.attentions.0." in name:
        head, rest = name.split("mid_block.attentions.0.")
        part, _, kind = rest.rpartition(".")
        return f"{head}mid.attn_1.{_VAE_ATTENTION[part]}.{kind}"
    name = re.sub(r"down_blocks\.(\d)\.resnets", r"down.\1.block", name)
    name = re.sub(r"down_blocks\.(\d)\.downsamplers\.0", r"down.\1.downsample", name)
    name = re.sub(r"up_blocks\.(\d)\.resnets", lambda m: f"up.{levels - 1 - int(m[1])}.block", name)
    return re.sub(r"up_blocks\.(\d)\.upsamplers\.0", lambda m: f"up.{levels - 1 - int(m[1])}.upsample", name)


def open_clip_tensors(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Return a transformers CLIP text model's tensors with open_clip's names, with queries, keys and values fused."""
    import torch

    result: dict[str, Any] = {"logit_scale": torch.tensor(4.6)}
    for name, tensor in weights.items():
        short = name.removeprefix("text_model.")
        if short == "text_projection.weight":
            result["text_projection"] = tensor.T
        elif short.startswith("embeddings.token"):
            result["token_embedding.weight"] = tensor
        elif short.startswith("embeddings.position"):
            result["positional_embedding"] = tensor
        elif short.startswith("final_layer_norm"):
            result[short.replace("final_layer_norm", "ln_final")] = tensor
        elif match := re.fullmatch(r"encoder\.layers\.(\d+)\.(.+)\.(weight|bias)", short):
            layer, part, kind = match.groups()
            if part in _OPEN_CLIP:
                result[f"transformer.resblocks.{layer}.{_OPEN_CLIP[part]}.{kind}"] = tensor
            elif part == "self_attn.q_proj":
                joined = [weights[name.replace("q_proj", f"{letter}_proj")] for letter in "qkv"]
                result[f"transformer.resblocks.{layer}.attn.in_proj_{kind}"] = torch.cat(joined)
    return result
