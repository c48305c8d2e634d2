"""Random LoRAs for the small models, written in the key formats of various programs, and merged manually."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tiny_sdxl import unet_name

KOHYA = {"unet": "lora_unet", "transformer": "lora_unet", "text_encoder": "lora_te1", "text_encoder_2": "lora_te2"}
DOTTED = {"diffusers": (".lora_A", ".lora_B"), "old": (".lora.down", ".lora.up"), "down": (".lora_down", ".lora_up")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """The LoRA of one layer: down `(r, k)` or `(r, c, kh, kw)`, up, and mid if the kernel is factored out.

    `magnitude`, of a DoRA: `(n, 1, ...)` for outputs or `(1, c, ...)` for inputs.
    """

    component: str
    name: str
    down: Any
    up: Any
    alpha: float
    mid: Any = None
    magnitude: Any = None

    def difference(self, weight: Any = None) -> Any:
        """Return the delta of a merged weight, from first principles, in float64; that of a DoRA depends on it."""
        import torch

        down, up = self.down.double(), self.up.double().flatten(1)
        if self.mid is not None:
            down = torch.einsum("ijkl,jr->irkl", self.mid.double(), down.flatten(1))
        update = torch.einsum("nr,r...->n...", up, down) * (self.alpha / down.shape[0])
        if self.magnitude is None:
            return update
        changed, weight = weight.double() + update, weight.double()
        return changed * (self.magnitude.double() / _norms(changed, self.magnitude.shape)) - weight


def random_lora(
    networks: dict[str, Any],
    pattern: str,
    *,
    rank: int = 3,
    alpha: float = 2.0,
    size: float = 0.3,
    seed: int = 1,
    dora: Literal["outputs", "inputs"] | None = None,
) -> list[Added]:
    """Return factors for the linear layers and convolutions whose full name, like `unet.conv_in`, matches `pattern`."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    found = []
    for component, network in networks.items():
        for name, layer in network.named_modules():
            if isinstance(layer, torch.nn.Linear | torch.nn.Conv2d) and re.search(pattern, f"{component}.{name}"):
                shape, window = layer.weight.shape, (1,) * (layer.weight.ndim - 2)
                down = torch.randn(rank, *shape[1:], generator=generator) * size
                up = torch.randn(shape[0], rank, *window, generator=generator) * size
                magnitude = None
                if dora is not None:
                    sides = (shape[0], 1, *window) if dora == "outputs" else (1, shape[1], *window)
                    magnitude = _norms(layer.weight, sides) * (0.5 + torch.rand(sides, generator=generator))
                added = Added(component=component, name=name, down=down, up=up, alpha=alpha, magnitude=magnitude)
                found.append(added)
    assert found, pattern
    return found


def kohya_tensors(added: Iterable[Added], *, original: bool = False) -> dict[str, Any]:
    """Return tensors with the key names of kohya's scripts; `original`: with original layer names of the SDXL U-Net."""
    import torch

    tensors = {}
    for one in added:
        name = one.name
        if original and one.component == "unet":
            name = unet_name(f"{name}.weight").removesuffix(".weight")
        elif one.component.startswith("text_encoder") and not name.startswith(("text_model.", "encoder.block")):
            name = f"text_model.{name}"  # as in published files, whatever the library calls it today
        stem = f"{KOHYA[one.component]}_{name.replace('.', '_')}"
        tensors |= {f"{stem}.lora_down.weight": one.down, f"{stem}.lora_up.weight": one.up}
        tensors[f"{stem}.alpha"] = torch.tensor(one.alpha)
        if one.mid is not None:
            tensors[f"{stem}.lora_mid.weight"] = one.mid
        if one.magnitude is not None:
            tensors[f"{stem}.dora_scale"] = one.magnitude
    return tensors


def dotted_tensors(added: Iterable[Added], naming: str = "diffusers") -> dict[str, Any]:
    """Return tensors with the key names of peft and diffusers; alpha is included only for the naming `down`."""
    import torch

    down, up = DOTTED[naming]
    tensors = {}
    for one in added:
        stem = f"{one.component}.{one.name}"
        tensors |= {f"{stem}{down}.weight": one.down, f"{stem}{up}.weight": one.up}
        if naming == "down":
            tensors[f"{stem}.alpha"] = torch.tensor(one.alpha)
        if one.magnitude is not None:  # as peft stores them
            is_linear = one.magnitude.ndim == 2
            tensors[f"{stem}.lora_magnitude_vector"] = (
                one.magnitude[:, 0] if is_linear else one.magnitude.transpose(0, 1)
            )
    return tensors


def oft_tensors(networks: dict[str, Any], pattern: str, side: Literal["outputs", "inputs"], seed: int = 1) -> Any:
    """Return random OFT blocks for the same layers: those of outputs as by LyCORIS, of inputs as by peft."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    tensors = {}
    for one in random_lora(networks, pattern, rank=1):
        if side == "outputs":
            blocks = torch.randn(len(one.up) // 4, 4, 4, generator=generator)
            tensors[f"{KOHYA[one.component]}_{one.name.replace('.', '_')}.oft_blocks"] = blocks * 0.2
        else:
            upper = torch.randn(one.down[0].numel() // 4, 6, generator=generator)
            tensors[f"{one.component}.{one.name}.oft_R.weight"] = upper * 0.2
    return tensors


def write_lora(path: Path, tensors: dict[str, Any], metadata: dict[str, str] | None = None) -> Path:
    """Write the file and return its path."""
    from safetensors.torch import save_file

    save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path, metadata=metadata)
    return path


def merge(networks: dict[str, Any], added: Iterable[Added], weight: float = 1.0) -> None:
    """Add the LoRA to the weights, as programs that merge do."""
    import torch

    with torch.no_grad():
        for one in added:
            parameter = networks[one.component].get_submodule(one.name).weight
            parameter.copy_(parameter.double() + weight * one.difference(parameter))


def _norms(weight: Any, like: tuple[int, ...]) -> Any:
    """Norms of the parts of a weight that have one number each in a tensor of that shape."""
    import torch

    sides = [side for side, length in enumerate(like) if length == 1]
    return torch.linalg.vector_norm(weight.detach(), dim=sides, keepdim=True)
