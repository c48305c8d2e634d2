"""Train starter-flow's transformer by flow matching; a third of each batch are edits, with a reference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from diffusers import FluxTransformer2DModel
from torch import Tensor
from torch.nn import functional
from transformers import CLIPTextModel, CLIPTokenizer, T5EncoderModel, T5Tokenizer

from mezzotint.benchmarks.postcards.captions import random_caption
from mezzotint.benchmarks.postcards.edits import training_edit
from mezzotint.families.family import Conditioning
from mezzotint.families.flow.references import with_references
from mezzotint.families.flux1.family import Flux1
from mezzotint_starter.denoising import EMPTY_SHARE, noise_levels
from mezzotint_starter.flow.edit_latents import EditLatents
from mezzotint_starter.networks import TOKENS, WIDTH
from mezzotint_starter.precision import autocast
from mezzotint_starter.randomness import step_generator, step_random
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.vocabulary import tokenize
from mezzotint_starter.xl.clip_networks import TEXT_WIDTH
from mezzotint_starter.xl.clip_vocabulary import tokenize_clip

LAYERS, HEADS, HEAD = 5, 4, 32
AXES = (4, 14, 14)  # rotary dimensions for image, row and column
EDIT_SHARE = 3  # one in three is an edit
_FAMILY = Flux1()


def build_flow_transformer(seed: int) -> FluxTransformer2DModel:
    """Build a single-stream FLUX.1 transformer, 1.4 million weights."""
    torch.manual_seed(seed)
    return FluxTransformer2DModel(
        patch_size=1,
        in_channels=16,
        num_layers=0,
        num_single_layers=LAYERS,
        attention_head_dim=HEAD,
        num_attention_heads=HEADS,
        joint_attention_dim=WIDTH,
        pooled_projection_dim=TEXT_WIDTH,
        guidance_embeds=False,
        axes_dims_rope=AXES,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowTextEncoders:
    """Starter-dit's T5 encoder and starter-xl's CLIP, both frozen, used as FLUX.1 uses its own."""

    t5: T5EncoderModel
    t5_tokenizer: T5Tokenizer
    clip: CLIPTextModel
    clip_tokenizer: CLIPTokenizer
    device: str

    @torch.no_grad()
    def __call__(self, prompts: Sequence[str]) -> Conditioning:
        """Encode prompts: T5's hidden states (b, 64, d), padding included, and CLIP's pooled embedding (b, d)."""
        ids, _ = tokenize(self.t5_tokenizer, prompts, self.device)
        ids = functional.pad(ids, (0, TOKENS - ids.shape[1]), value=self.t5_tokenizer.pad_token_id)
        pooled = self.clip(tokenize_clip(self.clip_tokenizer, prompts, self.device)).pooler_output
        return Conditioning(guided=False, tensors={"text": self.t5(ids)[0], "pooled": pooled})


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowStage:
    """A phase of training at one size."""

    phase: str
    steps: int
    batch: int
    rate: float
    seed: int
    parts: int = 1
    precision: str = "float32"


def train_flow(
    transformer: FluxTransformer2DModel,
    encoders: FlowTextEncoders,
    latents: EditLatents,
    work: Path,
    stage: FlowStage,
    after: Callable[[Trainer], None],
) -> None:
    """Run a phase; leaves the transformer's weights averaged."""
    schedule = TrainingSchedule(
        phase=stage.phase, steps=stage.steps, peak_lr=stage.rate, parts=stage.parts, warm_up=200
    )
    trainer = Trainer(transformer.to(encoders.device).train(), schedule)

    def loss_at(step: int, shard: slice) -> Tensor:
        with autocast(encoders.device, stage.precision):
            return flow_edit_loss(transformer, encoders, latents, stage, step, shard)

    train(trainer, work / f"{stage.phase}.safetensors", loss_at, lambda: after(trainer))
    transformer.eval()


def flow_edit_loss(
    transformer: FluxTransformer2DModel,
    encoders: FlowTextEncoders,
    latents: EditLatents,
    stage: FlowStage,
    step: int,
    shard: slice,
) -> Tensor:
    """Return the mean squared error over a shard of a step's images and a shard of its edits."""
    generator = step_generator(stage.seed, stage.phase, step)
    chosen = torch.randint(len(latents.after), (stage.batch,), generator=generator)
    clean = latents.after[chosen]
    noise = torch.randn(clean.shape, generator=generator)
    sigmas = noise_levels(stage.batch, generator)
    mixed, wanted = clean + sigmas.view(-1, 1, 1, 1) * (noise - clean), noise - clean
    errors = []
    first = stage.batch - stage.batch // EDIT_SHARE  # of the edits
    for edits, rows in ((False, torch.arange(first)[shard]), (True, torch.arange(first, stage.batch)[shard])):
        prompts = prompts_at(chosen[rows].tolist(), stage, step, edits=edits)
        conditioning = encoders(prompts)
        if edits:
            conditioning = with_references(conditioning, [latents.before[chosen[rows]]])
        predicted = _FAMILY.ask(transformer, mixed[rows], sigmas[rows] * 1000, conditioning)
        errors.append(functional.mse_loss(predicted.float(), wanted[rows]))
    return torch.stack(errors).mean()


def prompts_at(indices: Sequence[int], stage: FlowStage, step: int, *, edits: bool) -> list[str]:
    """Return the instruction of each edit, or a new caption of the scene after it; sometimes empty, to train CFG."""
    found = []
    for index in indices:
        rng = step_random(stage.seed, f"{stage.phase} {index}", step)
        edit = training_edit(stage.seed, index)
        text = edit.instruction if edits else random_caption(edit.after, rng)[0]
        found.append("" if rng.random() < EMPTY_SHARE else text)
    return found
