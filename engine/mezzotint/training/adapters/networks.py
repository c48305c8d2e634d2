"""Layers trained beside those of one or several networks: LoRAs, DoRAs, LoKrs."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from mezzotint.families.family import Network
from mezzotint.families.lora.description import Description
from mezzotint.families.lora.writing import write_lora
from mezzotint.training.adapters.adapter import Group
from mezzotint.training.adapters.kinds import KINDS, LayerSettings, TrainedLayer
from mezzotint.training.adapters.layers import LayerChoice
from mezzotint.training_protocol import LayerKind

DENOISERS = ("unet", "transformer")


class NetworkAdapter:
    """Trained layers by component and name; those of the same seed are always the same at first."""

    words = ()

    def __init__(
        self,
        networks: Mapping[str, Network],
        choices: Mapping[str, LayerChoice],
        *,
        kind: LayerKind = "lora",
        seed: int | None = 0,
        factor: int = -1,
        text_share: float = 1.0,
    ) -> None:
        """`choices`: of layers, for each network; `text_share`: of the learning rate, for text encoders."""
        self.layers: dict[str, dict[str, TrainedLayer]] = {}
        for component, choice in choices.items():
            network = networks[component]
            self.layers[component] = {
                name: KINDS[kind](
                    network,
                    name,
                    LayerSettings(rank=rank, alpha=choice.scaled_alpha(rank), seed=seed, factor=factor),
                )
                for name, rank in choice.ranks_of(network).items()
            }
        self._networks, self._text_share, self._detached = networks, text_share, False
        self.module = nn.ModuleList(layer.parts for layers in self.layers.values() for layer in layers.values())

    @property
    def changes_text(self) -> bool:
        """Whether a text encoder is trained."""
        return any(component not in DENOISERS for component in self.layers)

    def named(self) -> dict[str, Tensor]:
        """All parameters by name."""
        return {
            f"{component}.{name}.{part}": parameter
            for component, layers in self.layers.items()
            for name, layer in layers.items()
            for part, parameter in layer.parts.items()
        }

    def parameters(self) -> list[Tensor]:
        """All parameters, in the order of the layers."""
        return list(self.named().values())

    def groups(self) -> list[Group]:
        """A group for each network."""
        return [
            Group(
                parameters=[each for layer in layers.values() for each in layer.parts.values()],
                share=1.0 if component in DENOISERS else self._text_share,
            )
            for component, layers in self.layers.items()
        ]

    def to(self, device: torch.device) -> None:
        """Move them to a device."""
        for parameter in self.parameters():
            parameter.data = parameter.data.to(device)

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Context manager: the networks' layers compute with them."""
        handles = [
            self._networks[component].get_submodule(name).register_forward_hook(self._hook(layer))
            for component, layers in self.layers.items()
            for name, layer in layers.items()
        ]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    @contextmanager
    def detached(self) -> Iterator[None]:
        """Context manager: attached networks compute without them."""
        self._detached = True
        try:
            yield
        finally:
            self._detached = False

    def write(self, path: Path, family: str, description: Description, *, overwrite: bool) -> None:
        """Write a file in the family's dialect."""
        networks = {
            component: {name: layer.written() for name, layer in layers.items()}
            for component, layers in self.layers.items()
        }
        write_lora(path, networks, family, description, overwrite=overwrite)

    def _hook(self, layer: TrainedLayer) -> Any:  # noqa: ANN401  # torch's hooks are untyped
        def add(module: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> Tensor:
            return output if self._detached else layer.added(module, inputs[0], output)

        return add
