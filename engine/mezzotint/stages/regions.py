"""Refuse regional prompts where they are impossible, before anything is loaded."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mezzotint.acceleration.trunks import JOINT
from mezzotint.errors import UsageError
from mezzotint.families.family import ModelSources
from mezzotint.protocol import GenerateRequest
from mezzotint.values.regions import MAX_REGIONS, check_region

if TYPE_CHECKING:
    from mezzotint.stages.setup import StageSetup

_CROSS = ("UNet2DConditionModel", "PixArtTransformer2DModel", "SanaTransformer2DModel")


def check_regions(request: GenerateRequest, stages: "Sequence[StageSetup]") -> None:
    """Raise UsageError for regions out of range, or that a model or another option cannot follow."""
    if not request.regions:
        return
    if len(request.regions) > MAX_REGIONS:
        raise UsageError(f"{len(request.regions)} regions are given; at most {MAX_REGIONS} can be used")
    for region in request.regions:
        try:
            check_region(region)
        except ValueError as error:
            raise UsageError(f"region: {error}") from None
    if request.compile:
        raise UsageError("--region and --compile cannot be used together: leave one of them out")
    for stage in stages:
        _check_stage(stage)


def _check_stage(stage: "StageSetup") -> None:
    sampling, is_joint = stage.sampling, _class_of(stage.sources) in JOINT
    if not is_joint and (_class_of(stage.sources) not in _CROSS or _is_variant(stage.sources)):
        raise UsageError(
            f"{stage.found.info.id} cannot follow regional prompts: Stable Diffusion 1.5 and 3, SDXL, PixArt, Sana and "
            "FLUX.1 can; leave --region out"
        )
    clashing = {
        "--deep-shrink": sampling.deep_shrink,
        "--tokens": is_joint and sampling.tokens,
        "--sparse-attention": is_joint and sampling.sparse_attention,
        "--reference": stage.references,
        "--denoise-tile": stage.tile,
        "Redux": any(control.settings.kind == "redux" for control in stage.controls),
    }
    for name, value in clashing.items():
        if value:
            raise UsageError(f"--region and {name} cannot be used together: leave one of them out")


def _class_of(sources: ModelSources) -> str:
    network = sources.components.get("unet") or sources.components.get("transformer")
    return "" if network is None else network.class_name


def _is_variant(sources: ModelSources) -> bool:
    network = sources.components.get("transformer")
    return network is not None and "architecture" in network.config
