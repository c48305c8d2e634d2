"""Draws by key: reproducible, and fair."""

from collections import Counter

from mezzotint.training.dataset.draws import generator, shuffled


def test_a_key_always_draws_the_same():
    assert generator("caption", 7, 3).random() == 0.3136648175156832
    assert generator("caption", 7, 3).random() != generator("caption", 73).random()


def test_every_order_is_as_likely():
    counts = Counter(tuple(shuffled("abc", generator(number))) for number in range(6000))
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())
