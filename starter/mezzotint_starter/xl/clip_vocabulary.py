"""A CLIP tokenizer with a small vocabulary: byte pair merges trained on captions."""

import json
import random
from collections.abc import Sequence

import torch
from tokenizers import Tokenizer, models, trainers
from torch import Tensor
from transformers import CLIPTokenizer

from mezzotint.benchmarks.postcards.captions import random_caption
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint.families.tokenizers import END, START, byte_letters, clip_tokenizer

MERGES = 700
CONTEXT = 77
WORD_END = "</w>"


def learn_merges(seed: int, captions: int = 20000) -> list[tuple[str, str]]:
    """Train BPE merges with CLIP's pre-tokenization; returns them in merge order."""
    stock = clip_tokenizer(pad_token=END).backend_tokenizer
    tokenizer = Tokenizer(models.BPE(end_of_word_suffix=WORD_END))
    tokenizer.normalizer, tokenizer.pre_tokenizer = stock.normalizer, stock.pre_tokenizer
    letters = byte_letters()
    trainer = trainers.BpeTrainer(
        vocab_size=2 * len(letters) + MERGES,
        initial_alphabet=letters,
        end_of_word_suffix=WORD_END,
        show_progress=False,
    )
    rng = random.Random(f"clip tokenizer {seed}")
    tokenizer.train_from_iterator(
        (random_caption(training_scene(seed, index), rng)[0] for index in range(captions)), trainer
    )
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return [(first, second) for first, second in merges[:MERGES]]


def build_clip_tokenizers(merges: Sequence[tuple[str, str]]) -> tuple[CLIPTokenizer, CLIPTokenizer]:
    """Build both encoders' tokenizers, which differ in the padding token: the end token, and `!` (id 0)."""
    letters = byte_letters()
    pieces = [*letters, *(letter + WORD_END for letter in letters), *(a + b for a, b in merges), START, END]
    vocabulary = {piece: number for number, piece in enumerate(dict.fromkeys(pieces))}
    first, second = (
        CLIPTokenizer(
            vocab=vocabulary,
            merges=list(merges),
            unk_token=END,
            bos_token=START,
            eos_token=END,
            pad_token=pad,
            model_max_length=CONTEXT,
        )
        for pad in (END, "!")
    )
    return first, second


def tokenize_clip(tokenizer: CLIPTokenizer, prompts: Sequence[str], device: str) -> Tensor:
    """Return token ids (b, 77): start, text, end, padding."""
    batch = tokenizer(list(prompts), padding="max_length", truncation=True, max_length=CONTEXT, return_tensors="pt")
    ids: Tensor = batch["input_ids"]
    return ids.to(device, torch.long)
