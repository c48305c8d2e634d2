"""Small random FLUX.1 models for tests."""

from pathlib import Path
from typing import Any

from original_files import joined, ldm_vae, weights
from tiny_flow import kl_autoencoder, lively
from tiny_pixart import t5_encoder, t5_tokenizer

from mezzotint.families.tokenizers import END, VOCABULARY_SIZE, clip_tokenizer

T5_WIDTH, CLIP_WIDTH = 32, 16
_SIZES: dict[str, Any] = {
    "attention_head_dim": 16,
    "num_attention_heads": 3,
    "joint_attention_dim": T5_WIDTH,
    "pooled_projection_dim": CLIP_WIDTH,
    "axes_dims_rope": (4, 6, 6),
    "in_channels": 64,
}
_PIPELINES = {"kontext": "FluxKontextPipeline", "edit": "FluxKontextPipeline", "fill": "FluxFillPipeline"}
_PIPELINES |= dict.fromkeys(("canny", "depth"), "FluxControlPipeline")
_CHANNELS = {"fill": 384, "canny": 128, "depth": 128}


def write_tiny_flux(folder: Path, *, variant: str = "dev", seed: int = 0, **sides: object) -> Path:
    """Write a diffusers folder; `sides` are settings of its transformer."""
    import diffusers
    import torch

    torch.manual_seed(seed)
    schnell, embeds = variant == "schnell", variant not in ("schnell", "undistilled", "edit")
    channels = {"in_channels": _CHANNELS[variant], "out_channels": 64} if variant in _CHANNELS else {}
    pipeline = getattr(diffusers, _PIPELINES.get(variant, "FluxPipeline"))(
        scheduler=diffusers.FlowMatchEulerDiscreteScheduler(
            shift=1.0 if schnell else 3.0, use_dynamic_shifting=not schnell
        ),
        vae=kl_autoencoder(),
        text_encoder=clip_encoder(),
        tokenizer=clip_tokenizer(pad_token=END),
        text_encoder_2=t5_encoder().eval(),
        tokenizer_2=t5_tokenizer(folder),
        transformer=transformer(guidance_embeds=embeds, **channels, **sides),
    )
    pipeline.save_pretrained(folder)
    return folder


def write_tiny_flux_control(folder: Path, *, seed: int = 1, **others: object) -> Path:
    """Write a ControlNet for such a model; `others` are settings of it."""
    import torch
    from diffusers import FluxControlNetModel

    torch.manual_seed(seed)
    usual = {"num_layers": 1, "num_single_layers": 1, "guidance_embeds": True}
    network = lively(FluxControlNetModel(**_SIZES | usual | others))
    with torch.no_grad():
        for parameter in network.parameters():
            if not parameter.any():  # what begins at zero, so that it has an effect
                parameter.normal_(std=0.2)
    network.save_pretrained(folder)
    return folder


def transformer(**others: object) -> Any:
    """Return a transformer with two double-stream and two single-stream blocks."""
    from diffusers import FluxTransformer2DModel

    return lively(FluxTransformer2DModel(**_SIZES | {"num_layers": 2, "num_single_layers": 2} | others))


def clip_encoder() -> Any:
    """Return the CLIP text encoder, used for its pooled embedding."""
    from transformers import CLIPTextConfig, CLIPTextModel

    config = CLIPTextConfig(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=CLIP_WIDTH,
        intermediate_size=2 * CLIP_WIDTH,
        num_hidden_layers=2,
        num_attention_heads=1,
        bos_token_id=VOCABULARY_SIZE - 2,
        eos_token_id=VOCABULARY_SIZE - 1,
    )
    return CLIPTextModel(config).eval()


def split_files(folder: Path) -> dict[str, dict[str, Any]]:
    """Return tensors by their file names in ComfyUI's folders."""
    return {
        "diffusion_models/flux1-dev.safetensors": original_transformer(folder),
        "text_encoders/t5xxl_fp16.safetensors": weights(folder, "text_encoder_2"),
        "text_encoders/clip_l.safetensors": {
            f"text_model.{name}": each for name, each in weights(folder, "text_encoder").items()
        },
        "vae/ae.safetensors": ldm_vae(folder),
    }


