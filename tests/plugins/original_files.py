"""Small flow models as files with their original key names: split as for ComfyUI, or all in one."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tiny_sdxl import vae_name

Tensors = Mapping[str, Any]
_VAE_LEVELS = 4


def weights(folder: Path, component: str) -> dict[str, Any]:
    """Return all tensors of a component of a diffusers folder."""
    from safetensors.torch import load_file

    return {name: each for path in (folder / component).glob("*.safetensors") for name, each in load_file(path).items()}


def joined(tensors: Tensors, parts: Sequence[str], whole: str) -> dict[str, Any]:
    """Fuse tensors, such as queries, keys and values: `parts` in names become `whole`."""
    import torch

    made: dict[str, Any] = {}
    for name, tensor in tensors.items():
        if parts[0] in name:
            several = [tensors[name.replace(parts[0], part)] for part in parts]
            made[name.replace(parts[0], whole)] = torch.cat(several)
        elif not any(part in name for part in parts[1:]):
            made[name] = tensor
    return made


def ldm_vae(folder: Path) -> dict[str, Any]:
    """Return an AutoencoderKL with the key names of latent diffusion."""
    return {
        vae_name(name, _VAE_LEVELS): tensor[:, :, None, None] if tensor.ndim == 2 else tensor
        for name, tensor in weights(folder, "vae").items()
    }


def language_model(folder: Path, component: str = "text_encoder") -> dict[str, Any]:
    """Return a language model with the key names of transformers, including its head."""
    return {"model." + name.removeprefix("model."): each for name, each in weights(folder, component).items()}


def seeing_model(folder: Path, eyes: str) -> dict[str, Any]:
    """Return a vision-language model as in ComfyUI's files; `eyes` is the key prefix of the vision tower."""
    made = {}
    for name, each in weights(folder, "text_encoder").items():
        short = name.removeprefix("model.").removeprefix("language_model.")
        sees, head = short.startswith("visual."), short.startswith("lm_head.")
        made[eyes + short.removeprefix("visual.") if sees else short if head else f"model.{short}"] = each
    return made


def wan_vae(folder: Path) -> dict[str, Any]:
    """Return an AutoencoderKLQwenImage of two residual blocks with Wan's key names."""
    return {_wan_name(name): each for name, each in weights(folder, "vae").items()}


_WAN_NAMES = {
    r"^quant_conv\.": "conv1.",
    r"^post_quant_conv\.": "conv2.",
    r"coder\.conv_in\.": "coder.conv1.",
    r"coder\.norm_out\.": "coder.head.0.",
    r"coder\.conv_out\.": "coder.head.2.",
    r"\.mid_block\.resnets\.0\.": ".middle.0.",
    r"\.mid_block\.attentions\.0\.": ".middle.1.",
    r"\.mid_block\.resnets\.1\.": ".middle.2.",
    r"\.down_blocks\.": ".downsamples.",
    r"\.norm1\.": ".residual.0.",
    r"(?<=\d)\.conv1\.": ".residual.2.",
    r"\.norm2\.": ".residual.3.",
    r"\.conv2\.": ".residual.6.",
    r"\.conv_shortcut\.": ".shortcut.",
}


def _wan_name(name: str) -> str:
    import re

    for new, old in _WAN_NAMES.items():
        name = re.sub(new, old, name)
    name = re.sub(r"up_blocks\.(\d)\.resnets\.(\d)", lambda m: f"upsamples.{4 * int(m[1]) + int(m[2])}", name)
    return re.sub(r"up_blocks\.(\d)\.upsamplers\.0", lambda m: f"upsamples.{4 * int(m[1]) + 3}", name)


