"""Maps each tensor of a single-file checkpoint (SDXL, SD 1.5) to network parameters, by its name alone."""

import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import torch

UNET = "model.diffusion_model."
VAE = "first_stage_model."
FIRST_ENCODER = "conditioner.embedders.0.transformer."
SECOND_ENCODER = "conditioner.embedders.1.model."
REFINER_ENCODER = "conditioner.embedders.0.model."
SD15_ENCODER = "cond_stage_model.transformer."


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of one parameter in a fused tensor, as shares of the whole."""

    first: int  # share
    count: int  # shares
    of: int  # shares of the whole

    def take(self, tensor: "torch.Tensor") -> "torch.Tensor":
        """These rows, as a view."""
        if not tensor.ndim:
            return tensor
        rows = tensor.shape[0]
        return tensor[rows * self.first // self.of : rows * (self.first + self.count) // self.of]

    def share(self, rows: int) -> int:
        """Number of these rows, given that of the whole tensor."""
        return rows * self.count // self.of

    def whole(self, rows: int) -> int:
        """Number of rows of the whole tensor, given that of these."""
        return rows * self.of // self.count


@dataclass(frozen=True, slots=True)
class Reshaped:
    """A table that some files store with fewer axes."""

    shape: tuple[int, ...]  # with one -1

    def of(self, tensor: "torch.Tensor") -> "torch.Tensor":
        """The table as a view; the tensor itself if it already has the axes, or another size."""
        fits = tensor.ndim < len(self.shape) and tensor.numel() % math.prod(self.shape) == 0
        return tensor.reshape(self.shape) if fits else tensor


Form: TypeAlias = Literal["whole", "swapped", "transposed", "matrix", "raised"] | Rows | Reshaped
THIRDS = (Rows(0, 1, 3), Rows(1, 1, 3), Rows(2, 1, 3))  # queries, keys and values

_UNET_ENDS = {
    "time_embed.0": "time_embedding.linear_1",
    "time_embed.2": "time_embedding.linear_2",
    "time_embed.cond_proj": "time_embedding.cond_proj",
    "label_emb.0.0": "add_embedding.linear_1",
    "label_emb.0.2": "add_embedding.linear_2",
    "input_blocks.0.0": "conv_in",
    "out.0": "conv_norm_out",
    "out.2": "conv_out",
}
_RESNET = {
    "in_layers.0": "norm1",
    "in_layers.2": "conv1",
    "emb_layers.1": "time_emb_proj",
    "out_layers.0": "norm2",
    "out_layers.3": "conv2",
    "skip_connection": "conv_shortcut",
}
_VAE_ATTENTION: Mapping[str, tuple[str, Form]] = {
    "norm": ("group_norm", "whole"),
    "q": ("to_q", "matrix"),
    "k": ("to_k", "matrix"),
    "v": ("to_v", "matrix"),
    "proj_out": ("to_out.0", "matrix"),
}
_VAE_ENDS = {"norm_out": "conv_norm_out", "conv_in": "conv_in", "conv_out": "conv_out"}
_OPEN_CLIP_ENDS: Mapping[str, tuple[str, Form]] = {
    "token_embedding.weight": ("text_model.embeddings.token_embedding.weight", "whole"),
    "positional_embedding": ("text_model.embeddings.position_embedding.weight", "whole"),
    "ln_final.weight": ("text_model.final_layer_norm.weight", "whole"),
    "ln_final.bias": ("text_model.final_layer_norm.bias", "whole"),
    "text_projection": ("text_projection.weight", "transposed"),
}
_OPEN_CLIP_LAYER = {
    "attn.out_proj": "self_attn.out_proj",
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "mlp.c_fc": "mlp.fc1",
    "mlp.c_proj": "mlp.fc2",
}
_JOINED = tuple(zip(THIRDS, ("q_proj", "k_proj", "v_proj"), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Block counts of a checkpoint's networks, which the indices in tensor names depend on."""

    unet_layers: int  # residual blocks per level of the down path
    vae_levels: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """A network's parameter, and which form of the file's tensor it is."""

    component: str
    name: str
    form: Form

    def take(self, tensor: "torch.Tensor") -> "torch.Tensor":
        """Extract the parameter from the file's tensor: some rows, swapped halves, a transpose, or two axes."""
        match self.form:
            case Rows():
                return self.form.take(tensor)
            case "swapped":
                return swapped(tensor)
            case Reshaped():
                return self.form.of(tensor)
            case "transposed":
                return tensor.T.contiguous()
            case "raised":  # a scale that files store with one added
                return tensor - 1
            case "matrix":  # a 1x1 convolution that is now a linear layer
                return tensor.flatten(1) if tensor.ndim > 1 else tensor
        return tensor


