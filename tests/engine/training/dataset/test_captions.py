"""Captions as they are trained: triggers, shuffled parts, dropout."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mezzotint.training.dataset.captions import CaptionOptions, caption_for
from mezzotint.training.dataset.records import TrainingImage


def one(image, seed=1, step=0, **options):
    return caption_for(image, CaptionOptions(**options), seed=seed, step=step)


def many(image, count=400, **options):
    return [one(image, step=step, **options) for step in range(count)]


def test_a_caption_stays_as_it_is(image_of):
    assert one(image_of(captions=("a red  castle, stone",))) == "a red  castle, stone"


@pytest.mark.parametrize(
    ("caption", "text"),
    [
        ("a castle", "zibble, a castle"),
        ("a zibble by the sea", "a zibble by the sea"),
        ("A Zibble", "A Zibble"),
        ("zibbles", "zibble, zibbles"),  # only as a word of its own
        ("a [trigger] by the sea", "a zibble by the sea"),
        ("", "zibble"),
    ],
)
def test_the_trigger_is_in_every_caption(image_of, caption, text):
    assert one(image_of(captions=(caption,) if caption else ()), trigger="zibble") == text


def test_the_trigger_need_not_be_made_of_letters(image_of):
    assert one(image_of(captions=("a (z+)",)), trigger="(z+)") == "a (z+)"


def test_the_prefix_comes_first(image_of):
    assert one(image_of(), prefix="a photo of", trigger="zibble") == "a photo of zibble, a castle"
    assert one(image_of(captions=()), prefix="a photo") == "a photo"


def test_regularization_images_get_no_trigger(image_of):
    image = image_of(captions=("a [trigger] castle",), regularization=True)
    assert one(image, prefix="a photo of", trigger="zibble") == "a castle"


def test_a_placeholder_without_trigger_disappears(image_of):
    assert one(image_of(captions=("a [trigger] castle",))) == "a castle"


parts = st.lists(st.sampled_from(["a", "b c", "d", "red  e"]), min_size=1, max_size=8)


@given(parts, st.integers(0, 9), st.integers(0, 2**40), st.integers(0, 10**6))
def test_shuffling_keeps_every_part_and_the_first_ones_in_place(words, keep, seed, step):
    image = TrainingImage(
        path=Path("a.png"), width=1, height=1, captions=(", ".join(words),), caption_file=None, mask=None, content="a"
    )
    text = one(image, seed, step, shuffle=True, keep_tokens=keep)
    assert Counter(text.split(", ")) == Counter(words)
    assert text.split(", ")[:keep] == words[:keep]
    assert text == one(image, seed, step, shuffle=True, keep_tokens=keep)


def test_every_order_and_every_caption_occurs(image_of):
    image = image_of(captions=("a, b, c", "d"))
    assert len(set(many(image, shuffle=True))) == 7


def test_the_share_of_dropped_captions(image_of):
    dropped = many(image_of(), 4000, dropout=0.1, trigger="zibble", prefix="a").count("")
    assert 330 < dropped < 470
    assert set(many(image_of(), dropout=1.0)) == {""}
    assert set(many(image_of())) == {"a castle"}


def test_images_draw_independently(image_of):
    drawn = [tuple(bool(text) for text in many(image_of(number), 64, dropout=0.5)) for number in range(3)]
    assert len(set(drawn)) == 3
    assert drawn[0] != tuple(bool(one(image_of(0), seed=2, step=step, dropout=0.5)) for step in range(64))
