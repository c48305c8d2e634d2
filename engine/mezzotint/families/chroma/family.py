"""Chroma: FLUX.1's blocks over image tokens and T5's text tokens, including a single padding token."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint, published_name
from mezzotint.families.chroma.names import TRANSFORMER
from mezzotint.families.family import Conditioning, LoadedModel, Network
from mezzotint.families.flow.clip_t5_parts import T5_XXL
from mezzotint.families.flow.family import FlowFamily, Words
from mezzotint.families.flow.packing import SIDE, packed, unpacked
from mezzotint.families.flow.parts import AE
from mezzotint.families.flow.spec import FlowSpec, flow_scheduler
from mezzotint.families.name_words import said_in, words_of
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

_SCHEDULER = flow_scheduler(use_dynamic_shifting=False, max_image_seq_len=4096)


class Chroma(FlowFamily):
    """Chroma1-HD, Base, and Flash, which is guidance-distilled."""

    original = TRANSFORMER
    needs = (T5_XXL, AE)
    bundled_tokenizers = MappingProxyType({"tokenizer": "T5Tokenizer"})

    spec = FlowSpec(
        name="chroma",
        title="Chroma",
        pipelines=("ChromaPipeline", "ChromaImg2ImgPipeline"),
        components=("transformer", "vae", "text_encoder", "tokenizer"),
        variants={
            "hd": ModelDefaults(width=1024, height=1024, steps=35, guidance_scale=5.0),
            "base": ModelDefaults(width=512, height=512, steps=35, guidance_scale=5.0),
            "flash": ModelDefaults(width=1024, height=1024, steps=8, guidance_scale=1.0),
        },
        scheduler=dict.fromkeys(("hd", "base", "flash"), _SCHEDULER),  # huggingface/diffusers#12112
        max_tokens=512,
        limits={"text_encoder": 511},  # the last one is the end token
        halves=("sequential",),
    )

    def variant(self, folder: FolderCheckpoint) -> str:
        """The variant by folder name, since all have the same shapes."""
        words = words_of(published_name(folder.path))
        return next((variant for variant in ("flash", "base") if said_in(words, variant)), "hd")

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """T5's last hidden states of the prompt, its end token and one token of padding.

        The network was trained with all other padding masked, so it is left out. diffusers' pipelines add the mask
        unchanged to the attention scores, which masks nothing (huggingface/diffusers#13619).
        """
        import torch

        ids, mask = self.read(model, prompt)
        length = min(int(mask.sum()) + 1, self.spec.max_tokens)
        with torch.no_grad():
            states = model.networks["text_encoder"](ids, attention_mask=mask)[0]
        return Words(text=states[:, :length], length=length)

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Predict the velocity, one by one for prompts of unequal length: the network takes no key padding mask."""
        import torch

        text = conditioning.tensors["text"]
        lengths = conditioning.lengths or (text.shape[1],) * rows.shape[0]
        if len(set(lengths)) == 1:
            return self._velocity(network, rows, timestep, text[:, : lengths[0]])
        alone = [slice(row, row + 1) for row in range(rows.shape[0])]
        return torch.cat(
            [
                self._velocity(network, rows[row], timestep[row], text[row, :length])
                for row, length in zip(alone, lengths, strict=True)
            ]
        )

    def _velocity(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", text: "torch.Tensor"
    ) -> "torch.Tensor":
        height, width = rows.shape[2] // SIDE, rows.shape[3] // SIDE
        with _no_guidance_from_afar(network, rows.device):
            seen = network(
                hidden_states=packed(rows),
                timestep=timestep / 1000,
                encoder_hidden_states=text,
                txt_ids=text.new_zeros(text.shape[1], 3),
                img_ids=_places(height, width, text),
                return_dict=False,
            )[0]
        return unpacked(seen, rows.shape[2])

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Text with T5's width."""
        width = config.get("joint_attention_dim")
        return {"text": (rows, tokens, width if isinstance(width, int) else 4096)}


@contextmanager
def _no_guidance_from_afar(network: Network, device: "torch.device") -> Iterator[None]:
    """Create the zero guidance embedding on the device: otherwise each step waits for a copy."""

    def made_there(_: object, zeros: "tuple[torch.Tensor]") -> "tuple[torch.Tensor]":
        return (zeros[0].new_zeros(zeros[0].shape, device=device),)

    hook = network.time_text_embed.guidance_proj.register_forward_pre_hook(made_there)
    try:
        yield
    finally:
        hook.remove()


def _places(height: int, width: int, like: "torch.Tensor") -> "torch.Tensor":
    """Position ids of image tokens `(h w, 3)`: 0, row, column."""
    import torch

    places = torch.zeros(height, width, 3, device=like.device)
    places[..., 1] = torch.arange(height, device=like.device)[:, None]
    places[..., 2] = torch.arange(width, device=like.device)
    return places.flatten(0, 1)
