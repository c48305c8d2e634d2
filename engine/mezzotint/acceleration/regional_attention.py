"""Regional prompts: each image token attends to the text of its own region, and its outputs are blended by the boxes.

In cross-attention (U-Nets, PixArt, Sana) a layer is called once for each prompt, with the tokens of that prompt alone.
In joint attention (FLUX.1, Stable Diffusion 3) the image's tokens attend to one another and to the text of their own
region; the text of a region attends to itself and to the image. A prompt without a share in a token is never among its
keys, and where one prompt has the whole image, the calls are those of that prompt alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Any, TypeAlias

import torch
from PIL import Image
from torch import Tensor, nn

from mezzotint.acceleration.image_attention import of_transformer, replacing_attention
from mezzotint.acceleration.sparse_attention import sizes_of
from mezzotint.acceleration.trunks import JOINT, TRUNKS, Size
from mezzotint.attention.masks import NO_MASKS, Masks
from mezzotint.attention.reduction import Grid
from mezzotint.attention.session import Attend, AttentionSession
from mezzotint.values.regions import RegionRef

Layer: TypeAlias = Any  # diffusers.models.attention_processor.Attention, which has no type annotations

_HALVES = 2  # conditional and unconditional, which may run one after the other


@contextmanager
def attending_by_regions(
    networks: Iterable[nn.Module],
    session: AttentionSession,
    regions: Sequence[RegionRef],
    spans: Sequence[int],
    size: Size,
    masks: Sequence[Image.Image | None] = (),
) -> Iterator[None]:
    """Follow the prompts of regions in this context.

    `spans`: text tokens of the image's own prompt and of each region's, in a row; `size`: as for sparse attention;
    `masks`: "L", of the regions that have one.
    """
    networks = list(networks) if regions else []
    layers: list[Layer] = [layer for network in networks for layer in network.modules() if _is_cross(layer)]
    before = [layer.processor for layer in layers]
    joint = [network for network in networks if type(network).__name__ in JOINT]
    sizes = {height * width: (height, width) for network in networks for height, width in sizes_of(network, size)}
    parts = cache(lambda tokens: shares(regions, sizes[tokens], masks))
    texts = _Texts(list(spans))
    for layer in layers:
        layer.processor = _ByRegions(layer.processor, parts, texts)
    try:
        with _joint(joint, session, parts, tuple(spans), size):
            yield
    finally:
        for layer, processor in zip(layers, before, strict=True):
            layer.processor = processor


def shares(regions: Sequence[RegionRef], size: Size, masks: Sequence[Image.Image | None] = ()) -> Tensor:
    """The part `(1 + regions, height * width)` that each prompt has in each token, in sum 1; the first is the image's.

    A token belongs to the boxes that its centre is in, and to masks by their mean there; overlapping ones share it.
    """
    rows, columns = ((torch.arange(side) + 0.5) / side for side in size)
    pairs = zip(regions, masks or [None] * len(regions), strict=True)
    inside = (_inside(region, rows, columns) if mask is None else _grey(mask, size) for region, mask in pairs)
    parts = torch.stack([region.weight * part for region, part in zip(regions, inside, strict=True)])
    total = parts.sum(0, keepdim=True)
    return torch.cat([(1 - total).clamp(min=0), parts / total.clamp(min=1)]).flatten(1)


def _inside(region: RegionRef, rows: Tensor, columns: Tensor) -> Tensor:
    left, top, width, height = region.box
    down, across = (rows >= top) & (rows < top + height), (columns >= left) & (columns < left + width)
    return (down[:, None] & across[None]).float()


def _grey(mask: Image.Image, size: Size) -> Tensor:
    small = mask.resize((size[1], size[0]), Image.Resampling.BOX)
    return torch.frombuffer(bytearray(small.tobytes()), dtype=torch.uint8).view(size).float() / 255


# ---- cross-attention


def _is_cross(layer: Layer) -> bool:
    return bool(getattr(layer, "is_cross_attention", False)) and hasattr(layer, "processor")


class _Texts:
    """Divides the text of all prompts, once for all layers and steps: into copies, in memory as each would be alone."""

    def __init__(self, spans: list[int]) -> None:
        self.spans = spans
        self._kept: list[tuple[Tensor, tuple[Tensor, ...]]] = []

    def of(self, whole: Tensor) -> tuple[Tensor, ...]:
        """The text `(b, span, d)` of each prompt."""
        for known, parts in self._kept:
            if whole.is_set_to(known):
                return parts
        parts = tuple(part.clone(memory_format=torch.contiguous_format) for part in self.split(whole, 1))
        self._kept = [*self._kept[1 - _HALVES :], (whole, parts)]
        return parts

    def split(self, whole: Tensor, dim: int) -> Sequence[Tensor]:
        """Divide a tensor by prompts."""
        return torch.split(whole, self.spans, dim=dim)


class _ByRegions:
    """A cross-attention layer's processor, called for each prompt."""

    def __init__(self, plain: Callable[..., Tensor], parts: Callable[[int], Tensor], texts: _Texts) -> None:
        self._plain, self._parts, self._texts = plain, parts, texts

    def __call__(
        self,
        attn: Layer,
        hidden_states: Tensor,
        encoder_hidden_states: Tensor,
        attention_mask: Tensor | None = None,
    ) -> Tensor:
        """Map tokens `(b, n, c)` to the same shape; the encoder's are those of all prompts in a row."""
        texts: Sequence[Tensor] = self._texts.of(encoder_hidden_states)
        masks: Sequence[Tensor | None] = [None] * len(texts)
        if attention_mask is not None:
            masks = self._texts.split(attention_mask, -1)
        made: Tensor | None = None
        for part, text, mask in zip(self._parts(hidden_states.shape[1]), texts, masks, strict=True):
            if not bool(part.any()):
                continue
            one = self._plain(attn, hidden_states, encoder_hidden_states=text, attention_mask=mask)
            one = one if bool((part == 1).all()) else one * part.to(one)[:, None]
            made = one if made is None else made + one
        if made is None:
            raise RuntimeError("no prompt has a share in the image")
        return made


