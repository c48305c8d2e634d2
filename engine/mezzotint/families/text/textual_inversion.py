"""Textual inversion: added tokens, each a few vectors at the text encoder's input (arXiv 2208.01618).

Files are safetensors, or tensors in a pickle, which is read without unpickling. SDXL files contain `clip_l` and
`clip_g`; any other file with a single tensor of vectors is for the encoder that matches its width. The word is the file
name without its suffix; prompts match it as a whole word, ignoring case, also after `embedding:`, and it stands for its
vectors in order. An encoder for which a file has no vectors reads the word as plain text. The model is not changed: the
vectors are substituted during a single call.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mezzotint.checkpoints.foreign_kind import is_pickle_name
from mezzotint.checkpoints.header import Header, TensorSpec, read_header
from mezzotint.checkpoints.pickle_opcodes import InertObject, PickledTensor
from mezzotint.checkpoints.pickled_tensors import PickledFile, read_pickled
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.read import read_tensors
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.families.text.clip_prompt import CHUNK_CAPACITY
from mezzotint.families.text.foreign_syntax import word_pattern

if TYPE_CHECKING:
    import torch

_KEYS = ("clip_l", "clip_g")
_DTYPES = ("F16", "BF16", "F32")
_LARGEST_FILE = 16 * 2**20  # bytes; 75 vectors for both encoders are under 1 MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Inversion:
    """A learned word: its vectors `(n, width)`, by encoder key."""

    word: str
    path: Path | None  # None: in memory only
    vectors: "Mapping[str, torch.Tensor]"


def load_inversions(paths: Sequence[Path], widths: Mapping[str, int]) -> tuple[Inversion, ...]:
    """Read the files for encoders of these widths; raises `ModelRefused` naming a file that fits none."""
    inversions = tuple(_load(Path(path), widths) for path in paths)
    by_word: dict[str, Inversion] = {}
    for inversion in inversions:
        other = by_word.setdefault(inversion.word.lower(), inversion)
        if other is not inversion:
            both = f"{plain(other.path, 300)} and {plain(inversion.path, 300)}"
            raise UsageError(
                f"Two embeddings have the name '{plain(inversion.word, 60)}': {both}. Rename or leave out one."
            )
    return inversions


class Vocabulary:
    """The learned tokens of one text encoder: the negative id -1 - i stands for `vectors[i]`."""

    def __init__(self, inversions: Sequence[Inversion], key: str) -> None:
        self.vectors: list[torch.Tensor] = []
        self._ids: dict[str, list[int]] = {}
        for inversion in inversions:
            if key in inversion.vectors:
                first = len(self.vectors)
                self.vectors.extend(inversion.vectors[key])
                self._ids[inversion.word.lower()] = [-1 - index for index in range(first, len(self.vectors))]
        self._pattern = word_pattern(list(self._ids)) if self._ids else None

    def tokenize(self, text: str, tokenize: Callable[[str], Sequence[int]]) -> list[int]:
        """Token ids of the text, including the learned tokens in it."""
        if self._pattern is None:
            return list(tokenize(text))
        ids: list[int] = []
        at = 0
        for found in self._pattern.finditer(text):
            ids.extend(tokenize(text[at : found.start()]))
            ids.extend(self._ids[(found[1] or found[2]).lower()])
            at = found.end()
        return [*ids, *tokenize(text[at:])]


@contextmanager
def vectors_in_place(
    model: Any,  # noqa: ANN401  # a transformers model: its classes are not importable here
    ids: Sequence[int],
    vectors: "Sequence[torch.Tensor]",
) -> Iterator[list[int]]:
    """Yield token ids that the model knows; in this context its input layer returns `vectors` for negative ids.

    For batches of one. The placeholder id is 0, the lowest, so that the end token stays the highest, which is how CLIP
    locates its pooled output.
    """
    places = [place for place, token in enumerate(ids) if token < 0]
    plain_ids = [max(token, 0) for token in ids]
    if not places:
        yield plain_ids
        return

    def put(_module: object, _inputs: object, output: "torch.Tensor") -> "torch.Tensor":
        output = output.clone()
        for place in places:
            output[0, place] = vectors[-1 - ids[place]].to(output)
        return output

    hook = model.get_input_embeddings().register_forward_hook(put)
    try:
        yield plain_ids
    finally:
        hook.remove()


# ---- files


def _load(path: Path, widths: Mapping[str, int]) -> Inversion:
    if is_pickle_name(path):
        return _load_pickled(path, widths)
    header = read_header(path)
    if header.bytes > _LARGEST_FILE:
        raise ModelRefused(
            f"{plain(path, 300)} has {header.bytes} bytes; an embedding has at most {_LARGEST_FILE}. Is it a model?"
        )
    names = _names_by_key(path, header, widths)
    for name in names.values():
        _check_count(path, header.tensors[name])
    vectors = {}
    wanted = {name: key for key, name in names.items()}
    for name, tensor in read_tensors([path], on_bytes=lambda _: None, cancelled=lambda: False, names=wanted):
        vectors[wanted[name]] = _finite(path, tensor.reshape(-1, tensor.shape[-1]))
    return Inversion(word=path.stem, path=path, vectors=vectors)


def _load_pickled(path: Path, widths: Mapping[str, int]) -> Inversion:
    """Read a file of A1111's or diffusers' from before safetensors."""
    file = read_pickled(path, _LARGEST_FILE)
    tensors = _pickled(file)
    specs = {
        name: TensorSpec(dtype=each.storage.dtype, shape=each.shape, start=0, end=0) for name, each in tensors.items()
    }
    names = _names_by_key(path, Header(path=path, tensors=specs, metadata={}, bytes=0), widths)
    for name in names.values():
        _check_count(path, specs[name])
    vectors = {key: file.tensor(tensors[name]) for key, name in names.items()}
    return Inversion(
        word=path.stem,
        path=path,
        vectors={key: _finite(path, each.reshape(-1, each.shape[-1])) for key, each in vectors.items()},
    )


def _pickled(file: PickledFile) -> dict[str, PickledTensor]:
    """The tensors by name: A1111 has those of all words in `string_to_param`, others have one by its word."""
    whole = file.content if isinstance(file.content, dict) else {}
    params = whole.get("string_to_param", whole)
    if isinstance(params, InertObject):
        params = params.state.get("_parameters")
    found = params.items() if isinstance(params, dict) else ()
    return {str(name): each for name, each in found if isinstance(each, PickledTensor)}


def _names_by_key(path: Path, header: Header, widths: Mapping[str, int]) -> dict[str, str]:
    """Name of the tensor in the file, by encoder key."""
    named = {key: key for key in _KEYS if key in header.tensors}
    if named:
        fitting = {key: name for key, name in named.items() if key in widths}
        for key in fitting:
            if _width(header.tensors[key]) != widths[key]:
                raise _mismatch(path, header, widths)
        if fitting:
            return fitting
        raise _mismatch(path, header, widths)
    tables = [name for name, spec in header.tensors.items() if 1 <= len(spec.shape) <= 2]
    name = "emb_params" if "emb_params" in tables else tables[0] if len(tables) == 1 else None
    if name is None:
        raise ModelRefused(
            f"{plain(path, 300)} is no textual-inversion file: it holds neither clip_l, clip_g nor one embedding."
        )
    for key, width in widths.items():
        if _width(header.tensors[name]) == width:
            return {key: name}
    raise _mismatch(path, header, widths)


def _width(spec: TensorSpec) -> int:
    return spec.shape[-1] if spec.shape else 0


def _check_count(path: Path, spec: TensorSpec) -> None:
    count = spec.shape[0] if len(spec.shape) == 2 else 1
    if len(spec.shape) > 2 or not 1 <= count <= CHUNK_CAPACITY or spec.dtype not in _DTYPES:
        raise ModelRefused(
            f"{plain(path, 300)} holds {spec.dtype} of shape {spec.shape};"
            f" an embedding is 1 to {CHUNK_CAPACITY} vectors of {', '.join(_DTYPES)}."
        )


def _finite(path: Path, vectors: "torch.Tensor") -> "torch.Tensor":
    import torch

    if not torch.isfinite(vectors).all():
        raise ModelRefused(f"{plain(path, 300)} holds numbers that are not finite; it is damaged. Download it again.")
    return vectors


def _mismatch(path: Path, header: Header, widths: Mapping[str, int]) -> ModelRefused:
    has = ", ".join(f"{plain(name, 60)} {_width(spec)} wide" for name, spec in list(header.tensors.items())[:4])
    takes = ", ".join(f"{key} {width}" for key, width in widths.items())
    return ModelRefused(
        f"Embedding {plain(path, 300)} does not fit this model: it has {has}; the encoders take {takes}."
    )
