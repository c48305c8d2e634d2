"""A FLUX.1 or Qwen-Image transformer with its ControlNets, asked before its calls with the same arguments."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from mezzotint.families.control.settings import ControlSettings
from mezzotint.families.family import Conditioning, LoadedModel, Network
from mezzotint.families.flow.packing import packed
from mezzotint.families.text.conditionings import half_of

Samples = list[Tensor] | None  # of a list of blocks, in order: each is added after one or several of the transformer's
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

    `ask` calls it for latents at timesteps. Of two guidance halves, both are given what was made for the prompt.
    """
    used = [one for one in conditioning.controls if one.takes_latents and one.weight]
    if not used:
        return network
    halves = 2 if conditioning.guided else 1
    prompt = half_of(conditioning, 1) if conditioning.guided else conditioning.prompted or conditioning
    answer = _Answer(model, network, prompt, used)
    ask(answer, rows.chunk(halves)[-1], timestep.chunk(halves)[-1], prompt)
    named = {"controlnet_block_samples": answer.double, "controlnet_single_block_samples": answer.single}
    return _Given(network, {name: _repeated(each, halves) for name, each in named.items() if each is not None})


class _Standing:
    """Stands in for a transformer."""

    def __init__(self, network: Network) -> None:
        self._network = network

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  whatever the transformer has
        return getattr(vars(self)["_network"], name)


class _Given(_Standing):
    """A transformer that is given what is added to its blocks."""

    def __init__(self, network: Network, added: dict[str, list[Tensor]]) -> None:
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

    def __call__(self, **arguments: Any) -> tuple[Tensor]:  # noqa: ANN401  diffusers has no types
        for control in self._controls:
            double, single = self._asked(control, arguments)
            self.double, self.single = _sum(self.double, double), _sum(self.single, single)
        return (arguments["hidden_states"],)

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


def _repeated(samples: list[Tensor], times: int) -> list[Tensor]:
    return samples if times == 1 else [torch.cat([one] * times) for one in samples]


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
