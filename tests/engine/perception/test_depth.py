"""Depth maps by Depth Anything, as by transformers' own processing."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_perception import write_depth

from mezzotint.errors import ModelRefused
from mezzotint.perception.depth import SIDE, DepthEstimator, open_depth_estimator


class Saying(torch.nn.Module):
    """Says the same depths of every image."""

    def __init__(self, depths):
        super().__init__()
        self.depths = torch.nn.Parameter(torch.tensor([depths]))

    def forward(self, pixel_values):
        return SimpleNamespace(predicted_depth=self.depths)


def test_it_sees_and_shows_what_transformers_does(tmp_path):
    from transformers import DPTImageProcessorPil

    photo = Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 61, 3), dtype=np.uint8))
    theirs, ours = write_depth(tmp_path), replace(open_depth_estimator(tmp_path), side=70)
    processor = DPTImageProcessorPil(
        size={"height": 70, "width": 70},
        keep_aspect_ratio=True,
        ensure_multiple_of=14,
        image_mean=[0.485, 0.456, 0.406],
        image_std=[0.229, 0.224, 0.225],
    )
    inputs = processor(images=photo, return_tensors="pt")
    assert torch.equal(inputs["pixel_values"], ours.pixels(photo))
    with torch.inference_mode():
        outputs = theirs(**inputs)
    found = processor.post_process_depth_estimation(outputs, target_sizes=[(40, 61)])[0]["predicted_depth"]
    expected = (found - found.min()) / (found.max() - found.min()) * 255
    made = ours.depth_map(photo)
    assert (made.size, made.mode) == (photo.size, "L")
    assert np.abs(np.asarray(made) - expected.numpy()).max() <= 0.501


@pytest.mark.parametrize(("metric", "left"), [(False, 0), (True, 255)])
def test_what_is_near_is_white(metric, left):
    made = np.asarray(
        DepthEstimator(network=Saying([[1.0, 3.0]]), multiple=14, metric=metric).depth_map(Image.new("RGB", (40, 20)))
    )
    assert abs(int(made[0, 0]) - left) < 10 and abs(int(made[0, -1]) - (255 - left)) < 10


def test_nothing_to_tell_apart_is_black_and_nan_an_error():
    photo = Image.new("RGB", (40, 20))
    assert DepthEstimator(network=Saying([[2.0, 2.0]]), multiple=14).depth_map(photo).getextrema() == (0, 0)
    with pytest.raises(ModelRefused, match="NaN"):
        DepthEstimator(network=Saying([[float("nan")]]), multiple=14).depth_map(photo)


@pytest.mark.parametrize(
    ("size", "seen"), [((2000, 1000), (1036, 518)), ((100, 50), (518, 252)), ((9000, 600), (2072, 140))]
)
def test_the_network_sees_a_size_that_it_was_trained_with(size, seen):
    pixels = DepthEstimator(network=Saying([[0.0]]), multiple=14).pixels(Image.new("RGB", size))
    assert pixels.shape == (1, 3, *seen[::-1]) and SIDE % 14 == 0


def test_a_metric_network_says_so(tmp_path):
    write_depth(tmp_path, depth_estimation_type="metric", max_depth=20)
    assert open_depth_estimator(tmp_path).metric
