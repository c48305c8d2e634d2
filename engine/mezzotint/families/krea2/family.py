"""Krea 2 Turbo and Raw: conditioned on several layers of Qwen3-VL's language model at once."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint
from mezzotint.checkpoints.opening import Checkpoint, FileCheckpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network
from mezzotint.families.flow.family import FlowFamily, Words, guided_from_prompt, with_layers
from mezzotint.families.flow.packing import packed, unpacked
from mezzotint.families.flow.qwen_parts import QWEN3_VL_4B, QWEN_AE
from mezzotint.families.flow.spec import FlowSpec, flow_scheduler
from mezzotint.families.krea2.names import TRANSFORMER
from mezzotint.families.qwen_image.family import LEAD, MAX_TOKENS, TEMPLATE
from mezzotint.families.samplers import FlowSteps
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

TAIL = 5  # tokens of the template after the prompt
TURBO_MU = 1.15  # log of Turbo's timestep shift, at all sizes
LAYERS = (2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35)  # whose outputs are used by default
_DISTILLED = "is_distilled"
_SELECTED = "text_encoder_select_layers"
_SCHEDULER = flow_scheduler(max_image_seq_len=6400)


class Krea2(FlowFamily):
    """Turbo, distilled to eight steps without guidance, and Raw."""

    original = TRANSFORMER
    needs = (QWEN3_VL_4B, QWEN_AE)
    bundled_tokenizers = MappingProxyType({"tokenizer": "Qwen2Tokenizer"})

    spec = FlowSpec(
        name="krea2",
        title="Krea 2",
        pipelines=("Krea2Pipeline",),
        components=("transformer", "vae", "text_encoder", "tokenizer"),
        variants={
            "turbo": ModelDefaults(width=1024, height=1024, steps=8, guidance_scale=1.0),
            "raw": ModelDefaults(width=1024, height=1024, steps=28, guidance_scale=5.5),
        },
        scheduler=dict.fromkeys(("turbo", "raw"), _SCHEDULER),
        max_tokens=LEAD + MAX_TOKENS,
        template=TEMPLATE,
        halves=("sequential", "batched"),
    )

    def variant(self, folder: FolderCheckpoint) -> str:
        """The variant by pipeline options, since both have the same shapes."""
        return "turbo" if folder.options.get(_DISTILLED) is True else "raw"

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint; raises ModelRefused if one, or a text encoder layer, is missing."""
        found = super().sources(checkpoint, detected)
        if isinstance(checkpoint, FileCheckpoint):
            found = replace(found, settings={_DISTILLED: detected.variant == "turbo"})
        if found.settings.get("patch_size", self.spec.patch) != self.spec.patch:
            raise ModelRefused(f"{checkpoint.path}: patch_size must be {self.spec.patch}")
        _refuse_layers(found)
        return with_layers(found, max(_layers(found)))

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> FlowSteps | None:
        """Like the base class, but Turbo has the same shift for all sizes."""
        found = super().flow_steps(sources, width, height, steps)
        return replace(found, mu=TURBO_MU) if found and sources.settings.get(_DISTILLED) is True else found

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """Hidden states of the used layers, `(1, n, layers, d)`; padding comes before the template's last tokens."""
        import torch

        encoder, read, mask = model.networks["text_encoder"], *self._read(model, prompt)
        places = (mask.long().cumsum(dim=-1) - 1).clamp(min=0)  # padding does not advance positions
        seen = list(_layers(model.sources))
        with torch.no_grad():
            states = encoder(
                input_ids=read,
                attention_mask=mask,
                position_ids=places.expand(3, 1, -1),
                output_hidden_states=seen,
                use_cache=False,
            ).hidden_states
        return Words(
            text=torch.stack([states[layer] for layer in seen], dim=2)[:, LEAD:], others={"mask": mask[:, LEAD:]}
        )

    def _read(self, model: LoadedModel, prompt: str) -> "tuple[torch.Tensor, torch.Tensor]":
        """Tokens `(1, n)` of a prompt in its template, and the mask of those that are not padding."""
        import torch

        lead, tail = self.spec.template.split("{prompt}")
        tokenizer, device = model.tokenizers["tokenizer"], model.networks["text_encoder"].device
        room = self.spec.max_tokens - TAIL
        first = tokenizer([lead + prompt], truncation=True, padding="max_length", max_length=room, return_tensors="pt")
        last = tokenizer([tail], return_tensors="pt")
        read = torch.cat([first.input_ids, last.input_ids], dim=1).to(device)
        return read, torch.cat([first.attention_mask, last.attention_mask], dim=1).to(device).bool()

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Predict the velocity from latents packed into 2x2 tokens with position ids."""
        text = conditioning.tensors["text"]
        height, width = (side // self.spec.patch for side in rows.shape[-2:])
        seen = network(
            hidden_states=packed(rows),
            encoder_hidden_states=text,
            timestep=timestep / 1000,
            position_ids=_places(text.shape[1], height, width, rows.device),
            encoder_attention_mask=conditioning.tensors["mask"],
            return_dict=False,
        )[0]
        return unpacked(seen, rows.shape[-2])

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Text with the language model's width for each layer, and a mask."""
        layers, width = config.get("num_text_layers"), config.get("text_hidden_dim")
        seen = (layers if isinstance(layers, int) else len(LAYERS), width if isinstance(width, int) else 2560)
        return {"text": (rows, tokens, *seen), "mask": (rows, tokens)}

    def guide(self, output: "torch.Tensor", scale: float, rescale: float) -> "torch.Tensor":
        """Guidance as p + (scale - 1) (p - n), as in the reference pipeline."""
        return guided_from_prompt(output, scale, rescale)


def _layers(sources: ModelSources) -> tuple[int, ...]:
    """Text encoder layers whose outputs are used; 0 is the embedding."""
    said = sources.settings.get(_SELECTED)
    return tuple(said) if isinstance(said, list) else LAYERS


def _refuse_layers(sources: ModelSources) -> None:
    """Raise ModelRefused if the text encoder lacks a layer, or the transformer takes another number of them."""
    seen, parts = _layers(sources), sources.components
    most = parts["text_encoder"].config.get("num_hidden_layers")
    wanted = parts["transformer"].config.get("num_text_layers", len(LAYERS))
    if len(seen) != wanted or not isinstance(most, int) or not 0 <= min(seen) <= max(seen) <= most:
        raise ModelRefused(
            f"{sources.checkpoint.path}: {_SELECTED} names {len(seen)} layers up to {max(seen)}; the transformer takes "
            f"{wanted}, and the text encoder has {most}"
        )


def _places(words: int, height: int, width: int, device: "torch.device") -> "torch.Tensor":
    """Position ids `(text + height width, 3)`: time, row, column; zero for text."""
    import torch

    grid = torch.zeros(height, width, 3, device=device)
    grid[..., 1] = torch.arange(height, device=device)[:, None]
    grid[..., 2] = torch.arange(width, device=device)
    return torch.cat([grid.new_zeros(words, 3), grid.flatten(0, 1)])