def original_transformer(folder: Path) -> dict[str, Any]:
    """Return FLUX.1's or Chroma's transformer with its original key names."""
    import torch

    whole = dict(weights(folder, "transformer"))
    single = {name: each for name, each in whole.items() if name.startswith("single_")}
    double = {name: each for name, each in whole.items() if name not in single}
    for stream, parts in {"img": ("to_q", "to_k", "to_v"), "txt": ("add_q_proj", "add_k_proj", "add_v_proj")}.items():
        double = joined(double, tuple(f".attn.{part}." for part in parts), f".{stream}_attn.qkv.")
    single = joined(single, (".attn.to_q.", ".attn.to_k.", ".attn.to_v.", ".proj_mlp."), ".linear1.")
    for name in [name for name in double if name.startswith("norm_out.")]:
        double[name] = torch.cat(double[name].chunk(2)[::-1])
    return {_first_name(name): each for name, each in (double | single).items()}


_FIRST_NAMES = {  # order matters
    "single_transformer_blocks.": "single_blocks.",
    "transformer_blocks.": "double_blocks.",
    "x_embedder.": "img_in.",
    "context_embedder.": "txt_in.",
    "time_text_embed.timestep_embedder.": "time_in.",
    "time_text_embed.text_embedder.": "vector_in.",
    "time_text_embed.guidance_embedder.": "guidance_in.",
    ".linear_1.": ".in_layer.",
    ".linear_2.": ".out_layer.",
    "norm_out.linear.": "final_layer.adaLN_modulation.1.",
    ".norm1.linear.": ".img_mod.lin.",
    ".norm1_context.linear.": ".txt_mod.lin.",
    ".norm.linear.": ".modulation.lin.",
    ".attn.to_out.0.": ".img_attn.proj.",
    ".attn.to_add_out.": ".txt_attn.proj.",
    ".attn.norm_added_q.weight": ".txt_attn.norm.query_norm.scale",
    ".attn.norm_added_k.weight": ".txt_attn.norm.key_norm.scale",
    ".ff.net.0.proj.": ".img_mlp.0.",
    ".ff.net.2.": ".img_mlp.2.",
    ".ff_context.net.0.proj.": ".txt_mlp.0.",
    ".ff_context.net.2.": ".txt_mlp.2.",
}


def _first_name(name: str) -> str:
    alone = name.startswith("single_")
    for part, word in (("q", "query"), ("k", "key")):
        name = name.replace(f".attn.norm_{part}.weight", f".{'' if alone else 'img_attn.'}norm.{word}_norm.scale")
    name = name.replace(".proj_out.", ".linear2.") if alone else name.replace("proj_out.", "final_layer.linear.")
    if name.startswith("distilled_guidance_layer.norms."):
        name = name.replace(".weight", ".scale")
    for new, old in _FIRST_NAMES.items():
        name = name.replace(new, old)
    return name


def write_tiny_control_lora(path: Path, *, seed: int = 6) -> Path:
    """Write a control LoRA for dev, with biases and norms as published, by diffusers' names."""
    import torch
    from safetensors.torch import save_file

    torch.manual_seed(seed)
    network = transformer(guidance_embeds=True, in_channels=128, out_channels=64)
    tensors = {}
    for name, layer in network.named_modules():
        if isinstance(layer, torch.nn.Linear):
            down, up = torch.randn(4, layer.in_features) * 0.2, torch.randn(layer.out_features, 4) * 0.2
            parts = {"A.weight": down, "B.weight": up, "B.bias": torch.randn(layer.out_features) * 0.1}
            tensors |= {f"{name}.lora_{part}": one for part, one in parts.items()}
        elif name.endswith((".norm_q", ".norm_k", ".norm_added_q", ".norm_added_k")):
            tensors[f"{name}.weight"] = torch.rand(layer.weight.shape) + 0.5
    save_file({f"transformer.{name}": one.contiguous() for name, one in tensors.items()}, path)
    return path