def in_fp8(tensors: Tensors, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors with the layers of blocks in float8, as in files of this `kind`, and the same dequantized.

    Kinds: `bare` without scales, `scaled` as in older files, `told` with a description as in newer ones.
    """
    import torch

    from mezzotint.quantization.fp8 import Fp8
    from mezzotint.quantization.layouts.layout import to_byte_tensor

    made, plain = {}, {}
    if kind == "scaled":
        made["scaled_fp8"] = torch.zeros(2, dtype=torch.float8_e4m3fn)
    for name, tensor in tensors.items():
        layer = name.removesuffix(".weight")
        made[name] = plain[name] = tensor
        if tensor.ndim != 2 or layer == name or "." not in layer:
            continue
        parts = Fp8().quantize(tensor)
        if kind == "bare":
            parts = {"weight": tensor.to(torch.float8_e4m3fn), "weight_scale": torch.ones(1)}
        made[name], plain[name] = parts["weight"], Fp8().dequantize(parts, tensor.shape, torch.float32)
        if kind == "scaled":
            made[f"{layer}.scale_weight"] = parts["weight_scale"].reshape(())
            made[f"{layer}.scale_input"] = torch.ones(())
        elif kind == "told":
            made[f"{layer}.weight_scale"] = parts["weight_scale"].reshape(())
            made[f"{layer}.comfy_quant"] = to_byte_tensor('{"format": "float8_e4m3fn"}')
    return made, plain


def write(path: Path, tensors: Tensors, metadata: Mapping[str, str] | None = None) -> Path:
    """Write a safetensors file, creating its folder."""
    from safetensors.torch import save_file

    path.parent.mkdir(parents=True, exist_ok=True)
    save_file({name: each.contiguous() for name, each in tensors.items()}, path, metadata=dict(metadata or {}))
    return path


def write_gguf(
    path: Path, tensors: Tensors, kind: str = "F16", architecture: str = "", more: Callable[[Any], None] | None = None
) -> dict[str, Any]:
    """Write a GGUF file with the matrices of blocks packed as `kind`; return the dequantized tensors.

    `more` is given the writer, and may add metadata.
    """
    import torch
    from gguf import GGMLQuantizationType, GGUFWriter
    from gguf.quants import dequantize, quantize

    path.parent.mkdir(parents=True, exist_ok=True)
    writer, plain, packed = GGUFWriter(path, architecture or "flow"), {}, GGMLQuantizationType[kind]
    for name, tensor in tensors.items():
        array = tensor.float().numpy()
        if tensor.ndim == 2 and tensor.shape[1] % 32 == 0:
            data = quantize(array, packed)
            writer.add_tensor(name, data, raw_dtype=packed)
            plain[name] = torch.from_numpy(dequantize(data, packed).reshape(array.shape).copy())
        else:
            writer.add_tensor(name, array.reshape(-1) if array.shape[0] == 1 else array)
            plain[name] = tensor
    if more is not None:
        more(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return plain


_GEMMA_NORMS = {
    "pre_feedforward_layernorm": "ffn_norm",
    "post_feedforward_layernorm": "post_ffw_norm",
    "post_attention_layernorm": "post_attention_norm",
}


def llama_names(tensors: Tensors) -> dict[str, Any]:
    """Return a language model's tensors with llama.cpp's names."""
    renames = {
        "shared.": "token_embd.",
        "encoder.final_layer_norm.": "enc.output_norm.",
        "encoder.block.": "enc.blk.",
        "layer.0.SelfAttention.relative_attention_bias": "attn_rel_b",
        **{f"layer.0.SelfAttention.{part}": f"attn_{part}" for part in "qkvo"},
        "layer.0.layer_norm": "attn_norm",
        "layer.1.layer_norm": "ffn_norm",
        "layer.1.DenseReluDense.wi_0": "ffn_gate",
        "layer.1.DenseReluDense.wi_1": "ffn_up",
        "layer.1.DenseReluDense.wo": "ffn_down",
        "model.embed_tokens.": "token_embd.",
        "model.norm.": "output_norm.",
        "model.layers.": "blk.",
        "self_attn.o_proj": "attn_output",
        "input_layernorm": "attn_norm",
        "post_attention_layernorm": "ffn_norm",
        **{f"self_attn.{part}_proj": f"attn_{part}" for part in "qkv"},
        **{f"self_attn.{part}_norm": f"attn_{part}_norm" for part in "qk"},
        **{f"mlp.{part}_proj": f"ffn_{part}" for part in ("gate", "up", "down")},
    }
    if any("pre_feedforward_layernorm" in name for name in tensors):
        renames |= _GEMMA_NORMS
    for theirs, llama in renames.items():
        tensors = {name.replace(theirs, llama): each for name, each in tensors.items()}
    return dict(tensors)


def raised_norms(tensors: Tensors, by: int) -> dict[str, Any]:
    """Return the tensors of a language model with `by` added to its norms: llama.cpp stores Gemma's with 1 added."""
    return {name: each + by if name.endswith("norm.weight") else each for name, each in tensors.items()}


def write_split(models: Path, files: Mapping[str, Tensors]) -> Path:
    """Write files into ComfyUI's folders, given `diffusion_models/NAME` and its tensors; return the first path."""
    first, *_ = [write(models / name, tensors) for name, tensors in files.items()]
    return first
