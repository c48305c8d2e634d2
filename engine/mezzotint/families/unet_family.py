"""Base class of the families with a U-Net and CLIP text encoders: denoiser call and guidance."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mezzotint.families.family import Conditioning, LoadedModel, ModelSources

if TYPE_CHECKING:
    import torch


class UnetFamily:
    """Implements `Family` except for the name, the components and the text encoders."""

    denoiser_component = "unet"
    honours_weights = True
    honours_embeddings = True
    honours_clip_skip = True

    def multiple(self, sources: ModelSources) -> int:
        """Width and height must be multiples of this many pixels."""
        return sources.vae_factor

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> None:
        """None: the scheduler spaces the timesteps by default."""

    def has_halves(
        self,
        sources: ModelSources,
        guidance_scale: float,
        true_cfg_scale: float | None = None,  # noqa: ARG002  as all families
    ) -> bool:
        """Whether that scale needs an unconditional pass: some networks embed the scale instead."""
        return guidance_scale > 1 and sources.components["unet"].config.get("time_cond_proj_dim") is None

    def join(self, conditionings: Sequence[Conditioning]) -> Conditioning:
        """Join conditionings of the same shape for images that are denoised together."""
        from mezzotint.families.text.conditionings import joined

        return joined(conditionings)

    def predict(
        self, model: LoadedModel, sample: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """The U-Net's guided output for a scaled sample `(n, c, h, w)`, of the same shape."""
        from mezzotint.families.control.image_attention import attending_images
        from mezzotint.families.control.residuals import residuals
        from mezzotint.families.guidance import guided_output

        def ask(rows: "torch.Tensor", rows_of: Conditioning) -> "torch.Tensor":
            tensors, added, rows = rows_of.tensors, _added(rows_of), rows.to(model.dtype)
            controlled = residuals(model, rows, timestep, rows_of, added)
            with attending_images(model.networks["unet"], rows_of):
                return model.networks["unet"](  # type: ignore[no-any-return]
                    _beside(rows, rows_of),
                    timestep,
                    encoder_hidden_states=tensors["text"],
                    timestep_cond=tensors.get("guidance"),
                    added_cond_kwargs=added,
                    **controlled,
                    return_dict=False,
                )[0]

        return guided_output(ask, sample, conditioning, model.passes, model.at_once)


def asked_tensors(
    model: LoadedModel, guidance_scale: float, *, guided: bool, tensors: "dict[str, torch.Tensor]"
) -> Conditioning:
    """Conditioning for a U-Net, in its dtype; a guidance-distilled U-Net also takes the scale."""
    import torch

    from mezzotint.families.guidance import guidance_embedding

    width = model.sources.components["unet"].config.get("time_cond_proj_dim")
    if isinstance(width, int):
        tensors = {**tensors, "guidance": guidance_embedding(guidance_scale, width, torch.float32)}
    return Conditioning(
        guided=guided,
        tensors={name: tensor.to(model.device, model.dtype) for name, tensor in tensors.items()},
    )


def _beside(rows: "torch.Tensor", conditioning: Conditioning) -> "torch.Tensor":
    """Samples `(n, c, h, w)`, for an inpainting network with mask and masked latents: `(n, 2c + 1, h, w)`."""
    import torch

    tensors = conditioning.tensors
    return torch.cat([rows, tensors["mask"], tensors["masked"]], dim=1) if "mask" in tensors else rows


def _added(conditioning: Conditioning) -> "dict[str, torch.Tensor] | None":
    """SDXL's micro-conditioning and pooled embedding."""
    if "pooled" not in conditioning.tensors:
        return None
    return {"text_embeds": conditioning.tensors["pooled"], "time_ids": conditioning.tensors["time_ids"]}
