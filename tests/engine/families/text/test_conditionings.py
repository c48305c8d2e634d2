"""The conditioning of several images as one: nothing is mixed up, and each can be taken out again."""

from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.families.family import Conditioning
from mezzotint.families.pixart.family import PixArt
from mezzotint.families.text.conditionings import at_evaluation, joined, moved, part_of, shape_of
from mezzotint.protocol import Sampling


def said(number: int, *, guided=True, tokens=3) -> Conditioning:
    """Negative prompts are below zero."""
    text = torch.full((1, tokens, 2), float(number + 1))
    pooled = torch.full((1, 2), number + 0.5)
    tensors = {"text": text, "pooled": pooled}
    if guided:
        tensors = {name: torch.cat([-each, each]) for name, each in tensors.items()}
    return Conditioning(guided=guided, sampling=Sampling(guidance_scale=3.0, guidance_rescale=0.0), tensors=tensors)


def same(one: Conditioning, other: Conditioning) -> bool:
    return replace(one, tensors={}) == replace(other, tensors={}) and all(
        torch.equal(one.tensors[name], other.tensors[name]) for name in (*one.tensors, *other.tensors)
    )


def test_all_negative_prompts_come_first():
    text = joined([said(0), said(1), said(2)]).tensors["text"]
    assert text[:, 0, 0].tolist() == [-1, -2, -3, 1, 2, 3]
    assert joined([said(0, guided=False), said(1, guided=False)]).tensors["pooled"][:, 0].tolist() == [0.5, 1.5]


@given(count=st.integers(1, 6), first=st.integers(0, 5), more=st.integers(1, 6), guided=st.booleans())
def test_a_part_is_what_would_have_been_joined_of_it(count, first, more, guided):
    alone = [said(number, guided=guided) for number in range(count)]
    first %= count
    part = slice(first, first + more)
    assert same(part_of(joined(alone), part, count), joined(alone[part]))


def test_what_has_another_shape_or_strength_is_told_apart():
    shapes = [
        shape_of(each)
        for each in (
            said(0),
            said(0, tokens=4),
            said(0, guided=False),
            replace(said(0), sampling=Sampling(guidance_scale=4.0)),
        )
    ]
    assert len(set(shapes)) == 4
    assert shape_of(said(1)) == shapes[0]
    assert same(moved(said(1), torch.device("cpu")), said(1))


def words(length: int, *, told=True) -> Conditioning:
    """As PixArt has them: one word and an end in the negative prompt, so many in the other."""
    mask = torch.zeros(2, 300, dtype=torch.long)
    mask[0, :2], mask[1, :length] = 1, 1
    tensors = {"text": torch.randn(2, 300, 4), "mask": mask}
    if told:
        tensors["lengths"] = torch.tensor([2, length], dtype=torch.int32)
    return Conditioning(guided=True, sampling=Sampling(guidance_scale=3.0, guidance_rescale=0.0), tensors=tensors)


def test_padding_of_all_is_left_out_and_no_word():
    both = PixArt().join([words(5), words(20)])
    assert both.tensors["mask"].shape == (4, 32) and both.tensors["text"].shape == (4, 32, 4)
    assert both.tensors["mask"].sum(dim=1).tolist() == [2, 2, 5, 20] == both.tensors["lengths"].tolist()
    assert PixArt().join([words(300), words(1)]).tensors["text"].shape == (4, 300, 4)


def test_one_image_and_words_between_padding_keep_all_of_it():
    one = words(5)
    assert same(PixArt().join([one]), one)
    assert PixArt().join([words(5, told=False)] * 2).tensors["text"].shape == (4, 300, 4)


def test_prompts_that_change_replace_the_tensors_of_text_alone():
    first = replace(said(0), tensors=said(0).tensors | {"mask": torch.ones(1)}, later=((2, said(1)), (3, said(2))))
    at = [at_evaluation(first, index) for index in range(5)]
    assert [each.tensors["text"][1, 0, 0].item() for each in at] == [1, 1, 2, 3, 3]
    assert all("mask" in each.tensors and each.later == () for each in at)


def test_images_whose_prompts_change_are_joined_at_the_same_steps_only():
    one, other, apart = (
        replace(said(number), later=((step, said(number + 5)),)) for number, step in ((0, 2), (1, 2), (2, 3))
    )
    assert shape_of(one) == shape_of(other) != shape_of(apart)
    assert shape_of(one) != shape_of(said(0))
    together = moved(joined([one, other]), torch.device("cpu"))
    assert at_evaluation(together, 1).tensors["text"][:, 0, 0].tolist() == [-1, -2, 1, 2]
    assert at_evaluation(together, 2).tensors["text"][:, 0, 0].tolist() == [-6, -7, 6, 7]
