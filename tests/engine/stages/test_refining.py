"""Sizes of what a conditional refiner is given, and of what it makes of it; the rest: `tests/e2e`."""

import pytest

from mezzotint.stages.refining import condition_size, enlarged_size


@pytest.mark.parametrize(
    ("image", "given", "made"),
    [((96, 64), (96, 64), (192, 128)), ((101, 250), (96, 256), (192, 512)), ((1, 3), (16, 16), (32, 32))],
)
def test_an_image_is_given_at_its_size_and_made_at_twice_that(image, given, made):
    assert enlarged_size(image, 16) == made
    assert condition_size(made, 16) == given


def test_of_another_size_half_is_given():
    assert condition_size((208, 1024), 16) == (96, 512)
