"""Encodes prompts into the conditioning of SDXL and SD 1.5, with one or two CLIP text encoders.

SDXL uses `hidden_states[-(2 + clip_skip)]` of each encoder, concatenated on the feature axis, and the projected pooled
output of the last encoder's first chunk; SD 1.5 uses `hidden_states[-(1 + clip_skip)]` through the encoder's final
norm. Without weights and with at most 75 tokens, the tensors equal those of `encode_prompt` of diffusers' pipelines bit
for bit, except that `clip_skip` also applies to the negative prompt (diffusers keeps the usual layer there).

Weights follow A1111's original emphasis, `modules/sd_emphasis.py`, `EmphasisOriginal`: the encoder's output is
multiplied token by token, then rescaled as a whole to its original mean, separately for each chunk and encoder. The
pooled output is not weighted. Chunks are encoded one by one and concatenated on the token axis.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from mezzotint.errors import UsageError
from mezzotint.families.text.clip_prompt import CHUNK_CAPACITY, Break, Chunk, Fragment, chunk, parse
from mezzotint.families.text.textual_inversion import Inversion, Vocabulary, load_inversions, vectors_in_place

if TYPE_CHECKING:
    import torch

_EMPTY = Chunk((), ())


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipEncoder:
    """A transformers CLIP text model with its tokenizer."""

    tokenizer: Any
    model: Any
    normed: bool = False  # whether the last layer is used, through the final norm; False: the one before it

    @property
    def key(self) -> Literal["clip_l", "clip_g"]:
        """Which of SDXL's two encoders it is: only the large one projects its pooled output."""
        return "clip_g" if hasattr(self.model, "text_projection") else "clip_l"

    @property
    def width(self) -> int:
        """Hidden size of the encoder."""
        return int(self.model.config.hidden_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class SdxlConditioning:
    """An encoded prompt: `embeds` `(1, 77 per chunk, width of all encoders)`, `pooled` `(1, projection)`."""

    embeds: "torch.Tensor"
    pooled: "torch.Tensor"


def encode_pair(
    prompt: str,
    negative: str | None,
    *,
    encoders: Sequence[ClipEncoder],
    clip_skip: int,
    zero_empty_negative: bool,
    embeddings: Sequence[Path] = (),
    inversions: Sequence[Inversion] = (),
    gradients: bool = False,
) -> tuple[SdxlConditioning, SdxlConditioning]:
    """Encode prompt and negative prompt, padded with empty chunks to the same length.

    If `negative` is None (guidance is off), the prompt keeps its length, and the negative conditioning is zeros.
    An empty one becomes zeros if `zero_empty_negative` is set (`force_zeros_for_empty_prompt` of the pipeline:
    base yes, refiner no), as diffusers does for `negative_prompt=None`; otherwise it is encoded as "".
    `embeddings` are textual-inversion files, each used for the encoders that match its width; `inversions` are further
    learned words, in memory. `gradients`: whether they pass through the encoders, where they are enabled.
    """
    import torch

    with torch.set_grad_enabled(gradients and torch.is_grad_enabled()):
        return _pair(
            prompt, negative, encoders, clip_skip, embeddings, inversions, zero_empty_negative=zero_empty_negative
        )


def _pair(
    prompt: str,
    negative: str | None,
    encoders: Sequence[ClipEncoder],
    clip_skip: int,
    embeddings: Sequence[Path],
    inversions: Sequence[Inversion],
    *,
    zero_empty_negative: bool,
) -> tuple[SdxlConditioning, SdxlConditioning]:
    import torch

    _check_clip_skip(clip_skip, encoders)
    widths: dict[str, int] = {encoder.key: encoder.width for encoder in encoders}
    inversions = (*load_inversions(embeddings, widths), *inversions)
    positive_chunks = _chunks(prompt, encoders, inversions)
    if negative is None or (zero_empty_negative and not negative.strip()):
        positive = _encode(positive_chunks, encoders, inversions, clip_skip)
        zeros = SdxlConditioning(embeds=torch.zeros_like(positive.embeds), pooled=torch.zeros_like(positive.pooled))
        return positive, zeros
    negative_chunks = _chunks(negative, encoders, inversions)
    length = max(len(positive_chunks[0]), len(negative_chunks[0]))
    return (
        _encode(_padded(positive_chunks, length), encoders, inversions, clip_skip),
        _encode(_padded(negative_chunks, length), encoders, inversions, clip_skip),
    )


def clip_encoders(
    tokenizers: Mapping[str, Any], networks: Mapping[str, Any], *, normed: bool = False
) -> list[ClipEncoder]:
    """The encoders of a model, as far as they are in memory."""
    pairs = (("tokenizer", "text_encoder"), ("tokenizer_2", "text_encoder_2"))
    return [
        ClipEncoder(tokenizer=tokenizers[tokenizer], model=networks[network], normed=normed)
        for tokenizer, network in pairs
        if network in networks
    ]


def token_count(prompt: str, tokenizer: Any) -> int:  # noqa: ANN401  # a tokenizer of transformers has no public type
    """Number of CLIP tokens of the prompt, without begin, end, padding and weight syntax."""
    return sum(len(_token_ids(tokenizer, part.text)) for part in parse(prompt) if isinstance(part, Fragment))


# ---- tokens


def _token_ids(tokenizer: Any, text: str) -> list[int]:  # noqa: ANN401
    return list(tokenizer(text, add_special_tokens=False, verbose=False).input_ids)


def _chunks(
    prompt: str, encoders: Sequence[ClipEncoder], inversions: Sequence[Inversion]
) -> tuple[tuple[Chunk, ...], ...]:
    """Chunks for each encoder, padded to the same count: a learned word may be longer for one of them."""
    fragments = parse(prompt)
    chunks = tuple(_encoder_chunks(fragments, encoder, inversions) for encoder in encoders)
    return _padded(chunks, max(map(len, chunks)))


def _encoder_chunks(
    fragments: Sequence[Fragment | Break], encoder: ClipEncoder, inversions: Sequence[Inversion]
) -> tuple[Chunk, ...]:
    vocabulary = Vocabulary(inversions, encoder.key)
    return chunk(fragments, lambda text: vocabulary.tokenize(text, lambda rest: _token_ids(encoder.tokenizer, rest)))


def _padded(chunks: tuple[tuple[Chunk, ...], ...], length: int) -> tuple[tuple[Chunk, ...], ...]:
    return tuple(row + (_EMPTY,) * (length - len(row)) for row in chunks)


# ---- tensors


def _check_clip_skip(clip_skip: int, encoders: Sequence[ClipEncoder]) -> None:
    most = min(int(encoder.model.config.num_hidden_layers) for encoder in encoders) - 1
    if not 0 <= clip_skip <= most:
        raise UsageError(f"clip skip {clip_skip} is outside 0..{most}, the layers that this model's encoders can skip.")


def _encode(
    chunks: tuple[tuple[Chunk, ...], ...],
    encoders: Sequence[ClipEncoder],
    inversions: Sequence[Inversion],
    clip_skip: int,
) -> SdxlConditioning:
    import torch

    rows, pooled = [], []
    for encoder, row in zip(encoders, chunks, strict=True):
        vectors = Vocabulary(inversions, encoder.key).vectors
        outputs = [_run(encoder, part, vectors, clip_skip) for part in row]
        rows.append(torch.cat([embeds for embeds, _ in outputs], dim=1))
        pooled.append(outputs[0][1])
    embeds = torch.cat(rows, dim=-1).to(dtype=encoders[-1].model.dtype)
    return SdxlConditioning(embeds=embeds, pooled=pooled[-1])


def _run(
    encoder: ClipEncoder, part: Chunk, vectors: "Sequence[torch.Tensor]", clip_skip: int
) -> "tuple[torch.Tensor, torch.Tensor]":
    """Hidden states `(1, 77, d)` of a chunk, and the encoder's first output: pooled `(1, p)` if it projects."""
    import torch

    tokenizer, model = encoder.tokenizer, encoder.model
    padding = CHUNK_CAPACITY - len(part.ids)
    ids = [tokenizer.bos_token_id, *part.ids, tokenizer.eos_token_id, *[tokenizer.pad_token_id] * padding]
    with vectors_in_place(model, ids, vectors) as plain_ids:
        output = model(torch.tensor([plain_ids], device=model.device), output_hidden_states=True)
    hidden = output.hidden_states[-(1 + clip_skip if encoder.normed else 2 + clip_skip)]
    if encoder.normed:
        hidden = getattr(model, "text_model", model).final_layer_norm(hidden)
    if any(weight != 1.0 for weight in part.weights):
        hidden = _emphasized(hidden, (1.0, *part.weights, *[1.0] * (1 + padding)))
    return hidden, output[0]


def _emphasized(hidden: "torch.Tensor", weights: Sequence[float]) -> "torch.Tensor":
    """Multiply hidden states `(1, n, d)` by n weights and restore their mean, unless the new mean is zero."""
    import torch

    wide = hidden.float()
    weighted = wide * torch.tensor(weights, device=wide.device)[None, :, None]
    ratio = wide.mean() / weighted.mean()
    if torch.isfinite(ratio):
        weighted = weighted * ratio
    return weighted.to(hidden.dtype)
