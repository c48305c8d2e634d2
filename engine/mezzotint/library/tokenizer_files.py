"""Build tokenizers from a model's files like transformers, but without importing it; files are untrusted."""

import base64
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, read_limited
from mezzotint.checkpoints.strict_json import parse_json_object, read_json_object
from mezzotint.errors import ModelRefused
from mezzotint.families.family import ComponentSource
from mezzotint.families.tokenizers import (
    END,
    QWEN_MARKS,
    QWEN_SPECIAL,
    START,
    clip_merges,
    clip_vocabulary,
    qwen_merges,
    qwen_vocabulary,
    t5_pieces,
)
from mezzotint.families.tokenizers.gemma import UNKNOWN, Pieces, read_pieces

if TYPE_CHECKING:
    from tokenizers import AddedToken

TextTokenizer: TypeAlias = Any  # tokenizers.Tokenizer; the library has no type hints

LARGEST_FILE = 64 << 20  # bytes; CLIP's and T5's files have at most three megabytes
FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "spiece.model",
)
_NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
_CLIP_SPECIAL = {"unk_token": END, "bos_token": START, "eos_token": END, "pad_token": END}
_T5_SPECIAL = {"eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
_T5_UNKNOWN = 2  # its id
_CLIP_WORDS = r"<\|startoftext\|>|<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
_QWEN_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
    r"|\s+(?!\S)|\s+"
)
_T5_EXTRA_IDS = 100
_MOST_EXTRA_IDS = 10_000


def read_tokenizer(source: ComponentSource) -> TextTokenizer:
    """Return the tokenizer that the model's files describe. Raises ModelRefused if they are invalid."""
    try:
        if source.folder is None:
            return _bundled(source)
        if source.class_name.startswith(("Qwen2", "Gemma")):
            return _from_tokenizer_json(source)
        if source.class_name.startswith("CLIP"):
            return _clip(source.folder, source.config)
        return (
            _from_tokenizer_json(source)
            if source.class_name == "PreTrainedTokenizerFast"
            else _t5(source.folder, source.config)
        )
    except (ModelRefused, MemoryError, KeyboardInterrupt):
        raise
    except BaseException as error:  # a Rust panic is not an Exception
        reason = plain(error).partition("\\n")[0]
        raise ModelRefused(f"{plain(source.folder, 300)}: the tokenizer cannot be read: {reason}") from error


def file_stamps(source: ComponentSource) -> tuple[tuple[str, int, int], ...]:
    """Return name, mtime and size of the tokenizer's files; while these are unchanged, so is the tokenizer."""
    paths = [] if source.folder is None else [source.folder / name for name in FILES]
    paths += [] if source.pieces is None else [source.pieces.path]
    found = []
    for path in paths:
        if is_file(path):
            status = path.stat()
            found.append((path.name, status.st_mtime_ns, status.st_size))
    return tuple(found)


# ---- CLIP: lower-cased byte pair encoding


def _bundled(source: ComponentSource) -> TextTokenizer:
    if source.pieces is not None:
        return _gemma(read_pieces(source.pieces, int(str(source.config["vocab_size"]))))
    if source.class_name.startswith("T5"):
        return _bundled_t5()
    return _bundled_qwen() if source.class_name.startswith("Qwen2") else _bundled_clip(source.config)


def _bundled_t5() -> TextTokenizer:
    """Build T5's tokenizer from bundled data."""
    tokenizer = _unigram(*t5_pieces())
    tokenizer.add_tokens([*_special(_T5_SPECIAL), *_as_special([f"<extra_id_{n}>" for n in range(_T5_EXTRA_IDS)])])
    return tokenizer


def _bundled_qwen() -> TextTokenizer:
    """Build Qwen's tokenizer from bundled data."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.BPE(vocab=qwen_vocabulary(), merges=list(qwen_merges())))
    tokenizer.normalizer = normalizers.NFC()
    words = pre_tokenizers.Split(Regex(_QWEN_WORDS), behavior="isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    tokenizer.add_special_tokens([*QWEN_SPECIAL])
    tokenizer.add_tokens([*QWEN_MARKS])
    return tokenizer


def _gemma(pieces: Pieces) -> TextTokenizer:
    """Build Gemma's tokenizer, in which a space belongs to the word before it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(
        models.BPE(
            vocab=dict(pieces.ids), merges=list(pieces.merges), unk_token=UNKNOWN, fuse_unk=True, byte_fallback=True
        )
    )
    tokenizer.normalizer = normalizers.Replace(" ", "\u2581")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", behavior="merged_with_previous")
    tokenizer.add_tokens(
        [_token({"content": text, "normalized": False}, special=special) for text, special in pieces.added]
    )
    return tokenizer


