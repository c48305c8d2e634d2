"""Maxima of heatmaps between their pixels."""

import numpy as np

from mezzotint.perception.heatmaps import peaks


def test_the_middle_of_a_gaussian_is_found_between_pixels():
    random = np.random.default_rng(0)
    true = np.stack([random.uniform(4, 43, 17), random.uniform(4, 59, 17)], axis=-1)
    down, across = np.mgrid[:64, :48]
    maps = np.stack([0.8 * np.exp(-((across - x) ** 2 + (down - y) ** 2) / 8) for x, y in true]).astype(np.float32)
    places, heights = peaks(maps)
    assert np.abs(places - true).max() < 0.01
    assert ((heights > 0.7) & (heights <= 0.8)).all()


def test_a_flat_or_broken_map_stays_within_a_pixel_of_its_maximum():
    noise = np.random.default_rng(1).normal(size=(5, 8, 6)).astype(np.float32)
    places, _ = peaks(np.concatenate([noise, np.zeros((1, 8, 6), np.float32)]))
    rows, columns = np.divmod(noise.reshape(5, -1).argmax(1), 6)
    assert np.abs(places[:5] - np.stack([columns, rows], axis=-1)).max() <= 1
    assert np.abs(places[5]).max() <= 1
