"""Pretrain the text encoder: linear heads predict the attributes of a caption from its embeddings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import T5EncoderModel, T5Tokenizer

from mezzotint.benchmarks.postcards.captions import VALUES, StatedAttributes, random_caption
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint_starter.randomness import step_random
from mezzotint_starter.trainer import Trainer, TrainingSchedule, train
from mezzotint_starter.vocabulary import tokenize

PHASE = "reading"
BATCH = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Lessons:
    """What an encoder learns to read: attributes with their values, and captions with the attributes they mention.

    `batch` returns those of a step of a seed; attributes are given as places among the values, one past the last if
    omitted.
    """

    values: Mapping[str, Sequence[str]]
    batch: Callable[[int, int], tuple[list[str], list[Mapping[str, int]]]]


def build_heads(seed: int, values: Mapping[str, Sequence[str]], width: int) -> nn.ModuleDict:
    """Build a linear head for each attribute: its values, and "not mentioned"."""
    torch.manual_seed(seed)
    return nn.ModuleDict({name: nn.Linear(width, len(each) + 1) for name, each in values.items()})


def train_text_encoder(
    encoder: T5EncoderModel,
    tokenizer: T5Tokenizer,
    work: Path,
    *,
    seed: int,
    steps: int,
    device: str,
    parts: int = 1,
    lessons: Lessons | None = None,
) -> float:
    """Run the phase, by default on captions of the postcards; returns the accuracy on new captions."""
    lessons = lessons or Lessons(values=VALUES, batch=_postcards)
    schedule = TrainingSchedule(phase=PHASE, steps=steps, peak_lr=2e-3, parts=parts, warm_up=50, ema_decay=0.98)
    heads = build_heads(seed, lessons.values, encoder.config.d_model)
    networks = nn.ModuleDict({"encoder": encoder, "heads": heads}).to(device).train()

    def loss_at(step: int, shard: slice) -> Tensor:
        texts, places = lessons.batch(seed, step)
        texts, places = texts[shard], places[shard]
        scores = attribute_logits(encoder, heads, tokenizer, texts, device)
        losses = [functional.cross_entropy(scores[name], _labels(places, name, device)) for name in lessons.values]
        return torch.stack(losses).mean()

    train(Trainer(networks, schedule), work / "reading.safetensors", loss_at)
    networks.eval()
    return attribute_accuracy(encoder, heads, tokenizer, lessons, seed=seed, device=device)


def _postcards(seed: int, step: int) -> tuple[list[str], list[Mapping[str, int]]]:
    texts, stated = caption_batch(seed, step)
    return texts, [each.indices() for each in stated]


def _labels(places: Sequence[Mapping[str, int]], name: str, device: str) -> Tensor:
    return torch.tensor([each[name] for each in places], device=device)


def caption_batch(seed: int, step: int) -> tuple[list[str], list[StatedAttributes]]:
    """Return the captions of one step and the attributes each mentions."""
    rng = step_random(seed, PHASE, step)
    pairs = [random_caption(training_scene(seed, rng.getrandbits(40)), rng) for _ in range(BATCH)]
    return [text for text, _ in pairs], [stated for _, stated in pairs]


def labels(stated: list[StatedAttributes], name: str, device: str) -> Tensor:
    """Return the labels of one attribute, (b,)."""
    return torch.tensor([each.indices()[name] for each in stated], device=device)


def attribute_logits(
    encoder: T5EncoderModel, heads: nn.ModuleDict, tokenizer: T5Tokenizer, texts: list[str], device: str
) -> dict[str, Tensor]:
    """Return each head's logits (b, values + 1) on the mean of the caption's token embeddings."""
    ids, mask = tokenize(tokenizer, texts, device)
    tokens: Tensor = encoder(input_ids=ids, attention_mask=mask)[0]
    weights = mask.unsqueeze(-1).to(tokens.dtype)
    pooled = (tokens * weights).sum(dim=1) / weights.sum(dim=1)
    return {name: head(pooled) for name, head in heads.items()}


@torch.no_grad()
def attribute_accuracy(
    encoder: T5EncoderModel,
    heads: nn.ModuleDict,
    tokenizer: T5Tokenizer,
    lessons: Lessons,
    *,
    seed: int,
    device: str,
) -> float:
    """Return the accuracy over all attributes on captions that training never used (step -1)."""
    texts, places = lessons.batch(seed, -1)
    scores = attribute_logits(encoder, heads, tokenizer, texts, device)
    right = [(scores[name].argmax(dim=-1) == _labels(places, name, device)).float().mean() for name in lessons.values]
    return float(torch.stack(right).mean())
