"""A FLUX.1 or Qwen-Image transformer with its ControlNets, asked before each of its calls with the same arguments."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mezzotint.families.control.settings import ControlSettings
from mezzotint.families.family import Conditioning, LoadedModel, Network
from mezzotint.families.flow.packing import packed

Samples = list[Tensor] | None  # of a list of blocks, in order: each is added after one or several of the transformer's
_UNGUIDED = 1.0  # for ControlNets that embed a scale beside a transformer with two passes


def controlled(model: LoadedModel, network: Network, conditioning: Conditioning) -> Network:
    """The transformer as called with the control images that are used in this step; itself if there are none."""
    used = [one for one in conditioning.controls if one.takes_latents and one.weight]
    return _Controlled(model, network, conditioning, used) if used else network


class _Controlled:
    """A transformer that is called as if it were alone."""

    def __init__(
        self, model: LoadedModel, network: Network, conditioning: Conditioning, controls: Sequence[ControlSettings]
    ) -> None:
        self._model, self._network, self._conditioning, self._controls = model, network, conditioning, controls

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the transformer has
        return getattr(vars(self)["_network"], name)

    def __call__(self, **arguments: Any) -> Any:  # noqa: ANN401  diffusers has no types
        double: Samples = None
        single: Samples = None
        for control in self._controls:
            made = self._asked(control, arguments)
            double, single = (_sum(*pair) for pair in zip((double, single), made, strict=True))
        added = {"controlnet_block_samples": double, "controlnet_single_block_samples": single}
        return self._network(**arguments, **{name: each for name, each in added.items() if each is not None})

    def _asked(self, control: ControlSettings, arguments: dict[str, Any]) -> tuple[Samples, Samples]:
        network, rows = self._model.networks[control.component], arguments["hidden_states"].shape[0]
        words, device = arguments["encoder_hidden_states"], arguments["hidden_states"].device
        own = dict(arguments)
        if control.kind == "flux-controlnet":
            own["guidance"] = None
            if network.config.guidance_embeds:
                own["guidance"] = self._conditioning.tensors.get("guidance", words.new_full((rows,), _UNGUIDED))
            if control.mode is not None:
                own["controlnet_mode"] = torch.full((rows, 1), control.mode, dtype=torch.long, device=device)
        seen = packed(self._conditioning.tensors[control.tensor])
        made = network(**own, controlnet_cond=seen, conditioning_scale=control.weight)
        double, single = made if isinstance(made, tuple) else (made, None)
        if len({each.component for each in self._controls}) == 1:
            return double, single
        singles = 0 if single is None else len(self._network.single_transformer_blocks)
        return _spread(double, len(self._network.transformer_blocks)), _spread(single, singles)


def _spread(samples: Samples, blocks: int) -> Samples:
    """A sample for each block, as the transformer would assign them."""
    if samples is None:
        return None
    interval = math.ceil(blocks / len(samples))
    return [samples[index // interval] for index in range(blocks)]


def _sum(total: Samples, more: Samples) -> Samples:
    if total is None or more is None:
        return more if total is None else total
    return [one + other for one, other in zip(total, more, strict=True)]