def _bundled_clip(config: Mapping[str, object]) -> TextTokenizer:
    tokenizer = _byte_pairs(clip_vocabulary(), clip_merges(), END)
    tokenizer.add_tokens(list(_special({**_CLIP_SPECIAL, "pad_token": config["pad_token"]})))
    return tokenizer


def _clip(folder: Path, config: Mapping[str, object]) -> TextTokenizer:
    whole = _tokenizer_json(folder)
    if whole is not None:
        model = _object(whole, "model")
        vocabulary, merges = _object(model, "vocab"), _pairs(model.get("merges"))
    else:
        vocabulary = read_json_object(folder / "vocab.json", LARGEST_FILE)
        merges = _merges_of_text(read_limited(folder / "merges.txt", LARGEST_FILE).decode("utf-8"))
    names = _named_tokens(folder, config, _CLIP_SPECIAL)
    tokenizer = _byte_pairs(vocabulary, merges, _content(names["unk_token"]))
    tokenizer.add_tokens([*_added_tokens(folder, config, names, whole), *_special(names)])
    return tokenizer


def _byte_pairs(vocabulary: Mapping[str, Any], merges: Sequence[tuple[str, str]], unknown: str) -> TextTokenizer:
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(
        models.BPE(
            vocab=dict(vocabulary),
            merges=list(merges),
            continuing_subword_prefix="",
            end_of_word_suffix="</w>",
            fuse_unk=False,
            unk_token=unknown,
        )
    )
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    )
    words = pre_tokenizers.Split(Regex(_CLIP_WORDS), behavior="removed", invert=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([words, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    return tokenizer


def _pairs(merges: object) -> list[tuple[str, str]]:
    """Parse merges in either notation: "a b" or ["a", "b"]."""
    if not isinstance(merges, list):
        raise ValueError("its merges are not a list")
    pairs = [tuple(one.split(" ")) if isinstance(one, str) else tuple(one) for one in merges]
    return [(first, second) for first, second in pairs]


def _merges_of_text(text: str) -> list[tuple[str, str]]:
    lines = (line for line in text.split("\n") if line.strip() and not line.startswith("#version"))
    return _pairs([line.rstrip("\r") for line in lines])


# ---- T5: sentencepiece


def _t5(folder: Path, config: Mapping[str, object]) -> TextTokenizer:
    whole = _tokenizer_json(folder)
    extra = config.get("extra_ids", _T5_EXTRA_IDS)
    if not isinstance(extra, int) or not 0 <= extra <= _MOST_EXTRA_IDS:
        raise ValueError(f"extra_ids is {plain(extra)}")
    sentinels = [f"<extra_id_{number}>" for number in range(extra)]
    if whole is not None:
        pieces = [(str(piece), float(score)) for piece, score in _list(_object(whole, "model"), "vocab")]
        charsmap = _charsmap(whole.get("normalizer"))
    else:
        pieces, charsmap = _pieces(read_limited(folder / "spiece.model", LARGEST_FILE))
        pieces += [(sentinel, 0.0) for sentinel in reversed(sentinels)]
    names = _named_tokens(folder, config, _T5_SPECIAL)
    tokenizer = _unigram(pieces, charsmap)
    tokenizer.add_tokens([*_added_tokens(folder, config, names, whole), *_special(names), *_as_special(sentinels)])
    return tokenizer


def _unigram(pieces: list[tuple[str, float]], charsmap: bytes | None) -> TextTokenizer:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=_T5_UNKNOWN, byte_fallback=False))
    if charsmap:
        tokenizer.normalizer = normalizers.Precompiled(charsmap)
    words = pre_tokenizers.Metaspace(replacement="\u2581", prepend_scheme="always", split=True)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), words])
    return tokenizer


