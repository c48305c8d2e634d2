"""Write a variant's folder: what differs from its trunk, and the other parts shared with starter-dit."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from mezzotint.checkpoints.delta.writing import write_delta
from mezzotint.families.architectures.dense_weights import dense_name
from mezzotint.training.distributed import Processes
from mezzotint_starter.export import Parts, build_pipeline, write_folder
from mezzotint_starter.plan import Plan
from mezzotint_starter.variants.low_rank import merge_low_rank

SHARED = {part: f"dit/{part}" for part in ("vae", "text_encoder", "tokenizer")}


def write_variant(
    plan: Plan, parts: Parts, weights: Mapping[str, Tensor], name: str, trunk: str, content: Mapping[str, Any]
) -> None:
    """Write `plan.out`/NAME, whose weights are those of the trunk with what was trained."""
    network, changes = parts.denoiser, merge_low_rank(parts.denoiser)
    write_folder(build_pipeline(parts), plan.out / name, {**content, "shared": SHARED})
    own: dict[str, Tensor] = {}
    taken: dict[str, str] = {}
    for key, value in network.state_dict().items():
        source = dense_name(network, key)
        if source in weights and (key in changes or _same(value, weights[source])):
            taken[key] = source
        else:
            own[key] = value
    if Processes.of_environment().is_first:
        file = plan.out / name / "transformer" / "diffusion_pytorch_model.safetensors"
        low_rank = {key: each for key, each in changes.items() if key in taken}
        write_delta(file, own=own, low_rank=low_rank, taken=taken, trunk=f"{trunk}/transformer")


def _same(value: Tensor, other: Tensor) -> bool:
    return value.numel() == other.numel() and torch.equal(value.flatten(), other.flatten())
