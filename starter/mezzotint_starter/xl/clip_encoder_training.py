"""Pretrain both CLIP text encoders: linear heads predict a caption's attributes from the U-Nets' conditioning."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer

from mezzotint.benchmarks.postcards.captions import VALUES
from mezzotint_starter.text_encoder_training import caption_batch, labels
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.xl.clip_networks import TEXT_WIDTH
from mezzotint_starter.xl.clip_vocabulary import tokenize_clip

PHASE = "reading-xl"


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptEmbeddings:
    """Prompt embeddings: tokens of each encoder (b, 77, 64), and the second's pooled embedding (b, 64)."""

    first: Tensor
    second: Tensor
    pooled: Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipPair:
    """Both text encoders with their tokenizers."""

    tokenizers: tuple[CLIPTokenizer, CLIPTokenizer]
    first: CLIPTextModel
    second: CLIPTextModelWithProjection
    device: str

    def encode(self, prompts: Sequence[str]) -> PromptEmbeddings:
        """Return the penultimate hidden states of each encoder, as in SDXL (arXiv 2307.01952, section 2.1)."""
        ids = [tokenize_clip(tokenizer, prompts, self.device) for tokenizer in self.tokenizers]
        first = self.first(input_ids=ids[0], output_hidden_states=True)
        second = self.second(input_ids=ids[1], output_hidden_states=True)
        return PromptEmbeddings(
            first=first.hidden_states[-2], second=second.hidden_states[-2], pooled=second.text_embeds
        )


def build_heads(seed: int) -> nn.ModuleDict:
    """Build for each attribute a head on both encoders' tokens, one on the second's, one on the pooled embedding."""
    torch.manual_seed(seed)
    widths = {"both": 2 * TEXT_WIDTH, "second": TEXT_WIDTH, "pooled": TEXT_WIDTH}
    return nn.ModuleDict(
        {
            source: nn.ModuleDict({name: nn.Linear(width, len(values) + 1) for name, values in VALUES.items()})
            for source, width in widths.items()
        }
    )


def train_clip_encoders(pair: ClipPair, work: Path, *, seed: int, steps: int, parts: int = 1) -> float:
    """Run the phase; returns the accuracy over all attributes on new captions, for the worst of the three inputs."""
    schedule = TrainingSchedule(phase=PHASE, steps=steps, peak_lr=2e-3, parts=parts, warm_up=50, ema_decay=0.98)
    heads = build_heads(seed)
    networks = nn.ModuleDict({"first": pair.first, "second": pair.second, "heads": heads})
    networks.to(pair.device).train()

    def loss_at(step: int, shard: slice) -> Tensor:
        texts, stated = caption_batch(seed, step)
        texts, stated = texts[shard], stated[shard]
        losses = [
            functional.cross_entropy(scores, labels(stated, name, pair.device))
            for by_name in attribute_logits(pair, heads, texts).values()
            for name, scores in by_name.items()
        ]
        return torch.stack(losses).mean()

    train(Trainer(networks, schedule), work / "reading-xl.safetensors", loss_at)
    networks.eval()
    return _accuracy(pair, heads, seed=seed)


def attribute_logits(pair: ClipPair, heads: nn.ModuleDict, texts: Sequence[str]) -> dict[str, dict[str, Tensor]]:
    """Return the heads' logits (b, values + 1) by input ("both", "second", "pooled") and attribute."""
    embeddings = pair.encode(texts)
    inputs = {
        "both": torch.cat([embeddings.first, embeddings.second], dim=-1).mean(dim=1),
        "second": embeddings.second.mean(dim=1),
        "pooled": embeddings.pooled,
    }
    return {
        source: {name: head(inputs[source]) for name, head in by_name.items()}  # type: ignore[operator]
        for source, by_name in heads.items()
    }


@torch.no_grad()
def _accuracy(pair: ClipPair, heads: nn.ModuleDict, *, seed: int) -> float:
    texts, stated = caption_batch(seed, -1)
    shares = []
    for by_name in attribute_logits(pair, heads, texts).values():
        right = [(s.argmax(dim=-1) == labels(stated, name, pair.device)).float().mean() for name, s in by_name.items()]
        shares.append(float(torch.stack(right).mean()))
    return min(shares)
