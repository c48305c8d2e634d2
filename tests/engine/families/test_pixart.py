"""PixArt's words: how many there are, where padding follows them."""

import torch

from mezzotint.families.pixart.family import _lengths


def test_words_before_padding_are_counted():
    lengths = _lengths(torch.tensor([[1, 1, 0, 0], [1, 1, 1, 1]]))
    assert lengths.tolist() == [2, 4] and lengths.dtype == torch.int32


def test_padding_between_words_has_no_length():
    assert _lengths(torch.tensor([[1, 0, 1, 0], [1, 1, 1, 1]])) is None
    assert _lengths(torch.tensor([[0, 1, 1, 1]])) is None
