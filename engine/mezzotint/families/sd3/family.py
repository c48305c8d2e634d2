"""Stable Diffusion 3 and 3.5: two CLIP text encoders and an optional T5."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from mezzotint.checkpoints.folder import FolderCheckpoint, published_name
from mezzotint.checkpoints.opening import FileCheckpoint
from mezzotint.errors import UsageError
from mezzotint.families.family import Conditioning, LoadedModel, ModelSources, Network
from mezzotint.families.flow.family import FlowFamily, Words
from mezzotint.families.flow.spec import FlowSpec, flow_scheduler
from mezzotint.families.loading.stored_layers import logical_header
from mezzotint.families.name_words import said_in, words_of
from mezzotint.families.samplers import FlowSteps
from mezzotint.families.sd3.names import CLIP_G, CLIP_L, SD3_VAE, SECOND_ATTENTION, THIRD_T5_XXL, TRANSFORMER
from mezzotint.families.tokenizers import END
from mezzotint.protocol import ModelDefaults

if TYPE_CHECKING:
    import torch

CLIP_TOKENS, T5_TOKENS = 77, 256
CLIPS = (("tokenizer", "text_encoder"), ("tokenizer_2", "text_encoder_2"))
_LARGE = 38  # blocks
_SCHEDULER = flow_scheduler(use_dynamic_shifting=False, shift=3.0)


class StableDiffusion3(FlowFamily):
    """3 Medium, 3.5 Medium, 3.5 Large, and Large Turbo, distilled to four steps without guidance."""

    original = TRANSFORMER
    needs = (CLIP_L, CLIP_G, THIRD_T5_XXL, SD3_VAE)
    bundled_tokenizers = MappingProxyType(
        {"tokenizer": "CLIPTokenizer", "tokenizer_2": "CLIPTokenizer", "tokenizer_3": "T5Tokenizer"}
    )
    pad_tokens = MappingProxyType({"tokenizer": END, "tokenizer_2": "!"})

    spec = FlowSpec(
        name="sd3",
        title="Stable Diffusion 3.5",
        pipelines=("StableDiffusion3Pipeline", "StableDiffusion3Img2ImgPipeline"),
        components=("transformer", "vae", "text_encoder", "tokenizer", "text_encoder_2", "tokenizer_2"),
        optional=("text_encoder_3", "tokenizer_3"),
        variants={
            "large": ModelDefaults(width=1024, height=1024, steps=28, guidance_scale=3.5),
            "turbo": ModelDefaults(width=1024, height=1024, steps=4, guidance_scale=1.0),
            "medium": ModelDefaults(width=1024, height=1024, steps=40, guidance_scale=4.5),
            "sd3": ModelDefaults(width=1024, height=1024, steps=28, guidance_scale=7.0),
        },
        scheduler=dict.fromkeys(("large", "turbo", "medium", "sd3"), _SCHEDULER),
        max_tokens=CLIP_TOKENS + T5_TOKENS,
        limits={"text_encoder": CLIP_TOKENS - 2, "text_encoder_2": CLIP_TOKENS - 2, "text_encoder_3": T5_TOKENS - 1},
    )

    def variant(self, folder: FolderCheckpoint) -> str:
        """The variant by configuration, Turbo by folder name."""
        config = folder.components["transformer"].config
        if said_in(words_of(published_name(folder.path)), "turbo"):
            return "turbo"
        if config.get("dual_attention_layers"):
            return "medium"
        return "large" if config.get("num_layers") == _LARGE else "sd3"

    def variant_of_file(self, file: FileCheckpoint) -> str:
        """The variant by layers, Turbo by file name."""
        names = logical_header(file.header).tensors
        if said_in(words_of(file.path.stem), "turbo"):
            return "turbo"
        if any(name.endswith(SECOND_ATTENTION) for name in names):
            return "medium"
        return "large" if any(f"joint_blocks.{_LARGE - 1}." in name for name in names) else "sd3"

    def flow_steps(self, sources: ModelSources, width: int, height: int, steps: int) -> FlowSteps | None:
        """The scheduler's sigmas; raises UsageError if a side has more tokens than there are position embeddings."""
        side = self.multiple(sources)
        most = sources.components["transformer"].config.get("pos_embed_max_size")
        if isinstance(most, int) and most and max(width, height) // side > most:
            raise UsageError(f"{width}x{height} is too large for this model: no side may exceed {most * side} pixels")
        return FlowSteps(mu=self.mu(sources.scheduler, (width // side) * (height // side), steps))

    def words(self, model: LoadedModel, prompt: str) -> Words:
        """Penultimate hidden states of both CLIPs, concatenated, then T5's, or zeros if there is no T5."""
        import torch

        read = [_clip(model, prompt, tokenizer, encoder) for tokenizer, encoder in CLIPS]
        clip, pooled = (torch.cat([each[part] for each in read], dim=-1) for part in (0, 1))
        t5 = _t5(model, prompt, clip)
        clip = torch.nn.functional.pad(clip, (0, t5.shape[-1] - clip.shape[-1]))
        return Words(text=torch.cat([clip, t5.to(clip)], dim=1), others={"pooled": pooled})

    def ask(
        self, network: Network, rows: "torch.Tensor", timestep: "torch.Tensor", conditioning: Conditioning
    ) -> "torch.Tensor":
        """Predict the velocity of the whole batch: all prompts have the same length."""
        tensors = conditioning.tensors
        seen: torch.Tensor = network(
            hidden_states=rows,
            timestep=timestep,
            encoder_hidden_states=tensors["text"],
            pooled_projections=tensors["pooled"],
            return_dict=False,
        )[0]
        return seen

    def blank(self, config: Mapping[str, object], rows: int, tokens: int) -> Mapping[str, tuple[int, ...]]:
        """Text with T5's width, and the pooled embeddings of both CLIPs."""
        width, pooled = config.get("joint_attention_dim"), config.get("pooled_projection_dim")
        return {
            "text": (rows, tokens, width if isinstance(width, int) else 4096),
            "pooled": (rows, pooled if isinstance(pooled, int) else 2048),
        }


def _clip(model: LoadedModel, prompt: str, tokenizer: str, name: str) -> "tuple[torch.Tensor, torch.Tensor]":
    """Penultimate hidden states `(1, 77, d)`, and the pooled embedding `(1, e)`."""
    import torch

    encoder = model.networks[name]
    ids = model.tokenizers[tokenizer](
        [prompt], padding="max_length", max_length=CLIP_TOKENS, truncation=True, return_tensors="pt"
    ).input_ids
    with torch.no_grad():
        seen = encoder(ids.to(encoder.device), output_hidden_states=True)
    return seen.hidden_states[-2], seen.pooler_output if hasattr(seen, "pooler_output") else seen.text_embeds


def _t5(model: LoadedModel, prompt: str, like: "torch.Tensor") -> "torch.Tensor":
    """T5's last hidden states `(1, 256, d)`, including padding, as in training."""
    import torch

    if "text_encoder_3" not in model.sources.components:
        width = model.sources.components["transformer"].config.get("joint_attention_dim")
        return like.new_zeros(1, T5_TOKENS, width if isinstance(width, int) else 4096)
    encoder = model.networks["text_encoder_3"]
    ids = model.tokenizers["tokenizer_3"](
        [prompt], padding="max_length", max_length=T5_TOKENS, truncation=True, return_tensors="pt"
    ).input_ids
    with torch.no_grad():
        states: torch.Tensor = encoder(ids.to(encoder.device))[0]
    return states
