"""Fingerprints: they change if and only if what is trained does."""

from pathlib import Path

import pytest

from mezzotint.training.dataset.records import Dataset


def fingerprint(*images, folder=Path("a"), problems=()):
    return Dataset(folder=folder, images=images, problems=problems).fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"content": "other"},
        {"captions": ("a castle", "a tower")},
        {"captions": ()},
        {"captions": ("a castle ",)},
        {"mask_content": "some"},
        {"repeats": 2},
        {"regularization": True},
    ],
)
def test_it_changes_with_what_is_trained(image_of, change):
    assert fingerprint(image_of(1), image_of(2)) != fingerprint(image_of(1), image_of(2, **change))


@pytest.mark.parametrize("change", [{"path": Path("b/c.png")}, {"caption_file": Path("x")}, {"mask": Path("y")}])
def test_it_does_not_change_with_names(image_of, change):
    assert fingerprint(image_of(1)) == fingerprint(image_of(1, **change), folder=Path("elsewhere"))


def test_it_does_not_depend_on_the_order_but_on_the_number(image_of):
    one, two = image_of(1), image_of(2)
    assert fingerprint(one, two) == fingerprint(two, one)
    assert len({fingerprint(), fingerprint(one), fingerprint(one, one), fingerprint(one, two)}) == 4
