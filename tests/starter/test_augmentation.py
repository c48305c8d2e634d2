"""Faults are small, and the same for the same random numbers."""

import random

import numpy as np
import pytest
from PIL import Image

from mezzotint.benchmarks.postcards.painting import paint
from mezzotint.benchmarks.postcards.world import training_scene
from mezzotint_starter import augmentation
from mezzotint_starter.augmentation import augment


@pytest.fixture
def image():
    return paint(training_scene(0, 1), 32)


def test_a_fault_is_the_same_for_the_same_numbers(image):
    faulty = [augment(image, random.Random(seed)) for seed in (5, 5, *range(6, 12))]
    assert faulty[0] == faulty[1]
    assert len({each.tobytes() for each in faulty}) == 7
    assert {(each.size, each.mode) for each in faulty} == {((32, 32), "RGB")}


def test_faults_are_small(image):
    drawn = np.asarray(paint(training_scene(0, 1), 128), dtype=float)
    for seed in range(20):
        faulty = np.asarray(augment(Image.fromarray(drawn.astype(np.uint8)), random.Random(seed)), dtype=float)
        assert np.abs(faulty.mean(axis=(0, 1)) - drawn.mean(axis=(0, 1))).max() < 20
        assert np.median(np.abs(faulty - drawn)) < 20


@pytest.mark.parametrize(("right", "down"), [(3, 0), (0, -3), (-2, 1)])
def test_a_shift_moves_every_pixel_and_repeats_the_edge(image, right, down):
    before, after = np.asarray(image), np.asarray(augmentation._shifted(image, right, down))
    rows = np.clip(np.arange(32) - down, 0, 31)
    columns = np.clip(np.arange(32) - right, 0, 31)
    assert (after == before[rows][:, columns]).all()


def test_without_luck_an_image_is_only_shifted(image, monkeypatch):
    monkeypatch.setattr(augmentation, "SHARE", 0)
    monkeypatch.setattr(augmentation, "SHIFT", 0)
    assert augment(image, random.Random(0)) == image
