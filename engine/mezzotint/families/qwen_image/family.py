"""Qwen-Image: the language model of Qwen2.5-VL reads the words, in a template whose own words are left out."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from mezzotint.checkpoints.opening import Checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network
from mezzotint.families.flow.family import FlowFamily, Words
from mezzotint.families.flow.packing import SIDE, packed, unpacked
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

LEAD = 34  # tokens of the template before the words
MAX_TOKENS = 512  # of what follows
REFERENCE = "reference"  # how the names of tensors begin that are clean latents `(n, c, h, w)`, to be seen beside
TEMPLATE = (
    "<|im_start|>system\nDescribe the image by detailing the color, shape, size, texture, quantity, text, spatial "
    "relationships of the objects and background:<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n"
    "<|im_start|>assistant\n"
)
_OF_OTHERS = ("guidance_embeds", "use_additional_t_cond", "use_layer3d_rope")  # settings of networks of its class


class QwenImage(FlowFamily):
    """The first model and 2512."""

    spec = FlowSpec(
        name="qwen-image",
        title="Qwen-Image",
        pipelines=("QwenImagePipeline", "QwenImageImg2ImgPipeline"),
        components=("transformer", "vae", "text_encoder", "tokenizer"),
        variants={"base": ModelDefaults(width=1328, height=1328, steps=50, guidance_scale=4.0)},
        max_tokens=LEAD + MAX_TOKENS,
        template=TEMPLATE,
        in_turn=True,
    )

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """Name the parts of a checkpoint; ModelRefused when one is missing or its network wants to be told more."""
        found = super().sources(checkpoint, detected)
        for setting in _OF_OTHERS:
            if found.components["transformer"].config.get(setting):
                raise ModelRefused(f"{checkpoint.path}: a Qwen-Image transformer with {setting} cannot be run")
        return found

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """The last layer of the language model, from where the words begin."""
        import torch

        tokenizer, encoder = model.tokenizers["tokenizer"], model.networks["text_encoder"]
        read = tokenizer(
            [self.spec.template.format(prompt=prompt)],
            max_length=self.spec.max_tokens,
            truncation=True,
            return_tensors="pt",
        )
        with torch.no_grad():
            seen = encoder(input_ids=read.input_ids.to(encoder.device), use_cache=False).last_hidden_state[:, LEAD:]
        return Words(text=seen, length=seen.shape[1])

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Tokens of two by two latents, those of references last; words of unlike lengths are padded under a mask."""
        import torch

        references = [each for name, each in sorted(conditioning.tensors.items()) if name.startswith(REFERENCE)]
        text, mask = _words_and_mask(conditioning)
        tokens = packed(rows)
        seen = network(
            hidden_states=torch.cat([tokens, *map(packed, references)], dim=1),
            timestep=timestep / 1000,
            encoder_hidden_states=text,
            encoder_hidden_states_mask=mask,
            img_shapes=[[(1, *_grid(each)) for each in (rows, *references)]] * rows.shape[0],
            return_dict=False,
        )[0]
        return unpacked(seen[:, : tokens.shape[1]], rows.shape[-2])

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Words of the language model's width."""
        width = config.get("joint_attention_dim")
        return {"text": (rows, tokens, width if isinstance(width, int) else 3584)}

    def guide(self, output: "torch.Tensor", scale: float, rescale: float) -> "torch.Tensor":
        """Combine `(2b, c, h, w)` into `(b, c, h, w)`, each token as long as the prompt's alone would be."""
        from mezzotint.families.guidance import guide, restored

        conditional = output.chunk(2)[1]
        guided, wanted = packed(guide(output, scale, 0.0)), packed(conditional)
        lengths = wanted.norm(dim=-1, keepdim=True) / guided.norm(dim=-1, keepdim=True)
        return restored(unpacked(guided * lengths, output.shape[-2]), conditional, rescale)


def _grid(latents: "torch.Tensor") -> tuple[int, int]:
    return latents.shape[-2] // SIDE, latents.shape[-1] // SIDE


def _words_and_mask(conditioning: Conditioning) -> "tuple[torch.Tensor, torch.Tensor | None]":
    """The words `(n, t, d)` of the longest prompt, and which of them are no padding, `(n, t)`, where that differs."""
    import torch

    text = conditioning.tensors["text"]
    lengths = conditioning.lengths or (text.shape[1],) * text.shape[0]
    longest = max(lengths)
    if min(lengths) == longest:
        return text[:, :longest], None
    places = torch.arange(longest, device=text.device)
    return text[:, :longest], torch.stack([places < length for length in lengths])
