"""Transformers' layers as Nunchaku stores them, written number by number to where its table of orders says."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

Arrays = dict[str, Any]
SHIFT = 11 / 64
FLUX = {  # 128 wide
    "attention_head_dim": 32,
    "num_attention_heads": 4,
    "axes_dims_rope": (4, 14, 14),
    "num_layers": 1,
    "num_single_layers": 1,
}
QWEN_IMAGE = {"num_attention_heads": 4, "num_layers": 1}
Z_IMAGE = {"dim": 384, "n_layers": 1, "n_heads": 12, "n_kv_heads": 12, "axes_dims": [8, 12, 12]}
_QKV = ("attn.to_q", "attn.to_k", "attn.to_v")
_ADDED_QKV = ("attn.add_q_proj", "attn.add_k_proj", "attn.add_v_proj")
_SAME = (
    "attn.to_out.0",
    "attn.to_add_out",
    "img_mlp.net.0.proj",
    "img_mlp.net.2",
    "txt_mlp.net.0.proj",
    "txt_mlp.net.2",
)
_LAYERS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "flux": {
        "qkv_proj": _QKV,
        "qkv_proj_context": _ADDED_QKV,
        "out_proj": ("attn.to_out.0",),
        "out_proj_context": ("attn.to_add_out",),
        "mlp_fc1": ("ff.net.0.proj",),
        "mlp_fc2": ("ff.net.2",),
        "mlp_context_fc1": ("ff_context.net.0.proj",),
        "mlp_context_fc2": ("ff_context.net.2",),
    },
    "flux-single": {"qkv_proj": _QKV, "mlp_fc1": ("proj_mlp",)},
    "qwen-image": {"attn.to_qkv": _QKV, "attn.add_qkv_proj": _ADDED_QKV, **{layer: (layer,) for layer in _SAME}},
    "z-image": {
        "attention.to_qkv": ("attention.to_q", "attention.to_k", "attention.to_v"),
        "attention.to_out.0": ("attention.to_out.0",),
        "feed_forward.net.0.proj": ("feed_forward.w3", "feed_forward.w1"),
        "feed_forward.net.2": ("feed_forward.w2",),
    },
}
_AFTER_GELU = ("mlp_fc2", "mlp_context_fc2", "img_mlp.net.2", "txt_mlp.net.2")
_MODULATION = {"norm1.linear": 6, "norm1_context.linear": 6, "norm.linear": 3, "img_mod.1": 6, "txt_mod.1": 6}
_OTHER_NAMES = {".smooth": ".smooth_factor", ".lora_down": ".proj_down", ".lora_up": ".proj_up"}
_BLOCK = re.compile(r"((?:single_)?transformer_blocks|layers|noise_refiner|context_refiner)\.\d+")


def nunchaku_transformer(tensors: Mapping[str, Any], family: str = "flux") -> tuple[Arrays, Arrays]:
    """A transformer's tensors as in Nunchaku's files, and the same layers in our own layout, with diffusers' names.

    Refiners of Z-Image are joined, but not quantized, as in some files.
    """
    import torch

    writer = _Writer(tensors)
    for block in dict.fromkeys(found[0] for name in tensors if (found := _BLOCK.match(name))):
        single = block.startswith("single_")
        for layer, parts in _LAYERS["flux-single" if single else family].items():
            (writer.join if "refiner" in block else writer.quantize)(f"{block}.{layer}", block, parts)
        if single:
            writer.divide(block)
        for layer, chunks in _MODULATION.items():
            if f"{block}.{layer}.weight" in writer.left:
                writer.modulate(f"{block}.{layer}", chunks)
    made, left = writer.made, {name: each.to(torch.float16) for name, each in writer.left.items()}
    if family == "flux":
        return made | {name.replace(".attn.norm_", ".norm_"): each for name, each in left.items()}, writer.same | left
    for ours, theirs in _OTHER_NAMES.items():
        made = {name.replace(ours, theirs): each for name, each in made.items()}
    return made | left, writer.same | left


class _Writer:
    """Writes layers into `made` and `same`, from those that are left."""

    def __init__(self, tensors: Mapping[str, Any]) -> None:
        import torch

        self.made: Arrays = {}
        self.same: Arrays = {}
        self.left = dict(tensors)
        self._settings = torch.float16, 16, torch.Generator().manual_seed(5)

    def _taken(self, *layers: str) -> tuple[Any, Any]:
        import torch

        weight, bias = ([self.left.pop(f"{layer}.{kind}", None) for layer in layers] for kind in ("weight", "bias"))
        return torch.cat(weight).float(), None if bias[0] is None else torch.cat(bias).float()

    def quantize(self, name: str, block: str, parts: Sequence[str]) -> None:
        """Write layers as one."""
        whole = self._taken(*(f"{block}.{part}" for part in parts))
        split = split_layer(*whole, *self._settings, after_gelu=name.endswith(_AFTER_GELU))
        self.made |= stored(name, split)
        for number, part in enumerate(parts):
            self.same |= own_layer(f"{block}.{part}", rows_of(split, number, len(parts)))

    def join(self, name: str, block: str, parts: Sequence[str]) -> None:
        """Write layers as one that is not quantized."""
        weight = self._taken(*(f"{block}.{part}" for part in parts))[0].half()
        self.made[f"{name}.weight"] = weight
        self.same |= {
            f"{block}.{part}.weight": each for part, each in zip(parts, weight.chunk(len(parts)), strict=True)
        }

    def divide(self, block: str) -> None:
        """Write the layer after attention and MLP as two."""
        import torch

        weight, bias = self._taken(f"{block}.proj_out")
        width = weight.shape[0]
        first = split_layer(weight[:, :width], torch.zeros(width), *self._settings)
        second = split_layer(weight[:, width:], bias, *self._settings, after_gelu=True)
        self.made |= stored(f"{block}.out_proj", first) | stored(f"{block}.mlp_fc2", second)
        self.same |= own_layer(f"{block}.proj_out", side_by_side(first, second))

    def modulate(self, name: str, chunks: int) -> None:
        """Write a layer of modulation."""
        parts, plain = modulation(*self._taken(name), chunks, self._settings[0])
        self.made |= {f"{name}.{part}": each for part, each in parts.items()}
        self.same |= {f"{name}.{part}": each for part, each in plain.items()}


def split_layer(weight: Any, bias: Any, dtype: Any, rank: int, generator: Any, *, after_gelu: bool = False) -> Arrays:
    """A layer as codes and scales of its smoothed rest, and a branch, in the order of rows and columns."""
    import torch

    n, k = weight.shape
    smooth = (0.5 + torch.rand(k, generator=generator)).to(dtype)
    down = (torch.randn(k, rank, generator=generator) / k).to(dtype)
    up = (torch.randn(n, rank, generator=generator) / 50).to(dtype)
    rest = ((weight - up.float() @ down.float().t()) * smooth.float()).view(n, k // 64, 64)
    scale = (rest.abs().amax(dim=2) / 7).to(dtype)
    codes = (rest / scale.float()[:, :, None]).round().clamp(-8, 7)
    plain = (codes * scale.float()[:, :, None]).view(n, k) / smooth.float()
    shift = plain.sum(dim=1) * SHIFT if after_gelu else torch.zeros(n)
    bias = None if bias is None else (bias - shift).to(dtype)  # what is added to the inputs is taken off again
    parts = {"codes": codes.view(n, k).int(), "scale": scale, "smooth": smooth, "down": down, "up": up, "bias": bias}
    return {**parts, "shift": shift, "keeps": after_gelu}


def rows_of(split: Arrays, number: int, count: int) -> Arrays:
    """One of `count` layers that are stacked in one."""
    size = split["codes"].shape[0] // count
    names = [name for name in ("codes", "scale", "up", "bias", "shift") if split[name] is not None]
    return split | {name: split[name][number * size :][:size] for name in names}


def side_by_side(first: Arrays, second: Arrays) -> Arrays:
    """Two layers whose outputs are added as one, whose inputs lie side by side."""
    import torch

    joined = {name: torch.cat([first[name], second[name]], dim=1) for name in ("codes", "scale", "up")}
    joined["smooth"] = torch.cat([first["smooth"], second["smooth"]])
    (a, rank), b = first["down"].shape, second["down"].shape[0]
    down = torch.zeros(a + b, 2 * rank)
    down[:a, :rank], down[a:, rank:] = first["down"], second["down"]
    shift = first["bias"].float() + second["shift"]
    return {**joined, "down": down, "bias": second["bias"], "shift": shift, "keeps": True}


def own_layer(name: str, split: Arrays) -> Arrays:
    """A layer and its bias in our own layout."""
    import torch

    from mezzotint.quantization.layouts.stored import encode_layer
    from mezzotint.quantization.svdquant.format import SvdQuant

    codes = split["codes"].numpy() & 15
    tensors = {
        "weight": torch.from_numpy((codes[:, 0::2] + 16 * codes[:, 1::2]).astype("uint8")),
        "weight_scale": split["scale"].t().half().contiguous(),
        "weight_smooth": 1 / split["smooth"].float(),
        "weight_down": split["down"].t().half().contiguous(),
        "weight_up": split["up"].half().contiguous(),
    }
    format_ = SvdQuant(rank=split["up"].shape[1], dynamic=not split["keeps"])
    layer = encode_layer(name, format_, tuple(split["codes"].shape), tensors, torch.float16)
    bias = split["bias"]
    return layer if bias is None else layer | {f"{name}.bias": bias.float() + split["shift"]}


def stored(name: str, split: Arrays) -> Arrays:
    """A layer's tensors as Nunchaku stores them."""
    n, k = split["codes"].shape
    parts = {
        "qweight": words(split["codes"]),
        "wscales": spread(split["scale"]).view(k // 64, n),
        "smooth": spread(split["smooth"][:, None]).flatten(),
        "smooth_orig": spread(split["smooth"][:, None]).flatten(),
        "bias": None if split["bias"] is None else spread(split["bias"][:, None]).flatten(),
        "lora_down": branch(split["down"], down=True),
        "lora_up": branch(split["up"], down=False),
    }
    return {f"{name}.{part}": each for part, each in parts.items() if each is not None}


def words(codes: Any) -> Any:
    """Codes `(n, k)` of -8 to 7 as bytes `(n, k / 2)`, eight to each word of 32 bits."""
    import numpy as np
    import torch

    n, k = codes.shape
    row, column = np.indices((n, k))
    at = row // 128 * (k // 64) + column // 64
    at = at * 8 + row % 128 // 16
    at = at * 8 + row % 8
    at = at * 4 + column % 32 // 8
    at = at * 2 + row % 16 // 8
    at = at * 2 + column % 64 // 32
    made = np.zeros(n * k // 8, dtype=np.uint32)
    np.add.at(
        made, at.ravel(), ((codes.numpy() & 15).astype(np.uint32) << (4 * (column % 8)).astype(np.uint32)).ravel()
    )
    return torch.from_numpy(made.view(np.int8).reshape(n, k // 2).copy())


def spread(numbers: Any) -> Any:
    """Numbers `(n, groups)` of rows, as scales lie in a tile: pairs of rows, eight apart, by lanes."""
    import numpy as np
    import torch

    row, group = np.indices(numbers.shape)
    inside, groups = row % 128, numbers.shape[1]
    lane = inside // 16 * 4 + inside % 8 // 2
    at = ((row // 128 * groups + group) * 32 + lane) * 4 + inside % 16 // 8 * 2 + inside % 2
    made = torch.empty_like(numbers).flatten()
    made[torch.from_numpy(at.ravel())] = numbers.flatten()
    return made


def branch(factor: Any, *, down: bool) -> Any:
    """A factor `(rows, rank)` of the branch, as fragments of 16 by 16 lie in a register of each lane."""
    import numpy as np
    import torch

    first, second = np.indices(factor.shape)
    tile = first // 16 * (factor.shape[1] // 16) + second // 16
    lane, pair = (second, first) if down else (first, second)
    at = (tile * 8 + lane % 8) * 4 + pair % 8 // 2
    at = ((at * 2 + lane % 16 // 8) * 2 + pair % 16 // 8) * 2 + pair % 2
    made = torch.empty_like(factor).flatten()
    made[torch.from_numpy(at.ravel())] = factor.flatten()
    return made.view(factor.shape)


def modulation(weight: Any, bias: Any, chunks: int, dtype: Any) -> tuple[Arrays, Arrays]:
    """A layer of AWQ as Nunchaku stores it, and its weight and bias as they are then."""
    import numpy as np
    import torch

    n, k = weight.shape
    groups = weight.view(n, k // 64, 64)
    least = groups.amin(dim=2)
    scale = ((groups.amax(dim=2) - least) / 15).to(dtype)
    least = least.to(dtype)
    codes = ((groups - least.float()[:, :, None]) / scale.float()[:, :, None]).round().clamp(0, 15)
    plain = (codes * scale.float()[:, :, None] + least.float()[:, :, None]).view(n, k)
    codes, raised = codes.view(n, k).numpy().astype(np.int64), torch.zeros(chunks)
    raised[1] = raised[chunks - 2] = 1
    order = [chunk * (n // chunks) + row for row in range(n // chunks) for chunk in range(chunks)]
    bias = (bias + raised.repeat_interleave(n // chunks)).to(dtype)
    made = np.zeros(n * k // 4, dtype=np.uint16)
    row, column = np.indices((n, k))
    at = ((row // 4 * (k // 64) + column // 64) * 4 + row % 4) * 16 + column % 64 // 32 * 8 + column % 8
    np.add.at(made, at.ravel(), (codes[order] << 4 * (column % 32 // 8)).astype(np.uint16).ravel())
    parts = {
        "qweight": torch.from_numpy(made.view(np.int32).reshape(n // 4, k // 2).copy()),
        "wscales": scale[order].t().contiguous(),
        "wzeros": least[order].t().contiguous(),
        "bias": bias[order],
    }
    return parts, {"weight": plain, "bias": bias.float() - raised.repeat_interleave(n // chunks)}
