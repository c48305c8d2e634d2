"""The tokenizer: Unigram pieces trained on captions, single characters for all other words."""

import json
import random
from collections.abc import Iterable, Sequence

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import T5Tokenizer

from mezzotint.benchmarks.postcards.captions import random_caption
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint_starter.networks import TOKENS

PIECES = 1024
SPECIAL = ("<pad>", "</s>", "<unk>")
# Each of these characters is a piece, so that unknown words are tokenized letter by letter.
CHARACTERS = [chr(code) for code in (*range(0x21, 0x7F), *range(0xA1, 0x180))]


def build_tokenizer(seed: int, captions: int = 20000) -> T5Tokenizer:
    """Train the pieces on training captions of the postcards."""
    rng = random.Random(f"tokenizer {seed}")
    return train_tokenizer(random_caption(training_scene(seed, index), rng)[0] for index in range(captions))


def train_tokenizer(texts: Iterable[str], pieces: int = PIECES) -> T5Tokenizer:
    """Train so many pieces on texts; `<pad>` is 0 and `</s>` (1) ends every prompt."""
    trainer = trainers.UnigramTrainer(
        vocab_size=pieces,
        special_tokens=list(SPECIAL),
        unk_token=SPECIAL[2],
        initial_alphabet=CHARACTERS,
        show_progress=False,
    )
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(replacement="▁", prepend_scheme="always", split=True),
        ]
    )
    tokenizer.train_from_iterator(texts, trainer)
    learnt = [(piece, score) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]
    return T5Tokenizer(vocab=learnt, extra_ids=0, model_max_length=TOKENS)


def tokenize(tokenizer: T5Tokenizer, prompts: Sequence[str], device: str) -> tuple[Tensor, Tensor]:
    """Return token ids and attention mask, (b, n) each; n is the longest prompt's length, at most 64."""
    batch = tokenizer(list(prompts), padding=True, truncation=True, max_length=TOKENS, return_tensors="pt")
    ids: Tensor = batch["input_ids"].to(device)
    mask: Tensor = batch["attention_mask"].to(device)
    return ids, mask.to(torch.long)
