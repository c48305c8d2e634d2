"""Tokenizers that single-file checkpoints lack, built from bundled data without network access."""

import bz2
import lzma
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transformers import CLIPTokenizer, Qwen2Tokenizer, T5Tokenizer

_CLIP_FILE = Path(__file__).parent / "clip" / "merges.txt.bz2"
_QWEN_FILE = Path(__file__).parent / "qwen" / "merges.txt.bz2"
_T5_FILE = Path(__file__).parent / "t5" / "spiece.model.xz"
T5_LONGEST = 512  # tokens
_T5_EXTRA_IDS = 100
QWEN_LONGEST = 131_072  # tokens
# In order of their ids from 151,643 on, as in tokenizer_config.json of Qwen3-4B (Apache 2.0).
QWEN_SPECIAL = (
    "<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|object_ref_start|>", "<|object_ref_end|>", "<|box_start|>",
    "<|box_end|>", "<|quad_start|>", "<|quad_end|>", "<|vision_start|>", "<|vision_end|>", "<|vision_pad|>",
    "<|image_pad|>", "<|video_pad|>",
)  # fmt: skip
QWEN_MARKS = (
    "<tool_call>", "</tool_call>", "<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>", "<|fim_pad|>", "<|repo_name|>",
    "<|file_sep|>", "<tool_response>", "</tool_response>", "<think>", "</think>",
)  # fmt: skip
_WORD_END = "</w>"
_MAX_TOKENS = 77  # positions of every CLIP text encoder
START = "<|startoftext|>"
END = "<|endoftext|>"
VOCABULARY_SIZE = 49_408
START_ID, END_ID = VOCABULARY_SIZE - 2, VOCABULARY_SIZE - 1


def clip_tokenizer(*, pad_token: str) -> "CLIPTokenizer":
    """CLIP's tokenizer; SDXL's first text encoder pads with `<|endoftext|>`, its second with `!`."""
    from transformers import CLIPTokenizer

    merges = clip_merges()
    return CLIPTokenizer(
        vocab=clip_vocabulary(),
        merges=list(merges),
        unk_token=END,
        bos_token=START,
        eos_token=END,
        pad_token=pad_token,
        model_max_length=_MAX_TOKENS,
    )


def qwen_tokenizer() -> "Qwen2Tokenizer":
    """The tokenizer of Qwen2, Qwen2.5 and Qwen3, which differ only in added special tokens."""
    from transformers import Qwen2Tokenizer

    tokenizer = Qwen2Tokenizer(vocab=qwen_vocabulary(), merges=list(qwen_merges()), model_max_length=QWEN_LONGEST)
    tokenizer.add_special_tokens({"additional_special_tokens": list(QWEN_SPECIAL[1:])})
    tokenizer.add_tokens(list(QWEN_MARKS))
    return tokenizer


def t5_tokenizer() -> "T5Tokenizer":
    """The tokenizer of T5 v1.1, whose encoder FLUX.1, Chroma and Stable Diffusion 3 use."""
    from transformers import T5Tokenizer

    pieces, characters = t5_pieces()
    return T5Tokenizer(vocab=pieces, _spm_precompiled_charsmap=characters, model_max_length=T5_LONGEST)


def t5_pieces() -> tuple[list[tuple[str, float]], bytes]:
    """T5's pieces and scores in order of their ids, and sentencepiece's character map."""
    from sentencepiece import sentencepiece_model_pb2

    found = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    found.ParseFromString(lzma.decompress(_T5_FILE.read_bytes()))
    extra = [(f"<extra_id_{number}>", 0.0) for number in reversed(range(_T5_EXTRA_IDS))]
    return [*((one.piece, one.score) for one in found.pieces), *extra], found.normalizer_spec.precompiled_charsmap


@cache
def qwen_merges() -> tuple[tuple[str, str], ...]:
    """Qwen's merges, the most frequent first."""
    with bz2.open(_QWEN_FILE, "rt", encoding="utf-8", newline="\n") as file:
        next(file)  # the version line
        pairs = (line.rstrip("\n").split(" ") for line in file)
        return tuple((first, second) for first, second in pairs)


def qwen_vocabulary() -> dict[str, int]:
    """Qwen's tokens and their ids: bytes, merges in order, the end-of-text token."""
    tokens = [*byte_letters(), *(first + second for first, second in qwen_merges()), QWEN_SPECIAL[0]]
    return {token: index for index, token in enumerate(tokens)}


@cache
def clip_merges() -> tuple[tuple[str, str], ...]:
    """CLIP's merges, the most frequent first."""
    with bz2.open(_CLIP_FILE, "rt", encoding="utf-8", newline="\n") as file:
        next(file)  # the version line
        pairs = (line.split() for line in file)
        return tuple((first, second) for first, second in pairs)


def clip_vocabulary() -> dict[str, int]:
    """CLIP's tokens and their ids: bytes, bytes that end a word, merges in order, the special tokens."""
    letters = byte_letters()
    merged = [first + second for first, second in clip_merges()]
    tokens = [*letters, *(letter + _WORD_END for letter in letters), *merged, START, END]
    return {token: index for index, token in enumerate(tokens)}


def byte_letters() -> list[str]:
    """A printable character for each byte, in order of CLIP's ids: first the bytes that are printable in Latin-1.

    The mapping is that of byte-level byte-pair encoding (Radford et al., "Language models are unsupervised multitask
    learners", section 2.2), in which the other bytes become the characters from U+0100 on.
    """
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = 256 - len(visible)
    return [chr(code) for code in (*visible, *range(0x100, 0x100 + others))]
