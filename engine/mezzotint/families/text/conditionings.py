"""Joins the conditionings of several images, and extracts parts of the result."""

from collections.abc import Hashable, Sequence
from dataclasses import replace

import torch

from mezzotint.families.family import Conditioning

TEXT = "text"  # the conditioning tensor whose rows may differ in length


def shape_of(conditioning: Conditioning) -> Hashable:
    """A key that is equal for conditionings that can be joined: different lengths or masks have different shapes."""
    tensors = tuple(
        (name, _joinable(name, each, conditioning), each.dtype) for name, each in sorted(conditioning.tensors.items())
    )
    later = tuple((first, shape_of(each)) for first, each in conditioning.later)
    return conditioning.guided, conditioning.sampling, bool(conditioning.lengths), tensors, later


def joined(conditionings: Sequence[Conditioning]) -> Conditioning:
    """Join the conditionings of n images, with tensors of the same shape: negative prompts first, then prompts."""
    first = conditionings[0]
    if len(conditionings) == 1:
        return first
    halves = 2 if first.guided else 1
    longest = max((max(each.lengths) for each in conditionings if each.lengths), default=0)
    padded = [_padded(each, longest) for each in conditionings]
    tensors = {
        name: torch.cat([each[name].chunk(halves)[half] for half in range(halves) for each in padded])
        for name in first.tensors
    }
    lengths = tuple(length for half in range(halves) for each in conditionings for length in _half(each, half, halves))
    rows = zip(*(each.later for each in conditionings), strict=True)  # of one shape, so they begin at the same steps
    later = tuple((each[0][0], joined([one for _, one in each])) for each in rows)
    return replace(first, tensors=tensors, lengths=lengths, later=later)


def at_evaluation(conditioning: Conditioning, index: int) -> Conditioning:
    """The conditioning at an evaluation of a stage, from 0: prompts that change replace the tensors of the first."""
    now = [each for first, each in conditioning.later if first <= index][-1:]
    tensors = conditioning.tensors | (now[0].tensors if now else {})
    return replace(conditioning, tensors=tensors, lengths=(now or [conditioning])[0].lengths, later=())


def with_regions(base: Conditioning, others: Sequence[Conditioning]) -> Conditioning:
    """The conditioning of an image, with the texts of the prompts of its regions, and their masks, after its own."""
    if not others:
        return base
    every = [base, *others]
    rows = {
        name: torch.cat([each.tensors[name] for each in every], 1) for name in (TEXT, "mask") if name in base.tensors
    }
    tensors = {name: each for name, each in base.tensors.items() if name != "lengths"}  # of one text alone
    return replace(base, tensors=tensors | rows, spans=tuple(each.tensors[TEXT].shape[1] for each in every))


def part_of(conditioning: Conditioning, part: slice, images: int) -> Conditioning:
    """The conditioning of some of the images that it was joined from."""
    halves = [slice(half, half + images) for half in ((0, images) if conditioning.guided else (0,))]
    tensors = {name: torch.cat([each[half][part] for half in halves]) for name, each in conditioning.tensors.items()}
    lengths = tuple(length for half in halves for length in conditioning.lengths[half][part])
    return replace(conditioning, tensors=tensors, lengths=lengths)


def half_of(conditioning: Conditioning, half: int) -> Conditioning:
    """The conditioning of all negative prompts (0) or of all prompts (1)."""
    tensors = {name: each.chunk(2)[half] for name, each in conditioning.tensors.items()}
    prompted = half_of(conditioning, 1) if conditioning.controls and not half else None
    lengths = _half(conditioning, half, 2)
    return replace(conditioning, guided=False, tensors=tensors, lengths=lengths, prompted=prompted)


def _half(conditioning: Conditioning, half: int, halves: int) -> tuple[int, ...]:
    rows = len(conditioning.lengths) // halves
    return conditioning.lengths[half * rows : (half + 1) * rows]


def _joinable(name: str, tensor: torch.Tensor, conditioning: Conditioning) -> tuple[int, ...]:
    """Shape of a tensor, without the text length if padding can be masked."""
    shape = tuple(tensor.shape)
    return (shape[0], *shape[2:]) if conditioning.lengths and name == TEXT else shape


def _padded(conditioning: Conditioning, length: int) -> dict[str, torch.Tensor]:
    text = conditioning.tensors.get(TEXT)
    if not conditioning.lengths or text is None or text.shape[1] >= length:
        return conditioning.tensors
    shape = (text.shape[0], length - text.shape[1], *text.shape[2:])
    return {**conditioning.tensors, TEXT: torch.cat([text, text.new_zeros(shape)], dim=1)}


def moved(conditioning: Conditioning, device: torch.device) -> Conditioning:
    """The conditioning on another device; what several steps share stays shared."""
    known = {id(each): moved(each, device) for _, each in conditioning.later}
    tensors = {name: each.to(device) for name, each in conditioning.tensors.items()}
    return replace(
        conditioning, tensors=tensors, later=tuple((first, known[id(each)]) for first, each in conditioning.later)
    )
