"""Control images made by networks, and what is said where there is none."""

from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image
from tiny_perception import write_depth, write_detector, write_poses

from mezzotint.errors import ImageRefused, UnknownModel
from mezzotint.images.control.methods import METHODS
from mezzotint.perception.depth import open_depth_estimator
from mezzotint.perception.preparing import ControlPreparation


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("networks")
    write_depth(folder / "depth")
    write_detector(folder / "detection", ("person", "person"))
    write_poses(folder / "pose")
    return folder


class Hosting:
    """Notes which networks were hosted."""

    def __init__(self, error=None):
        self.seen, self.error = [], error

    @contextmanager
    def __call__(self, network):
        self.seen.append(type(network).__name__)
        if self.error is not None:
            raise self.error
        yield


def _photo(seed=0):
    return Image.fromarray(np.random.default_rng(seed).integers(0, 255, (40, 60, 3), dtype=np.uint8))


def _preparation(networks):
    return ControlPreparation(lambda purpose, label=None: networks / purpose)


def test_depth_is_that_of_its_network_and_is_kept(networks):
    preparation, host = _preparation(networks), Hosting()
    made = preparation.prepared(_photo(), "depth", host, lambda: False)
    assert made == open_depth_estimator(networks / "depth").depth_map(_photo()).convert("RGB")
    assert preparation.prepared(_photo(), "depth", host, lambda: False) is made
    assert host.seen == ["DepthAnythingForDepthEstimation"]


def test_a_pose_takes_both_networks_and_people(networks, monkeypatch):
    host = Hosting()
    made = _preparation(networks).prepared(_photo(), "pose", host, lambda: False)
    assert (made.size, made.mode) == ((60, 40), "RGB")
    assert host.seen == ["RTDetrV2ForObjectDetection", "VitPoseForPoseEstimation"]
    monkeypatch.setattr("mezzotint.perception.preparing.PERSON", "dog")
    with pytest.raises(ImageRefused, match="nobody is found in the image.*preprocess=none"):
        _preparation(networks).prepared(_photo(), "pose", host, lambda: False)


def test_without_room_on_the_device_it_is_done_on_the_cpu(networks):
    expected = _preparation(networks).prepared(_photo(), "depth", Hosting(), lambda: False)
    short = Hosting(RuntimeError("CUDA out of memory"))
    assert _preparation(networks).prepared(_photo(), "depth", short, lambda: False) == expected
    with pytest.raises(ValueError, match="other"):
        _preparation(networks).prepared(_photo(), "depth", Hosting(ValueError("other")), lambda: False)


def test_arithmetic_takes_no_network():
    def find(purpose, label=None):
        raise UnknownModel(f"no network for {purpose}")

    preparation = ControlPreparation(find)
    for how in METHODS:
        assert preparation.prepared(_photo(), how, Hosting(), lambda: False) == METHODS[how](_photo())
        assert preparation.networks(how) == () and preparation.needed_bytes(how) == 0
    with pytest.raises(UnknownModel, match="no network for detection"):
        preparation.networks("pose")


def test_what_they_need_is_weights_and_activations(networks):
    preparation = _preparation(networks)
    weights = {purpose: (networks / purpose / "model.safetensors").stat().st_size for purpose in ("depth", "pose")}
    assert weights["depth"] < preparation.needed_bytes("depth") < weights["depth"] + (1 << 28)
    assert preparation.needed_bytes("pose") > 1 << 28  # of the detector, which is not traced


def test_the_latest_are_kept(networks, monkeypatch):
    made = []
    monkeypatch.setattr("mezzotint.perception.preparing._KEPT", 1)
    monkeypatch.setattr("mezzotint.perception.preparing._depth", lambda image, *_: made.append(image) or image)
    preparation = _preparation(networks)
    for seed in (0, 1, 1, 0):
        preparation.prepared(_photo(seed), "depth", Hosting(), lambda: False)
    assert len(made) == 3
