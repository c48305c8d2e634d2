"""PixArt: a diffusion transformer with cross-attention to T5's tokens (arXiv 2310.00426, 2403.04692)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.architectures.table import LOW_RESOLUTION
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, PromptInputs
from mezzotint.families.loading.sources import folder_sources

if TYPE_CHECKING:
    import torch

_GRAIN = 16  # tokens; some attention implementations copy masks of odd lengths
MAX_PATCH = 16
MAX_TOKENS = {"alpha": 120, "sigma": 300}  # as trained


class PixArt:
    """PixArt-alpha, PixArt-Sigma and models of the same shape."""

    name = "pixart"
    denoiser_component = "transformer"
    honours_weights = False
    honours_embeddings = False
    honours_clip_skip = False

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint; raises ModelRefused if one is missing."""
        if isinstance(checkpoint, FileCheckpoint):
            raise ModelRefused(f"{checkpoint.path}: PixArt models are read from diffusers folders, not from one file")
        return folder_sources(checkpoint, detected, ("transformer", "vae", "text_encoder", "tokenizer"))

    def multiple(self, sources: ModelSources) -> int:
        """Width and height must be multiples of this many pixels."""
        patch = sources.components["transformer"].config.get("patch_size")
        if patch is None:
            patch = 2
        if not isinstance(patch, int) or not 1 <= patch <= MAX_PATCH:
            raise ModelRefused(
                f"{sources.checkpoint.path}: patch_size is {str(patch)[:20]}; the configuration is damaged"
            )
        return sources.vae_factor * patch

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> None:
        """None: the scheduler computes its own timesteps."""

    def has_halves(
        self,
        sources: ModelSources,  # noqa: ARG002  as all families
        guidance_scale: float,
        true_cfg_scale: float | None = None,  # noqa: ARG002
    ) -> bool:
        """Whether there is an unconditional pass at that scale."""
        return guidance_scale > 1

    def encode(self, model: LoadedModel, inputs: PromptInputs) -> Conditioning:
        """Encode prompts as `text` `(k, n, d)`, `mask` `(k, n)` and, if trained with them, sizes; k of 1 or 2."""
        import torch

        guided = self.has_halves(model.sources, inputs.guidance_scale)
        text, mask = _encode_text(model, inputs.prompt)
        if guided:
            negative_text, negative_mask = _encode_text(model, inputs.negative_prompt)
            text, mask = torch.cat([negative_text, text]), torch.cat([negative_mask, mask])
        text = text.to(model.device, model.dtype)
        tensors = {"text": text, "mask": mask.to(model.device)}
        lengths = _lengths(mask)
        if lengths is not None:
            tensors["lengths"] = lengths.to(model.device)
        if model.sources.detected.variant == "alpha" and _side(model) == 128:
            rows = text.shape[0]
            tensors["resolution"] = torch.tensor([[inputs.height, inputs.width]]).repeat(rows, 1).to(text)
            tensors["aspect_ratio"] = torch.tensor([[inputs.height / inputs.width]]).repeat(rows, 1).to(text)
        return Conditioning(
            guided=guided,
            tensors=tensors,
        )

    def join(self, conditionings: Sequence[Conditioning]) -> Conditioning:
        """Join conditionings of the same shape for images that are denoised together.

        Padding common to all of them is dropped: being masked, it has no effect on any image.
        """
        from mezzotint.families.text.conditionings import joined

        together = joined(conditionings)
        if len(conditionings) == 1 or "lengths" not in together.tensors:
            return together
        longest = int(together.tensors["lengths"].max())
        length = -(-longest // _GRAIN) * _GRAIN
        shorter = {name: together.tensors[name][:, :length].contiguous() for name in ("text", "mask")}
        return replace(together, tensors={**together.tensors, **shorter})

    def predict(
        self, model: LoadedModel, sample: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """The transformer's guided output for a scaled sample `(n, c, h, w)`, of the same shape."""
        from mezzotint.families.guidance import guided_output

        # Our attention takes lengths; diffusers' own only takes the mask.
        short = model.attention is not None and "lengths" in conditioning.tensors

        def ask(rows: "torch.Tensor", rows_of: Conditioning) -> "torch.Tensor":
            tensors = rows_of.tensors
            output: torch.Tensor = model.networks["transformer"](
                rows.to(model.dtype),
                encoder_hidden_states=tensors["text"],
                encoder_attention_mask=tensors["mask"],
                timestep=timestep.to(rows.device).expand(rows.shape[0]),
                added_cond_kwargs=_added(tensors),
                cross_attention_kwargs={"key_lengths": tensors["lengths"]} if short else None,
                return_dict=False,
            )[0]
            return output[:, : sample.shape[1]]  # a learned variance is dropped

        return guided_output(ask, sample, conditioning, model.passes, model.at_once)


def _added(tensors: "Mapping[str, torch.Tensor]") -> "dict[str, torch.Tensor | None]":
    """What the network is given beside text and timestep; a smaller image only if it is a conditional refiner."""
    smaller = {name: tensors[name] for name in LOW_RESOLUTION if name in tensors}
    return {name: tensors.get(name) for name in ("resolution", "aspect_ratio")} | smaller


def _side(model: LoadedModel) -> object:
    """Latents along a side of the image that the transformer was made for; it may not be loaded yet."""
    return model.sources.components["transformer"].config.get("sample_size", 128)


def _encode_text(model: LoadedModel, prompt: str) -> "tuple[torch.Tensor, torch.Tensor]":
    """T5's hidden states `(1, n, d)` for a prompt, and their mask `(1, n)`."""
    encoder = model.networks["text_encoder"]
    inputs = model.tokenizers["tokenizer"](
        prompt.lower().strip(),  # PixArt was trained on lower-case captions
        padding="max_length",
        max_length=MAX_TOKENS[model.sources.detected.variant],
        truncation=True,
        add_special_tokens=True,
        return_tensors="pt",
    )
    mask = inputs.attention_mask.to(encoder.device)
    return encoder(inputs.input_ids.to(encoder.device), attention_mask=mask)[0], mask


def _lengths(mask: "torch.Tensor") -> "torch.Tensor | None":
    """Lengths `(k,)`, int32, of the masks `(k, n)`; None if a mask has gaps."""
    import torch

    lengths = mask.sum(dim=1)
    within = torch.arange(mask.shape[1], device=mask.device) < lengths[:, None]
    return lengths.to(torch.int32) if torch.equal(within, mask.bool()) else None
