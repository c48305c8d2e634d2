"""Encodes text that contains images with Qwen2.5-VL (arXiv 2502.13923)."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from mezzotint.families.family import Network

if TYPE_CHECKING:
    import torch
    from PIL import Image

_LEAST, _MOST = 56 * 56, 28 * 28 * 16384  # pixels of an image: Qwen2.5-VL-7B-Instruct's preprocessor_config.json


def encoded_with(encoder: Network, ids: Sequence[int], place: int, images: "Sequence[Image.Image]") -> "torch.Tensor":
    """The last hidden states `(1, n, d)` of a text; in its token ids, the first ones equal to `place` are the images.

    Each of these is expanded to one token per merged patch of its image; surplus ones, as in a prompt, are dropped.
    """
    import torch

    vision = encoder.config.vision_config
    looked = _looked(vision, images) if images else None
    counts = [] if looked is None else (looked.image_grid_thw.prod(dim=-1) // vision.spatial_merge_size**2).tolist()
    read = torch.tensor([list(_with_places(ids, place, counts))], device=encoder.device)
    with torch.no_grad():
        seen = {} if looked is None else _seen(encoder, read, place, looked.to(encoder.device))
        states: torch.Tensor = encoder(input_ids=read, use_cache=False, **seen).last_hidden_state
    return states


def _looked(vision: Network, images: "Sequence[Image.Image]") -> Any:  # noqa: ANN401  transformers' BatchFeature
    """Patches of all images and their counts, from the processor that does not need torchvision."""
    from transformers import Qwen2VLImageProcessorPil

    processor = Qwen2VLImageProcessorPil(
        size={"shortest_edge": _LEAST, "longest_edge": _MOST},
        patch_size=vision.patch_size,
        temporal_patch_size=vision.temporal_patch_size,
        merge_size=vision.spatial_merge_size,
    )
    return processor(images=list(images), return_tensors="pt")


def _with_places(ids: Sequence[int], place: int, counts: Sequence[int]) -> Iterator[int]:
    left = iter(counts)
    for each in ids:
        if each == place:
            yield from [place] * next(left, 0)
        else:
            yield each


def _seen(encoder: Network, read: "torch.Tensor", place: int, looked: Any) -> dict[str, Any]:  # noqa: ANN401
    """Encoder inputs for a text with images, including the position ids of their tokens.

    Without token types, transformers 5 treats all tokens as text; diffusers 0.42 does not pass them, which changes
    images (https://github.com/huggingface/diffusers/issues/14194) and is not how the model was trained.
    """
    encoder.config.image_token_id = place  # not in the model's files
    is_image, mask = read == place, read.new_ones(read.shape)
    places, _ = encoder.get_rope_index(
        read, mm_token_type_ids=is_image.int(), image_grid_thw=looked.image_grid_thw, attention_mask=mask
    )
    return {
        "attention_mask": mask,
        "position_ids": places,
        "pixel_values": looked.pixel_values,
        "image_grid_thw": looked.image_grid_thw,
    }
