"""Pretrain both CLIP text encoders: linear heads predict a caption's attributes from the U-Nets' conditioning."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer

from mezzotint.benchmarks.postcards.captions import VALUES
from mezzotint_starter.learner import Course, Learner, train
from mezzotint_starter.reading import caption_batch, wanted
from mezzotint_starter.xl.clip_networks import TEXT_WIDTH
from mezzotint_starter.xl.clip_vocabulary import tokenize_clip

PHASE = "reading-xl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
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

    def read(self, prompts: Sequence[str]) -> Read:
        """Return the penultimate hidden states of each encoder, as in SDXL (arXiv 2307.01952, section 2.1)."""
        ids = [tokenize_clip(tokenizer, prompts, self.device) for tokenizer in self.tokenizers]
        first = self.first(input_ids=ids[0], output_hidden_states=True)
        second = self.second(input_ids=ids[1], output_hidden_states=True)
        return Read(first=first.hidden_states[-2], second=second.hidden_states[-2], pooled=second.text_embeds)


def build_heads(seed: int) -> nn.ModuleDict:
    """Build for each attribute a head on both encoders' tokens, one on the second's, one on the pooled embedding."""
    torch.manual_seed(seed)
    widths = {"both": 2 * TEXT_WIDTH, "second": TEXT_WIDTH, "pooled": TEXT_WIDTH}
    return nn.ModuleDict(
        {
            sight: nn.ModuleDict({name: nn.Linear(width, len(values) + 1) for name, values in VALUES.items()})
            for sight, width in widths.items()
        }
    )


def train_clip_reading(pair: ClipPair, work: Path, *, seed: int, steps: int, parts: int = 1) -> float:
    """Run the phase; returns the accuracy over all attributes on new captions, for the worst of the three inputs."""
    course = Course(phase=PHASE, steps=steps, peak_rate=2e-3, parts=parts, warm_up=50, average=0.98)
    heads = build_heads(seed)
    all_three = nn.ModuleDict({"first": pair.first, "second": pair.second, "heads": heads})
    all_three.to(pair.device).train()

    def loss_at(step: int, shard: slice) -> Tensor:
        texts, told = caption_batch(seed, step)
        texts, told = texts[shard], told[shard]
        losses = [
            functional.cross_entropy(scores, wanted(told, name, pair.device))
            for by_name in judge_reading(pair, heads, texts).values()
            for name, scores in by_name.items()
        ]
        return torch.stack(losses).mean()

    train(Learner(all_three, course), work / "reading-xl.safetensors", loss_at)
    all_three.eval()
    return _accuracy(pair, heads, seed=seed)


def judge_reading(pair: ClipPair, heads: nn.ModuleDict, texts: Sequence[str]) -> dict[str, dict[str, Tensor]]:
    """Return the heads' logits (b, values + 1) by input ("both", "second", "pooled") and attribute."""
    seen = pair.read(texts)
    sights = {
        "both": torch.cat([seen.first, seen.second], dim=-1).mean(dim=1),
        "second": seen.second.mean(dim=1),
        "pooled": seen.pooled,
    }
    return {
        sight: {name: head(sights[sight]) for name, head in by_name.items()}  # type: ignore[operator]
        for sight, by_name in heads.items()
    }


@torch.no_grad()
def _accuracy(pair: ClipPair, heads: nn.ModuleDict, *, seed: int) -> float:
    texts, told = caption_batch(seed, -1)
    shares = []
    for by_name in judge_reading(pair, heads, texts).values():
        right = [(s.argmax(dim=-1) == wanted(told, name, pair.device)).float().mean() for name, s in by_name.items()]
        shares.append(float(torch.stack(right).mean()))
    return min(shares)