# ---- joint attention


@contextmanager
def _joint(
    networks: Sequence[nn.Module],
    session: AttentionSession,
    parts: Callable[[int], Tensor],
    spans: tuple[int, ...],
    size: Size,
) -> Iterator[None]:
    if not networks:
        yield
        return
    (network,) = networks  # a stage has one denoiser
    method = partial(attend_by_regions, parts=parts, spans=spans, text_first=TRUNKS[type(network).__name__].text_first)
    with replacing_attention(network, session, of_transformer(network), method, [size]):
        yield


def attend_by_regions(
    attend: Attend,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    masks: Masks,
    scale: float | None,
    *,
    grid: Grid,
    parts: Callable[[int], Tensor],
    spans: tuple[int, ...],
    text_first: bool,
) -> Tensor:
    """Attention `(b, h, n, d)` of text and image; of image tokens alone it is as always."""
    if k.shape[2] == grid.stop - grid.start:
        return attend(q, k, v, masks, scale)
    if masks is not NO_MASKS:
        raise ValueError("regional prompts do not go with masks")
    made = torch.zeros_like(q, memory_format=torch.contiguous_format)
    begin = (grid.start if text_first else k.shape[2]) - sum(spans)
    for part, span in zip(parts(grid.stop - grid.start), spans, strict=True):
        text = torch.arange(begin, begin + span)
        begin += span
        image = grid.start + part.nonzero()[:, 0]
        queries, keys = (_in_order(text, each, text_first) for each in (image, torch.arange(grid.start, grid.stop)))
        share = _in_order(torch.ones(span), part[part > 0], text_first).to(q)
        if bool(part.any()):
            found = attend(_taken(q, queries), _taken(k, keys), _taken(v, keys), masks, scale)
            made.index_add_(2, queries.to(q.device), found.to(q.dtype) * share[:, None])
    return made


def _in_order(text: Tensor, image: Tensor, text_first: bool) -> Tensor:
    return torch.cat([text, image] if text_first else [image, text])


def _taken(x: Tensor, index: Tensor) -> Tensor:
    return x.index_select(2, index.to(x.device))
