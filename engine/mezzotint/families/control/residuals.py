"""What ControlNets and T2I-Adapters add to a U-Net's features: summed before each of its calls.

As in diffusers' pipelines with several of them (arXiv 2302.05543, 2302.08453); a network whose weights are all 0 in a
step is not called.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from mezzotint.families.control.settings import ControlSettings
from mezzotint.families.family import Conditioning, LoadedModel

_FEATURES = "_features_"  # after the name of an image, in the names of what is made of it

Residuals = tuple[list[Tensor], Tensor]  # of the levels on the way down, and of the middle block


def residuals(
    model: LoadedModel,
    sample: Tensor,
    timestep: Tensor,
    conditioning: Conditioning,
    added: dict[str, Tensor] | None,
) -> dict[str, Any]:
    """Arguments of the U-Net for a scaled sample `(rows, c, h, w)`; empty if nothing is controlled in this step."""
    total: Residuals | None = None
    arguments = _features(model, conditioning)
    for component, controls in _calls(conditioning.controls):
        network = model.networks[component]
        words = {"encoder_hidden_states": conditioning.tensors["text"], "added_cond_kwargs": added}
        about = _about(network, controls, conditioning, sample)
        down, mid = network(sample, timestep, **words, **about, return_dict=False)
        total = (list(down), mid) if total is None else _sum(total, down, mid)
    if total is None:
        return arguments
    return arguments | {"down_block_additional_residuals": total[0], "mid_block_additional_residual": total[1]}


def with_features(model: LoadedModel, conditioning: Conditioning) -> Conditioning:
    """The conditioning with what T2I-Adapters make of its images, which is the same in all steps and both halves."""
    made = {
        f"{control.tensor}{_FEATURES}{level}": torch.cat([one] * (2 if conditioning.guided else 1))
        for control in conditioning.controls
        if control.kind == "t2i-adapter"
        for level, one in enumerate(_seen(model, conditioning, control))
    }
    return replace(conditioning, tensors=conditioning.tensors | made) if made else conditioning


def _features(model: LoadedModel, conditioning: Conditioning) -> dict[str, Any]:
    """The same for a step, weighted and summed; made here for a tile, which is an image of its own."""
    total: list[Tensor] = []
    for control in conditioning.controls:
        if control.kind == "t2i-adapter" and control.weight:
            lead = f"{control.tensor}{_FEATURES}"
            made = [one for name, one in conditioning.tensors.items() if name.startswith(lead)]
            if not made:
                halves = 2 if conditioning.guided else 1
                made = [torch.cat([one] * halves) for one in _seen(model, conditioning, control)]
            made = [one * control.weight for one in made]
            total = [one + other for one, other in zip(total, made, strict=True)] if total else made
    return {"down_intrablock_additional_residuals": total} if total else {}


def _seen(model: LoadedModel, conditioning: Conditioning, control: ControlSettings) -> list[Tensor]:
    """What an adapter makes of the images, without guidance's second half."""
    pixels = conditioning.tensors[control.tensor].chunk(2 if conditioning.guided else 1)[0]
    pixels = pixels.clone(memory_format=torch.channels_last)  # strides as in diffusers: last bits depend on them
    made: list[Tensor] = model.networks[control.component](pixels)
    return made


def _calls(controls: Sequence[ControlSettings]) -> Iterator[tuple[str, tuple[ControlSettings, ...]]]:
    """The calls of networks, with their images: a union ControlNet takes all of its images at once."""
    controls = [control for control in controls if control.kind == "controlnet"]
    unions: dict[str, list[ControlSettings]] = {}
    for control in controls:
        if control.mode is not None:
            unions.setdefault(control.component, []).append(control)
    for control in controls:
        same = unions.pop(control.component, [control] if control.mode is None else [])
        if any(one.weight for one in same):
            yield control.component, tuple(same)


def _about(
    network: Any,  # noqa: ANN401  diffusers has no types
    controls: Sequence[ControlSettings],
    conditioning: Conditioning,
    sample: Tensor,
) -> dict[str, object]:
    """The image or images, their weights, and for a union ControlNet what they show."""
    images = [conditioning.tensors[control.tensor] for control in controls]
    if controls[0].mode is None:
        return {"controlnet_cond": images[0], "conditioning_scale": controls[0].weight}
    modes = [control.mode for control in controls]
    kinds = torch.zeros(network.config.num_control_type, dtype=sample.dtype, device=sample.device)
    kinds[modes] = 1
    return {
        "controlnet_cond": images,
        "conditioning_scale": [control.weight for control in controls],
        "control_type": kinds.expand(sample.shape[0], -1),
        "control_type_idx": modes,
    }


def _sum(total: Residuals, down: Sequence[Tensor], mid: Tensor) -> Residuals:
    return [one + other for one, other in zip(total[0], down, strict=True)], total[1] + mid
