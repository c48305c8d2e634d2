"""SDXL: a U-Net under two CLIP text encoders, and its refiner under one (arXiv 2307.01952)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, PromptInputs
from mezzotint.families.loading.sources import folder_sources, single_file_sources

if TYPE_CHECKING:
    import torch

    from mezzotint.families.text.clip_encode import ClipEncoder

AESTHETIC_SCORE = 6.0  # what the refiner is told an image is worth, and a bad one: arXiv 2307.01952, appendix C
NEGATIVE_AESTHETIC_SCORE = 2.5


class Sdxl:
    """Base, refiner and their finetunes."""

    name = "sdxl"
    denoiser_component = "unet"
    honours_weights = True
    honours_embeddings = True
    honours_clip_skip = True

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """Name the parts of a checkpoint; ModelRefused when one is missing."""
        if isinstance(checkpoint, FileCheckpoint):
            return single_file_sources(checkpoint, detected)
        needed = ["unet", "vae", "text_encoder_2", "tokenizer_2"]
        if detected.variant != "refiner":
            needed += ["text_encoder", "tokenizer"]
        return folder_sources(checkpoint, detected, needed)

    def multiple(self, sources: ModelSources) -> int:
        """The number of pixels that width and height must be multiples of."""
        return sources.vae_factor

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> None:
        """None: its scheduler lays out the steps alone."""

    def has_halves(self, sources: ModelSources, guidance_scale: float) -> bool:
        """Whether guidance of that scale asks the network without the prompt, too: some are told it as a number."""
        return guidance_scale > 1 and sources.components["unet"].config.get("time_cond_proj_dim") is None

    def encode(self, model: LoadedModel, inputs: PromptInputs) -> Conditioning:
        """Turn words into `text` `(k, n, d)`, `pooled` `(k, d)` and `time_ids` `(k, 6 or 5)`, k of 1 or 2."""
        import torch

        from mezzotint.families.guidance import guidance_embedding
        from mezzotint.families.text.clip_encode import encode_pair

        unet = model.networks["unet"]
        guided = self.has_halves(model.sources, inputs.guidance_scale)
        positive, negative = encode_pair(
            inputs.prompt,
            inputs.negative_prompt if guided else None,
            encoders=_encoders(model),
            clip_skip=inputs.clip_skip,
            zero_empty_negative=bool(model.sources.settings.get("force_zeros_for_empty_prompt", True)),
            embeddings=inputs.embeddings,
        )
        times, negative_times = _time_ids(model.sources.settings, inputs, positive.embeds.dtype)
        rows = (lambda a, b: torch.cat([a, b])) if guided else (lambda _, b: b)
        tensors = {
            "text": rows(negative.embeds, positive.embeds),
            "pooled": rows(negative.pooled, positive.pooled),
            "time_ids": rows(negative_times, times),
        }
        if unet.config.time_cond_proj_dim is not None:
            tensors["guidance"] = guidance_embedding(
                inputs.guidance_scale, unet.config.time_cond_proj_dim, torch.float32
            )
        return Conditioning(
            guided=guided,
            tensors={name: tensor.to(model.device, model.dtype) for name, tensor in tensors.items()},
        )

    def join(self, conditionings: Sequence[Conditioning]) -> Conditioning:
        """That of several images, which are denoised together, of conditionings of one shape."""
        from mezzotint.families.text.conditionings import joined

        return joined(conditionings)

    def predict(
        self, model: LoadedModel, sample: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """The U-Net's guided output for a scaled sample `(n, c, h, w)`, of the same shape."""
        from mezzotint.families.guidance import guided_output

        def ask(rows: "torch.Tensor", rows_of: Conditioning) -> "torch.Tensor":
            tensors = rows_of.tensors
            return model.networks["unet"](  # type: ignore[no-any-return]
                rows.to(model.dtype),
                timestep,
                encoder_hidden_states=tensors["text"],
                timestep_cond=tensors.get("guidance"),
                added_cond_kwargs={"text_embeds": tensors["pooled"], "time_ids": tensors["time_ids"]},
                return_dict=False,
            )[0]

        return guided_output(ask, sample, conditioning, model.passes, model.at_once)


def _encoders(model: LoadedModel) -> "list[ClipEncoder]":
    from mezzotint.families.text.clip_encode import ClipEncoder

    pairs = (("tokenizer", "text_encoder"), ("tokenizer_2", "text_encoder_2"))
    return [
        ClipEncoder(tokenizer=model.tokenizers[tokenizer], model=model.networks[network])
        for tokenizer, network in pairs
        if network in model.networks
    ]


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
