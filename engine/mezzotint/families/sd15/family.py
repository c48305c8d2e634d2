"""Stable Diffusion 1.5: a U-Net conditioned on the last hidden states of a CLIP text encoder."""

from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, PromptInputs
from mezzotint.families.loading.added_parts import whole_header, with_added
from mezzotint.families.loading.original_sd15 import TOKENIZERS, component_configs
from mezzotint.families.loading.sources import folder_sources, single_file_sources
from mezzotint.families.unet_family import UnetFamily, asked_tensors


class Sd15(UnetFamily):
    """Stable Diffusion 1.x and its finetunes, which differ only in their weights."""

    name = "sd15"

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint; raises ModelRefused if one is missing."""
        if not isinstance(checkpoint, FileCheckpoint):
            return folder_sources(checkpoint, detected, ["unet", "vae", "text_encoder", "tokenizer"])
        configs = component_configs(
            whole_header(checkpoint),
            prediction_type=detected.prediction_type,
            zero_terminal_snr=detected.zero_terminal_snr,
        )
        sources = single_file_sources(checkpoint, detected, configs=configs, tokenizers=TOKENIZERS, settings={})
        return with_added(sources, checkpoint)

    def encode(self, model: LoadedModel, inputs: PromptInputs) -> Conditioning:
        """Encode the prompts as `text` `(k, n, d)`, k of 1 or 2."""
        import torch

        from mezzotint.families.text.clip_encode import clip_encoders, encode_pair

        guided = self.has_halves(model.sources, inputs.guidance_scale)
        positive, negative = encode_pair(
            inputs.prompt,
            inputs.negative_prompt if guided else None,
            encoders=clip_encoders(model.tokenizers, model.networks, normed=True),
            clip_skip=inputs.clip_skip,
            zero_empty_negative=False,
            embeddings=inputs.embeddings,
            inversions=inputs.inversions,
            gradients=inputs.gradients,
        )
        text = torch.cat([negative.embeds, positive.embeds]) if guided else positive.embeds
        return asked_tensors(model, inputs.guidance_scale, guided=guided, tensors={"text": text})
