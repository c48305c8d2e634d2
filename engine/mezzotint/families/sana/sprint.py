"""Sana Sprint: Sana distilled to one to four steps, with a guidance scale that the network embeds.

Its TrigFlow state x = cos(t) x0 + sin(t) n (arXiv 2503.09641, 2410.11081) is that of rectified flow, but for its
length, at sigma = sin(t) / (sin(t) + cos(t)): each of its steps is one of the sampler `lcm` at these sigmas.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.families.family import Conditioning, ModelSources, Network
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.families.samplers import FlowSteps
from mezzotint.families.sana.family import Sana
from mezzotint.families.sana.names import SPRINT
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

_HIGHEST, _MIDDLE = 1.57080, 1.3  # angles: of the first step, and of the second of two


class SanaSprint(Sana):
    """Sana Sprint 0.6B and 1.6B, both for 1024 pixels."""

    original = SPRINT

    spec = FlowSpec(
        name="sana-sprint",
        title="Sana Sprint",
        pipelines=("SanaSprintPipeline", "SanaSprintImg2ImgPipeline"),
        components=Sana.spec.components,
        variants={"sprint": ModelDefaults(width=1024, height=1024, steps=2, guidance_scale=4.5)},
        scheduler={"sprint": {"_class_name": "SCMScheduler", "num_train_timesteps": 1000}},
        max_tokens=Sana.spec.max_tokens,
        instruction_tokens=Sana.spec.instruction_tokens,
        limits=Sana.spec.limits,
        bounds_prompt=Sana.spec.bounds_prompt,
        template=Sana.spec.template,
        patch=Sana.spec.patch,
        guidance="embedded",
    )

    def variant(self, folder: FolderCheckpoint) -> str:  # noqa: ARG002
        """The only variant."""
        return "sprint"

    def variant_of_file(self, file: FileCheckpoint) -> str:  # noqa: ARG002
        """The only variant."""
        return "sprint"

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> FlowSteps | None:  # noqa: ARG002
        """Sigmas of evenly spaced angles, of two steps with the second where the model was tuned."""
        angles = [_HIGHEST, _MIDDLE] if steps == 2 else [_HIGHEST * (1 - step / steps) for step in range(steps)]
        return FlowSteps(sigmas=tuple(min(1.0, math.sin(t) / (math.sin(t) + math.cos(t))) for t in angles))

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Predict the velocity; its timesteps are from 0 to 1."""
        tensors = conditioning.tensors
        seen: torch.Tensor = network(
            rows,
            encoder_hidden_states=tensors["text"],
            encoder_attention_mask=tensors["mask"],
            guidance=tensors["guidance"].expand(rows.shape[0]) * network.config.guidance_embeds_scale,
            timestep=timestep / 1000,
            return_dict=False,
        )[0]
        return seen

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Sana's, and the guidance scale."""
        return {**super().blank(config, rows, tokens), "guidance": (rows,)}
