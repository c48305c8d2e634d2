"""Joints found by ViTPose."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_perception import write_poses

from mezzotint.errors import ModelRefused
from mezzotint.perception.poses import JOINTS, PoseEstimator, open_pose_estimator, view_of


class Pointing(torch.nn.Module):
    """Finds every joint where the image is brightest."""

    def __init__(self):
        super().__init__()
        self.unused = torch.nn.Parameter(torch.zeros(1))

    def forward(self, pixel_values, **_):
        grey = pixel_values.mean(1, keepdim=True)
        return SimpleNamespace(heatmaps=((grey - grey.min()) / (grey.max() - grey.min())).expand(-1, JOINTS, -1, -1))


def _photo(place, size=(90, 120)):
    """A dark photo with a bright spot."""
    across, down = np.meshgrid(np.arange(size[0]), np.arange(size[1]))
    spot = 255 * np.exp(-((across - place[0]) ** 2 + (down - place[1]) ** 2) / 18)
    return Image.fromarray(np.repeat(spot[..., None], 3, axis=2).astype(np.uint8))


@pytest.mark.parametrize("box", [[20, 30, 70, 100], [0, 0, 90, 120], [30, 45, 60, 60]])
def test_joints_are_in_pixels_of_the_image_whatever_the_box(box):
    found = PoseEstimator(network=Pointing(), size=(64, 48)).find(_photo((47, 52)), np.array([box, box], np.float32))
    assert found.points.shape == (2, JOINTS, 2) and np.abs(found.points - (47, 52)).max() < 0.2
    assert found.scores.shape == (2, JOINTS) and found.scores.min() > 0.9


def test_nobody_has_no_joints():
    found = PoseEstimator(network=Pointing(), size=(64, 48)).find(_photo((4, 5)), np.zeros((0, 4), np.float32))
    assert (found.points.shape, found.scores.shape) == ((0, JOINTS, 2), (0, JOINTS))


def test_the_view_is_the_box_with_more_around_it_in_the_network_s_shape():
    left, top, width, height = view_of([10, 20, 30, 100], 0.75)
    assert (width, height) == (75, 100) and (left + width / 2, top + height / 2) == (20, 60)
    assert view_of([0, 0, 150, 100], 0.75)[2:] == (187.5, 250)


def test_it_computes_what_transformers_does_of_the_same_pixels(tmp_path):
    photo, box = _photo((40, 60)), [20.0, 30.0, 70.0, 100.0]
    for experts in (1, 3):
        theirs, ours = write_poses(tmp_path, experts=experts), open_pose_estimator(tmp_path)
        pixels = ours.pixels(photo, view_of(box, 0.75))
        data_set = {"dataset_index": torch.zeros(1, dtype=torch.long)} if experts > 1 else {}
        with torch.inference_mode():
            heatmaps = theirs(pixels, **data_set).heatmaps
        found = ours.find(photo, np.array([box], np.float32))
        assert np.array_equal(found.scores[0], heatmaps[0].flatten(1).amax(1).numpy())


def test_pixels_are_sampled_between_and_black_beyond(tmp_path):
    ours = PoseEstimator(network=Pointing(), size=(3, 3))
    photo = Image.fromarray(np.arange(9, dtype=np.uint8).reshape(3, 3).repeat(3).reshape(3, 3, 3) * 20)
    mean, deviation = 0.485 * 255, 0.229 * 255
    assert np.allclose(ours.pixels(photo, (0, 0, 2, 2))[0, 0] * deviation + mean, np.asarray(photo)[..., 0], atol=1e-3)
    shifted = ours.pixels(photo, (0.5, 1, 2, 2))[0, 0] * deviation + mean
    assert np.allclose(shifted, [[70, 90, 50], [130, 150, 80], [0, 0, 0]], atol=1e-3)


def test_other_joints_and_nan_are_refused(tmp_path):
    write_poses(tmp_path, joints=5)
    with pytest.raises(ModelRefused, match="5 joints"):
        open_pose_estimator(tmp_path)
    with pytest.raises(ModelRefused, match="NaN"):
        PoseEstimator(network=Pointing(), size=(64, 48)).find(Image.new("RGB", (9, 9)), np.array([[0, 0, 9, 9]]))
