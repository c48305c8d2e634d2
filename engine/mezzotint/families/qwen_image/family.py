"""Qwen-Image: Qwen2.5-VL's language model encodes the prompt in a template, whose first tokens are dropped."""

from collections.abc import Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING
from weakref import proxy

from mezzotint.checkpoints.opening import Checkpoint
from mezzotint.errors import ModelRefused
from mezzotint.families.detected import Detected
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network
from mezzotint.families.flow.family import FlowFamily, Words
from mezzotint.families.flow.original import OriginalNetwork
from mezzotint.families.flow.packing import SIDE, packed, unpacked
from mezzotint.families.flow.qwen_parts import QWEN2_5_VL_7B, QWEN_AE
from mezzotint.families.flow.references import references_of
from mezzotint.families.flow.spec import FlowSpec, flow_scheduler
from mezzotint.families.qwen_image.names import TRANSFORMER
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

LEAD = 34  # tokens of the template before the prompt
MAX_TOKENS = 512  # of the rest
TEMPLATE = (
    "<|im_start|>system\nDescribe the image by detailing the color, shape, size, texture, quantity, text, spatial "
    "relationships of the objects and background:<|im_end|>\n<|im_start|>user\n{prompt}<|im_end|>\n"
    "<|im_start|>assistant\n"
)
SIZES = 8  # image sizes whose rotary embeddings a network caches: 3.5 MB at 1328 x 1328
_OF_OTHERS = ("guidance_embeds", "use_additional_t_cond", "use_layer3d_rope")  # settings of other networks of its class
SCHEDULER = flow_scheduler(max_shift=0.9, max_image_seq_len=8192, shift_terminal=0.02)


class QwenImage(FlowFamily):
    """The first Qwen-Image model and 2512."""

    original: OriginalNetwork | None = TRANSFORMER
    needs = (QWEN2_5_VL_7B, QWEN_AE)
    bundled_tokenizers = MappingProxyType({"tokenizer": "Qwen2Tokenizer"})

    spec = FlowSpec(
        name="qwen-image",
        title="Qwen-Image",
        pipelines=("QwenImagePipeline", "QwenImageImg2ImgPipeline"),
        components=("transformer", "vae", "text_encoder", "tokenizer"),
        variants={"base": ModelDefaults(width=1328, height=1328, steps=50, guidance_scale=4.0)},
        scheduler={"base": SCHEDULER},
        max_tokens=LEAD + MAX_TOKENS,
        template=TEMPLATE,
        halves=("sequential", "batched"),
    )

    def sources(self, checkpoint: Checkpoint, detected: Detected) -> ModelSources:
        """List the components of a checkpoint; raises ModelRefused if one is missing or the network has more inputs."""
        found = super().sources(checkpoint, detected)
        for setting in _OF_OTHERS:
            if found.components["transformer"].config.get(setting):
                raise ModelRefused(f"{checkpoint.path}: a Qwen-Image transformer with {setting} cannot be run")
        return found

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """The language model's last hidden states, from the prompt's first token."""
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
        """Predict the velocity from 2x2 tokens, those of references last; unequal prompts are padded and masked."""
        import torch

        _cache_positions(network)
        references = references_of(conditioning)
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
        """Text with the language model's width."""
        width = config.get("joint_attention_dim")
        return {"text": (rows, tokens, width if isinstance(width, int) else 3584)}

    def guide(self, output: "torch.Tensor", scale: float, rescale: float) -> "torch.Tensor":
        """Combine `(2b, c, h, w)` into `(b, c, h, w)`, rescaling each token to the norm of the conditional one."""
        from mezzotint.families.guidance import guide, restored

        conditional = output.chunk(2)[1]
        guided, wanted = packed(guide(output, scale, 0.0)), packed(conditional)
        lengths = wanted.norm(dim=-1, keepdim=True) / guided.norm(dim=-1, keepdim=True)
        return restored(unpacked(guided * lengths, output.shape[-2]), conditional, rescale)


def _cache_positions(network: Network) -> None:
    """Cache rotary embeddings per network: diffusers caches them per class, and keeps them when the network is gone."""
    rope = network.pos_embed
    for name, most in (("_get_device_freqs", None), ("_compute_video_freqs", SIZES)):
        if name not in vars(rope):
            uncached = getattr(type(rope), name).__wrapped__
            setattr(rope, name, lru_cache(most)(partial(uncached, proxy(rope))))


def _grid(latents: "torch.Tensor") -> tuple[int, int]:
    return latents.shape[-2] // SIDE, latents.shape[-1] // SIDE


def _words_and_mask(conditioning: Conditioning) -> "tuple[torch.Tensor, torch.Tensor | None]":
    """Text `(n, t, d)` cut to the longest prompt, and its mask `(n, t)` if lengths differ, else None."""
    import torch

    text = conditioning.tensors["text"]
    lengths = conditioning.lengths or (text.shape[1],) * text.shape[0]
    longest = max(lengths)
    if min(lengths) == longest:
        return text[:, :longest], None
    places = torch.arange(longest, device=text.device)
    return text[:, :longest], torch.stack([places < length for length in lengths])
