"""SDXL: a U-Net conditioned on two CLIP text encoders, and its refiner on one (arXiv 2307.01952)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, PromptInputs
from mezzotint.families.loading.added_parts import whole_header, with_added
from mezzotint.families.loading.original_sdxl import PIPELINE_SETTINGS, TOKENIZERS, component_configs, is_refiner
from mezzotint.families.loading.sources import folder_sources, single_file_sources
from mezzotint.families.unet_family import UnetFamily, asked_tensors

if TYPE_CHECKING:
    import torch

AESTHETIC_SCORE = 6.0  # micro-conditioning of the refiner: arXiv 2307.01952, appendix C
NEGATIVE_AESTHETIC_SCORE = 2.5


class Sdxl(UnetFamily):
    """Base, refiner and their finetunes."""

    name = "sdxl"

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint; raises ModelRefused if one is missing."""
        if isinstance(checkpoint, FileCheckpoint):
            header = whole_header(checkpoint)
            sources = single_file_sources(
                checkpoint,
                detected,
                configs=component_configs(
                    header,
                    prediction_type=detected.prediction_type,
                    zero_terminal_snr=detected.zero_terminal_snr,
                ),
                tokenizers=TOKENIZERS,
                settings=PIPELINE_SETTINGS[is_refiner(header)],
            )
            return with_added(sources, checkpoint)
        needed = ["unet", "vae", "text_encoder_2", "tokenizer_2"]
        if detected.variant != "refiner":
            needed += ["text_encoder", "tokenizer"]
        return folder_sources(checkpoint, detected, needed)

    def encode(self, model: LoadedModel, inputs: PromptInputs) -> Conditioning:
        """Encode the prompts as `text` `(k, n, d)`, `pooled` `(k, d)` and `time_ids` `(k, 6 or 5)`, k of 1 or 2."""
        import torch

        from mezzotint.families.text.clip_encode import clip_encoders, encode_pair

        guided = self.has_halves(model.sources, inputs.guidance_scale)
        positive, negative = encode_pair(
            inputs.prompt,
            inputs.negative_prompt if guided else None,
            encoders=clip_encoders(model.tokenizers, model.networks),
            clip_skip=inputs.clip_skip,
            zero_empty_negative=bool(model.sources.settings.get("force_zeros_for_empty_prompt", True)),
            embeddings=inputs.embeddings,
            inversions=inputs.inversions,
            gradients=inputs.gradients,
        )
        times, negative_times = _time_ids(model.sources.settings, inputs, positive.embeds.dtype)
        rows = (lambda a, b: torch.cat([a, b])) if guided else (lambda _, b: b)
        tensors = {
            "text": rows(negative.embeds, positive.embeds),
            "pooled": rows(negative.pooled, positive.pooled),
            "time_ids": rows(negative_times, times),
        }
        return asked_tensors(model, inputs.guidance_scale, guided=guided, tensors=tensors)


def _time_ids(
    settings: Mapping[str, object], inputs: PromptInputs, dtype: "torch.dtype"
) -> "tuple[torch.Tensor, torch.Tensor]":
    import torch

    size = [inputs.height, inputs.width]
    if settings.get("requires_aesthetics_score"):
        ends: list[list[float]] = [[AESTHETIC_SCORE], [NEGATIVE_AESTHETIC_SCORE]]
    else:
        ends = [[*size], [*size]]
    positive, negative = (torch.tensor([[*size, 0, 0, *end]], dtype=dtype) for end in ends)
    return positive, negative
