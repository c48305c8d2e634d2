"""Gemma's tokenizer, from the sentencepiece model that comes with a text encoder: it is not bundled."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from mezzotint.checkpoints.gguf_header import read_gguf_lists
from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.stored_bytes import StoredBytes
from mezzotint.checkpoints.weight_file import is_gguf
from mezzotint.errors import ModelRefused

if TYPE_CHECKING:
    from transformers import GemmaTokenizer

TENSOR = "spiece_model"  # in ComfyUI's files of text encoders
FILE = "tokenizer.model"  # as published
UNKNOWN = "<unk>"
SPECIAL = ("<pad>", "<eos>", "<bos>", UNKNOWN, "<mask>")
_SPACE = "\u2581"  # of sentencepiece
TURNS = ("<start_of_turn>", "<end_of_turn>")
_LARGEST = 16 * 2**20  # bytes; Gemma 2's has four million
_MOST_PIECES = 1_000_000  # Gemma 2's has 256,000
_LONGEST_PIECE = 256  # characters
_BYTE_PAIRS = 2  # this and the kinds of pieces as numbered in sentencepiece_model.proto
_NORMAL, _CONTROL, _USER_DEFINED = 1, 3, 4
_GGUF_LISTS = ("tokenizer.ggml.tokens", "tokenizer.ggml.scores", "tokenizer.ggml.token_type")

_Piece: TypeAlias = tuple[str, float, int]  # text, score and kind


@dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """A sentencepiece model of byte pairs, as far as tokenizing takes it."""

    ids: Mapping[str, int]
    merges: Sequence[tuple[str, str]]  # the first is applied first
    added: Sequence[tuple[str, bool]]  # tokens that are matched before all others, and whether they are special


def find_pieces(header: Header) -> StoredBytes:
    """The sentencepiece model in a text encoder's file, or beside it; raises ModelRefused if there is neither.

    In a GGUF file it is in the metadata, before the tensors.
    """
    if is_gguf(header.path) and header.metadata.get("tokenizer.ggml.model") == "llama":
        return _within(StoredBytes(path=header.path, start=0, size=min(each.start for each in header.tensors.values())))
    for name, spec in header.tensors.items():
        if name.rpartition(".")[2] == TENSOR and spec.dtype in ("U8", "I8") and not is_gguf(header.path):
            return _within(StoredBytes(path=header.path, start=spec.start, size=spec.end - spec.start))
    path = header.path.parent / FILE
    if not is_file(path):
        raise ModelRefused(
            f"{plain(header.path, 300)} has no tokenizer: take a file of ComfyUI's, or a GGUF with one, or put "
            f"{FILE} of https://huggingface.co/google/gemma-2-2b-it beside it"
        )
    return _within(StoredBytes(path=path, start=0, size=path.stat().st_size))


def _within(found: StoredBytes) -> StoredBytes:
    if found.size > _LARGEST:
        raise ModelRefused(
            f"{plain(found.path, 300)}: a tokenizer of {found.size} bytes; at most {_LARGEST} are read; "
            "the file is damaged, or of another model"
        )
    return found


def read_pieces(stored: StoredBytes, vocabulary: int) -> Pieces:
    """Read the model for a text encoder of `vocabulary` tokens; raises ModelRefused if it is of another encoder."""
    pieces = _parsed(stored)
    ids = {piece: index for index, (piece, _, _) in enumerate(pieces)}
    absent = [token for token in SPECIAL if token not in ids]
    if len(ids) != len(pieces) or absent or len(pieces) > vocabulary:
        lacks = f" without {', '.join(absent)}" if absent else ""
        raise ModelRefused(
            f"{plain(stored.path, 300)}: a tokenizer of {len(ids)} tokens{lacks}, and the text encoder has "
            f"{vocabulary}; they belong to different models"
        )
    added = [
        (piece, kind == _CONTROL or piece in TURNS) for piece, _, kind in pieces if kind in (_CONTROL, _USER_DEFINED)
    ]
    return Pieces(ids=ids, merges=list(_merges(pieces, ids)), added=added)


def _parsed(stored: StoredBytes) -> list[_Piece]:
    """All pieces in order of their ids."""
    pieces = list(_in_gguf(stored.path)) if is_gguf(stored.path) else _in_model(stored)
    if len(pieces) > _MOST_PIECES:
        raise ModelRefused(f"{plain(stored.path, 300)}: its tokenizer is not one of Gemma, but of another model")
    if any(len(piece) > _LONGEST_PIECE for piece, _, _ in pieces):
        raise ModelRefused(f"{plain(stored.path, 300)}: its tokenizer is damaged: a token is too long")
    return pieces


def _in_gguf(path: Path) -> Iterator[_Piece]:
    """Undo what llama.cpp's conversion changes: spaces, scores and kinds of the tokens that are matched first."""
    lists = read_gguf_lists(path, _GGUF_LISTS, _MOST_PIECES)
    texts, *numbers = (lists.get(name, []) for name in _GGUF_LISTS)
    whole = all(len(each) == len(texts) and not any(isinstance(one, str) for one in each) for each in numbers)
    if not whole or not all(isinstance(text, str) for text in texts):
        raise ModelRefused(f"{plain(path, 300)}: its tokenizer is damaged: its lists do not fit each other")
    for text, score, kind in zip(texts, *numbers, strict=True):
        if kind not in (_CONTROL, _USER_DEFINED):
            yield str(text), float(score), _NORMAL
        elif kind == _USER_DEFINED:
            yield str(text).replace(" ", _SPACE), 0.0, _USER_DEFINED
        else:
            yield str(text), 0.0, _NORMAL if text == UNKNOWN else _CONTROL


def _in_model(stored: StoredBytes) -> list[_Piece]:
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]
    from sentencepiece import sentencepiece_model_pb2

    found = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    try:
        found.ParseFromString(stored.read())
        pieces = [(one.piece, one.score, one.type) for one in found.pieces]
    except (DecodeError, UnicodeDecodeError) as error:
        raise ModelRefused(f"{plain(stored.path, 300)}: its tokenizer cannot be read: {plain(error, 80)}") from None
    if found.trainer_spec.model_type != _BYTE_PAIRS:
        raise ModelRefused(f"{plain(stored.path, 300)}: its tokenizer is not one of Gemma, but of another model")
    return pieces


def _merges(pieces: Sequence[_Piece], ids: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """All pairs of pieces that make a piece, by its score; of those with the same, the longest left part first.

    Sentencepiece merges whichever neighbours make the piece of the highest score (arXiv 1808.06226, 3.1).
    """
    pairs = [
        (-score, -cut, cut - len(piece), piece[:cut], piece[cut:])
        for piece, score, _ in pieces
        for cut in range(1, len(piece))
        if piece[:cut] in ids and piece[cut:] in ids
    ]
    pairs.sort(key=lambda pair: pair[:3])
    return ((left, right) for *_, left, right in pairs)


def gemma_tokenizer(stored: StoredBytes, vocabulary: int) -> "GemmaTokenizer":
    """Gemma's tokenizer for a text encoder of `vocabulary` tokens; raises ModelRefused if it belongs to another."""
    from tokenizers import AddedToken
    from transformers import GemmaTokenizer

    found = read_pieces(stored, vocabulary)
    tokenizer = GemmaTokenizer(vocab=dict(found.ids), merges=list(found.merges), add_bos_token=True)
    tokenizer.add_tokens([AddedToken(text, normalized=False, special=special) for text, special in found.added])
    return tokenizer
