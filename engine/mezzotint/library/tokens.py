"""Count the tokens of a prompt for a model's text encoders, exactly as the engine does."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from mezzotint.catalog.catalog import FoundModel
from mezzotint.errors import UsageError
from mezzotint.families.family import ComponentSource, ModelSources
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.known import family_of
from mezzotint.families.lora.prompt_tags import without_lora_tags
from mezzotint.families.pixart.family import MAX_TOKENS
from mezzotint.families.text.clip_prompt import (
    CHUNK_CAPACITY,
    CHUNK_LIMIT,
    PROMPT_LIMIT,
    Break,
    Fragment,
    chunk,
    parse,
)
from mezzotint.library.tokenizer_files import TextTokenizer, file_stamps, read_tokenizer
from mezzotint.library_protocol import TokenCount, TokenRequest
from mezzotint.protocol import ModelRef

_KEPT = 4  # cached models; T5's vocabulary takes tens of megabytes

FindModel = Callable[[ModelRef], FoundModel]
_Stamps = tuple[tuple[tuple[str, int, int], ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """A model's tokenizers, and the stamps of the files they were built from."""

    sources: ModelSources
    stamps: _Stamps
    tokenizers: dict[str, TextTokenizer]  # by text encoder name


class TokenCounter:
    """Counts prompt tokens; caches the tokenizers of the most recently used models."""

    def __init__(self, find: FindModel) -> None:
        self._find = find
        self._lock = threading.Lock()
        self._known: OrderedDict[str, _Known] = OrderedDict()

    def count(self, request: TokenRequest) -> tuple[TokenCount, ...]:
        """Count tokens for each text encoder of the model, up to PROMPT_LIMIT characters of the prompt."""
        with self._lock:
            known = self._tokenizers(request.model)
        prompt = _valid(request.prompt)
        more = len(prompt) > PROMPT_LIMIT
        prompt = without_lora_tags(prompt[:PROMPT_LIMIT])
        if known.sources.family == "pixart":
            most = MAX_TOKENS[known.sources.detected.variant] - 1  # the last is the end token
            return _plain_counts(prompt.lower().strip(), "{prompt}", lambda _: most, known, more)
        family = family_of(known.sources.family)
        if isinstance(family, FlowFamily):
            most_of = partial(_prompt_limit, family, known)
            return _plain_counts(family.as_read(prompt), family.spec.template, most_of, known, more)
        return _clip_counts(prompt, known, more)

    def forget(self) -> None:
        """Clear the cache: a model id may now denote another model."""
        with self._lock:
            self._known.clear()

    def _tokenizers(self, model: str) -> _Known:
        known = self._known.get(model)
        if known is None or known.stamps != _stamps_of(known.sources):
            found = self._find(ModelRef(id=model))
            sources = family_of(found.detected.family).sources(found.checkpoint, found.detected)
            made = {part.name.replace("tokenizer", "text_encoder"): read_tokenizer(part) for part in _parts(sources)}
            known = self._known[model] = _Known(sources=sources, stamps=_stamps_of(sources), tokenizers=made)
        self._known.move_to_end(model)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return known


def _parts(sources: ModelSources) -> list[ComponentSource]:
    return [part for name, part in sources.components.items() if name.startswith("tokenizer")]


def _stamps_of(sources: ModelSources) -> _Stamps:
    return tuple(file_stamps(part) for part in _parts(sources))


def _valid(prompt: str) -> str:
    try:
        prompt[: PROMPT_LIMIT + 1].encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"The prompt is not valid text at character {error.start + 1}; is it in UTF-8?") from None
    return prompt


def _prompt_limit(family: FlowFamily, known: _Known, encoder: str) -> int:
    """The maximum number of tokens of a prompt in its template; instructions before it may come on top."""
    most = family.read_tokens(known.sources, encoder)
    around = _ids(known.tokenizers[encoder], family.spec.template.format(prompt=""))
    return most + len(around) if family.spec.bounds_prompt else most


# ---- CLIP: long prompts are encoded in chunks


def _clip_counts(prompt: str, known: _Known, more: bool) -> tuple[TokenCount, ...]:
    fragments = parse(prompt)
    read = {name: _read(fragments, tokenizer) for name, tokenizer in known.tokenizers.items()}
    chunks = max(len(parts) for _, parts in read.values())  # both encoders get as many chunks: the shorter is padded
    most = CHUNK_LIMIT * CHUNK_CAPACITY
    return tuple(
        TokenCount(
            encoder=name,
            tokens=tokens,
            limit=CHUNK_CAPACITY,
            chunks=min(chunks, CHUNK_LIMIT),
            cut=max(0, tokens - most),
            honours_weights=True,
            more=more or chunks > CHUNK_LIMIT,
            parts=parts if 1 < chunks <= CHUNK_LIMIT else (),
        )
        for name, (tokens, parts) in sorted(read.items())
    )


def _read(fragments: Sequence[Fragment | Break], tokenizer: TextTokenizer) -> tuple[int, tuple[int, ...]]:
    """Return the numbers of all tokens and of each chunk's; CHUNK_LIMIT + 1 chunks if the engine would refuse them."""
    ids = {part.text: _ids(tokenizer, part.text) for part in fragments if isinstance(part, Fragment)}
    tokens = sum(len(ids[part.text]) for part in fragments if isinstance(part, Fragment))
    try:
        chunks = chunk(fragments, lambda text: ids[text] if text in ids else _ids(tokenizer, text))
        return tokens, tuple(len(one.ids) for one in chunks)
    except UsageError:
        return tokens, (0,) * (CHUNK_LIMIT + 1)


def _ids(tokenizer: TextTokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


# ---- other encoders: tokens beyond the limit are cut


def _plain_counts(
    prompt: str, template: str, most_of: Callable[[str], int], known: _Known, more: bool
) -> tuple[TokenCount, ...]:
    counts = []
    for name, tokenizer in known.tokenizers.items():
        around = len(_ids(tokenizer, template.format(prompt="")))
        tokens, limit = len(_ids(tokenizer, template.format(prompt=prompt))) - around, most_of(name) - around
        cut = max(0, tokens - limit)
        counts.append(
            TokenCount(encoder=name, tokens=tokens, limit=limit, chunks=1, cut=cut, honours_weights=False, more=more)
        )
    return tuple(counts)