def swapped(tensor: "torch.Tensor") -> "torch.Tensor":
    """Put the second half of the rows first: files store scale and shift in either order."""
    return tensor.roll(tensor.shape[0] // 2, 0) if tensor.ndim else tensor


def layout_of(names: Collection[str]) -> Layout:
    """Count the blocks by the tensor names of a complete checkpoint."""
    blocks = _numbers(names, re.compile(re.escape(UNET) + r"input_blocks\.(\d+)\."))
    downs = _numbers(names, re.compile(re.escape(UNET) + r"input_blocks\.(\d+)\.0\.op\."))
    levels = _numbers(names, re.compile(re.escape(VAE) + r"encoder\.down\.(\d+)\."))
    # Block 0 is the first convolution; a level's last block downsamples.
    layers = min(downs) - 1 if downs else max(blocks, default=0)
    return Layout(unet_layers=max(1, layers), vae_levels=len(levels))


def _numbers(names: Collection[str], pattern: re.Pattern[str]) -> set[int]:
    return {int(match[1]) for match in map(pattern.match, names) if match}


def place(name: str, layout: Layout) -> tuple[Placement, ...]:
    """The parameters that a tensor fills: one, three for fused QKV, or none if it is not used.

    The names are those of diffusers' networks and of transformers' CLIP; the first text encoder's are without
    `text_model.`, as in transformers from 5.6 on.
    """
    if name.startswith(UNET):
        return _whole("unet", _unet(name.removeprefix(UNET), layout))
    if name.startswith(VAE):
        return _vae(name.removeprefix(VAE), layout)
    for prefix in (FIRST_ENCODER, SD15_ENCODER):
        if name.startswith(prefix):
            short = name.removeprefix(prefix).removeprefix("text_model.")
            return () if short == "embeddings.position_ids" else _whole("text_encoder", short)
    for prefix in (SECOND_ENCODER, REFINER_ENCODER):
        if name.startswith(prefix):
            return _open_clip(name.removeprefix(prefix))
    return ()


def _whole(component: str, name: str | None, form: Form = "whole") -> tuple[Placement, ...]:
    return () if name is None else (Placement(component=component, name=name, form=form),)


def _unet(name: str, layout: Layout) -> str | None:
    head, _, kind = name.rpartition(".")
    if head in _UNET_ENDS:
        return f"{_UNET_ENDS[head]}.{kind}"
    match = re.fullmatch(r"(input_blocks|output_blocks)\.(\d+)\.(\d)\.(.+)", name)
    if match:
        side, number, part, rest = match.groups()
        return (_down if side == "input_blocks" else _up)(int(number), int(part), rest, layout)
    match = re.fullmatch(r"middle_block\.([012])\.(.+)", name)
    if match:
        return f"mid_block.{_part(int(match[1]) % 2, int(match[1]) // 2, match[2])}"
    return None


def _down(number: int, part: int, rest: str, layout: Layout) -> str:
    block, layer = divmod(number - 1, layout.unet_layers + 1)
    if rest.startswith("op."):
        return f"down_blocks.{block}.downsamplers.0.conv.{rest.removeprefix('op.')}"
    return f"down_blocks.{block}.{_part(part, layer, rest)}"


def _up(number: int, part: int, rest: str, layout: Layout) -> str:
    block, layer = divmod(number, layout.unet_layers + 1)
    if rest.startswith("conv."):
        return f"up_blocks.{block}.upsamplers.0.{rest}"
    return f"up_blocks.{block}.{_part(part, layer, rest)}"


def _part(part: int, layer: int, rest: str) -> str:
    """A residual block (part 0) or the attention after it (part 1), whose inner names are the same in both namings."""
    if part == 1:
        return f"attentions.{layer}.{rest}"
    head, _, kind = rest.rpartition(".")
    return f"resnets.{layer}.{_RESNET.get(head, head)}.{kind}"


def _vae(name: str, layout: Layout) -> tuple[Placement, ...]:
    match = re.fullmatch(r"(encoder|decoder)\.(.+)\.(weight|bias)", name)
    if not match:
        return _whole("vae", name) if re.fullmatch(r"(post_)?quant_conv\.(weight|bias)", name) else ()
    side, head, kind = match.groups()
    if head.startswith("mid.attn_1."):
        known = _VAE_ATTENTION.get(head.removeprefix("mid.attn_1."))
        return _whole("vae", f"{side}.mid_block.attentions.0.{known[0]}.{kind}", known[1]) if known else ()
    inner = _VAE_ENDS.get(head) or _vae_block(head, layout)
    return _whole("vae", inner and f"{side}.{inner}.{kind}")


def _vae_block(head: str, layout: Layout) -> str | None:
    if match := re.fullmatch(r"mid\.block_([12])\.(\w+)", head):
        return f"mid_block.resnets.{int(match[1]) - 1}.{_shortcut(match[2])}"
    match = re.fullmatch(r"(down|up)\.(\d+)\.(?:block\.(\d+)\.(\w+)|(?:down|up)sample\.conv)", head)
    if not match:
        return None
    side, level, layer, part = match.groups()
    block = int(level) if side == "down" else layout.vae_levels - 1 - int(level)  # the decoder counts from the end
    inner = f"{side}samplers.0.conv" if layer is None else f"resnets.{layer}.{_shortcut(part)}"
    return f"{side}_blocks.{block}.{inner}"


def _shortcut(part: str) -> str:
    return "conv_shortcut" if part == "nin_shortcut" else part


def _open_clip(name: str) -> tuple[Placement, ...]:
    if name in _OPEN_CLIP_ENDS:
        return _whole("text_encoder_2", *_OPEN_CLIP_ENDS[name])
    match = re.fullmatch(r"transformer\.resblocks\.(\d+)\.(.+)[._](weight|bias)", name)
    if not match:
        return ()
    layer = f"text_model.encoder.layers.{match[1]}"
    if match[2] == "attn.in_proj":
        return tuple(
            Placement(component="text_encoder_2", name=f"{layer}.self_attn.{part}.{match[3]}", form=form)
            for form, part in _JOINED
        )
    known = _OPEN_CLIP_LAYER.get(match[2])
    return _whole("text_encoder_2", known and f"{layer}.{known}.{match[3]}")
