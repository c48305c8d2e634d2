"""A FLUX.1, Qwen-Image or Z-Image transformer with its ControlNets, asked before its calls with the same arguments."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from mezzotint.families.control.settings import ControlSettings
from mezzotint.families.control.z_image import sharing
from mezzotint.families.family import Conditioning, LoadedModel, Network
from mezzotint.families.flow.packing import packed
from mezzotint.families.text.conditionings import half_of

Samples = list[Tensor] | None  # of a list of blocks, in order: each is added after one or several of the transformer's
Added = list[Tensor] | dict[int, Tensor]  # the same, or by the number of the block
_UNGUIDED = 1.0  # for ControlNets that embed a scale beside a transformer with two passes


def controlled(
    ask: Callable[[Network, Tensor, Tensor, Conditioning], Tensor],
    model: LoadedModel,
    network: Network,
    rows: Tensor,
    timestep: Tensor,
    conditioning: Conditioning,
) -> Network:
    """The transformer as called with the control images that are used in this step; itself if there are none.

    `ask` calls it for latents at timesteps. Of two guidance halves, both are given what was made for the prompt, except
    for Z-Image's, as in diffusers.
    """
    used = [one for one in conditioning.controls if one.takes_latents and one.is_asked_each_step and one.weight]
    if not used:
        return network
    halves = 2 if conditioning.guided and not used[0].is_of_both_halves else 1
    prompt = half_of(conditioning, 1) if halves > 1 else _seen_with(conditioning, used)
    answer = _Answer(model, network, prompt, used)
    ask(answer, rows.chunk(halves)[-1], timestep.chunk(halves)[-1], prompt)
    return _Given(network, {name: _repeated(each, halves) for name, each in answer.added.items() if each})


def _seen_with(conditioning: Conditioning, used: Sequence[ControlSettings]) -> Conditioning:
    """The conditioning that ControlNets are asked with beside that of a transformer."""
    return conditioning if used[0].is_of_both_halves else conditioning.prompted or conditioning


class _Standing:
    """Stands in for a transformer."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the transformer has
        return getattr(vars(self)["_network"], name)


class _Given(_Standing):
    """A transformer that is given what is added to its blocks."""

    def __init__(self, network: Network, added: dict[str, Added]) -> None:
        super().__init__(network)
        self._added = added

    def __call__(self, **arguments: Any) -> Any:  # noqa: ANN401  diffusers has no types
        return self._network(**arguments, **self._added)


class _Answer(_Standing):
    """The ControlNets' answer to the arguments of a transformer, which is not called itself."""

    def __init__(
        self, model: LoadedModel, network: Network, conditioning: Conditioning, controls: Sequence[ControlSettings]
    ) -> None:
        super().__init__(network)
        self._model, self._conditioning, self._controls = model, conditioning, controls
        self.double: Samples = None
        self.single: Samples = None
        self.by_layer: dict[int, Tensor] = {}

    @property
    def added(self) -> dict[str, Added | None]:
        """What is added to the transformer's blocks, by its arguments."""
        return {
            "controlnet_block_samples": self.by_layer or self.double,
            "controlnet_single_block_samples": self.single,
        }

    def __call__(self, **arguments: Any) -> tuple[Any]:  # noqa: ANN401  diffusers has no types
        for control in self._controls:
            if control.kind == "z-image-controlnet":
                for layer, one in self._asked_by_layer(control, arguments).items():
                    self.by_layer[layer] = self.by_layer[layer] + one if layer in self.by_layer else one
                continue
            double, single = self._asked(control, arguments)
            self.double, self.single = _sum(self.double, double), _sum(self.single, single)
        return (arguments["x"] if self.by_layer else arguments["hidden_states"],)

    def _asked_by_layer(self, control: ControlSettings, arguments: dict[str, Any]) -> dict[int, Tensor]:
        """Z-Image's: its image is beside what an inpainting one sees, which here is nothing, in zeros."""
        network, seen = self._model.networks[control.component], self._conditioning.tensors[control.tensor]
        others = network.config.control_in_dim - seen.shape[1]
        seen = torch.cat([seen, seen.new_zeros(seen.shape[0], others, *seen.shape[2:])], dim=1).unsqueeze(2)
        own = {name: arguments[name] for name in ("x", "t", "cap_feats")}
        with sharing(network, self._network):
            made: dict[int, Tensor] = network(**own, control_context=seen, conditioning_scale=control.weight)
        return made

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


def _repeated(samples: Added, times: int) -> Added:
    return samples if isinstance(samples, dict) or times == 1 else [torch.cat([one] * times) for one in samples]


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
