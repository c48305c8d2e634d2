"""Z-Image and Z-Image-Turbo: single-stream blocks over image tokens and the text tokens of Qwen3."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network
from mezzotint.families.flow.family import FlowFamily, Words, guided_from_prompt
from mezzotint.families.flow.parts import AE, QWEN3_4B
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.families.samplers import FlowSteps
from mezzotint.families.z_image.names import NUNCHAKU, TRANSFORMER
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

TURBO_SHIFT, BASE_SHIFT = 3.0, 6.0  # of the timesteps


def _scheduler(shift: float) -> Mapping[str, object]:
    return {"_class_name": "FlowMatchEulerDiscreteScheduler", "num_train_timesteps": 1000, "shift": shift}


class ZImage(FlowFamily):
    """Turbo, distilled to eight steps without guidance, and Base."""

    original, namings = TRANSFORMER, (NUNCHAKU,)
    needs = (QWEN3_4B, AE)
    bundled_tokenizers = MappingProxyType({"tokenizer": "Qwen2Tokenizer"})

    spec = FlowSpec(
        name="z-image",
        title="Z-Image",
        pipelines=("ZImagePipeline",),
        components=("transformer", "vae", "text_encoder", "tokenizer"),
        variants={
            "turbo": ModelDefaults(width=1024, height=1024, steps=9, guidance_scale=1.0),
            "base": ModelDefaults(width=1024, height=1024, steps=50, guidance_scale=5.0),
        },
        scheduler={name: _scheduler(shift) for name, shift in (("turbo", TURBO_SHIFT), ("base", BASE_SHIFT))},
        max_tokens=512,
        template="<|im_start|>user\n{prompt}<|im_end|>\n<|im_start|>assistant\n",  # Qwen3's, with thinking
    )

    def variant(self, folder: FolderCheckpoint) -> str:
        """The variant by shift, since both have the same shapes."""
        shift = folder.components["scheduler"].config.get("shift", TURBO_SHIFT)
        return "turbo" if isinstance(shift, int | float) and shift <= TURBO_SHIFT else "base"

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> FlowSteps | None:  # noqa:ARG002
        """Sigmas as in the reference pipeline, to the last bit; the shift is the same for all sizes."""
        import torch

        return FlowSteps(sigmas=tuple(torch.linspace(1.0, 1 / steps, steps).tolist()))

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """Qwen3's penultimate hidden states, without padding."""
        import torch

        ids, mask = self.read(model, prompt)
        with torch.no_grad():
            states = model.networks["text_encoder"](
                input_ids=ids, attention_mask=mask.bool(), output_hidden_states=True
            ).hidden_states
        return Words(text=states[-2][:, mask[0].bool()], length=int(mask.sum()))

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Predict the velocity; the network takes 1 - t as its time, and predicts the negative."""
        import torch

        lengths = conditioning.lengths or (conditioning.tensors["text"].shape[1],) * rows.shape[0]
        words = [text[:length] for text, length in zip(conditioning.tensors["text"], lengths, strict=True)]
        seen = network(
            x=list(rows.unsqueeze(2).unbind(0)), t=(1000 - timestep) / 1000, cap_feats=words, return_dict=False
        )[0]
        return -torch.stack([each.float() for each in seen]).squeeze(2)

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Text with Qwen3's width."""
        width = config.get("cap_feat_dim")
        return {"text": (rows, tokens, width if isinstance(width, int) else 2560)}

    def guide(self, output: "torch.Tensor", scale: float, rescale: float) -> "torch.Tensor":
        """Guidance as p + (scale - 1) (p - n), as in the reference pipeline."""
        return guided_from_prompt(output, scale, rescale)