def _charsmap(normalizer: object) -> bytes | None:
    """Return sentencepiece's precompiled character map from a tokenizer.json, if present."""
    if not isinstance(normalizer, dict):
        return None
    parts = _list(normalizer, "normalizers") if normalizer.get("type") == "Sequence" else [normalizer]
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "Precompiled" and "precompiled_charsmap" in part:
            return base64.b64decode(str(part["precompiled_charsmap"]))
    return None


def _pieces(model: bytes) -> tuple[list[tuple[str, float]], bytes | None]:
    from sentencepiece import sentencepiece_model_pb2

    found = sentencepiece_model_pb2.ModelProto()  # type: ignore[attr-defined]
    found.ParseFromString(model)
    return [(one.piece, one.score) for one in found.pieces], found.normalizer_spec.precompiled_charsmap or None


def _from_tokenizer_json(source: ComponentSource) -> TextTokenizer:
    """Build the tokenizer from a self-contained tokenizer.json."""
    from tokenizers import Tokenizer

    folder = Path(str(source.folder))
    data = read_limited(folder / "tokenizer.json", LARGEST_FILE)
    whole = parse_json_object(data, folder / "tokenizer.json")
    tokenizer = Tokenizer.from_str(data.decode("utf-8"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    names = _named_tokens(folder, source.config, {})
    tokenizer.add_tokens([*_added_tokens(folder, source.config, names, whole), *_special(names)])
    return tokenizer


# ---- added and special tokens, matched before tokenization


def _named_tokens(folder: Path, config: Mapping[str, object], usual: Mapping[str, str]) -> dict[str, object]:
    """Return tokens by role; special_tokens_map.json overrides if the config has no added_tokens_decoder."""
    named: dict[str, object] = {**usual, **{key: config[key] for key in _NAMED if config.get(key) is not None}}
    if "added_tokens_decoder" not in config and is_file(folder / "special_tokens_map.json"):
        more = read_json_object(folder / "special_tokens_map.json", LARGEST_FILE)
        named |= {key: more[key] for key in _NAMED if more.get(key) is not None}
    return named


def _added_tokens(
    folder: Path, config: Mapping[str, object], named: Mapping[str, object], whole: Mapping[str, object] | None
) -> "Iterator[AddedToken]":
    """Yield the tokens of added_tokens_decoder or, without it, of added_tokens.json and tokenizer.json."""
    table = config.get("added_tokens_decoder")
    if isinstance(table, dict):
        for index in sorted(table, key=int):
            yield _token(table[index], special=False)
        return
    if is_file(folder / "added_tokens.json"):
        special = {_content(value) for value in named.values()}
        for text in read_json_object(folder / "added_tokens.json", LARGEST_FILE):
            yield _token(
                {"content": text, "special": text in special, "normalized": text not in special}, special=False
            )
    for entry in _list(whole, "added_tokens") if whole is not None else ():
        yield _token(entry, special=False)


def _special(named: Mapping[str, object]) -> "Iterator[AddedToken]":
    return (_token(value, special=True) for value in named.values())


def _as_special(texts: Sequence[str]) -> "Iterator[AddedToken]":
    return (_token(text, special=True) for text in texts)


def _token(value: object, *, special: bool) -> "AddedToken":
    from tokenizers import AddedToken

    if isinstance(value, str):
        return AddedToken(value, special=special)
    if not isinstance(value, dict):
        raise ValueError(f"an added token is {plain(value)}")
    flags = {key: bool(value[key]) for key in ("lstrip", "rstrip", "single_word", "normalized") if key in value}
    return AddedToken(_content(value), special=special or bool(value.get("special")), **flags)


def _content(value: object) -> str:
    return str(value.get("content", "")) if isinstance(value, dict) else str(value)


# ---- JSON access


def _tokenizer_json(folder: Path) -> dict[str, object] | None:
    path = folder / "tokenizer.json"
    return read_json_object(path, LARGEST_FILE) if is_file(path) else None


def _object(whole: Mapping[str, object], key: str) -> dict[str, object]:
    value = whole.get(key)
    if not isinstance(value, dict):
        raise ValueError(f"its tokenizer.json has no {key}")
    return value


def _list(whole: Mapping[str, object], key: str) -> list[Any]:
    value = whole.get(key)
    if not isinstance(value, list):
        raise ValueError(f"its tokenizer.json has no list of {key}")
    return value
