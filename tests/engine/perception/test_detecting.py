"""Objects found by RT-DETR, as by transformers' own processing."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from PIL import Image
from tiny_perception import LABELS, write_detector

from mezzotint.errors import ModelRefused
from mezzotint.perception.detecting import Detector, open_detector

_WIDTH, _HEIGHT = 60, 40


@pytest.fixture
def photo():
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (_HEIGHT, _WIDTH, 3), dtype=np.uint8))


class Seeing(torch.nn.Module):
    """Says what it was told to see, with a score for each class."""

    def __init__(self, logits, boxes):
        super().__init__()
        self.unused = torch.nn.Parameter(torch.zeros(1))
        self.seen = SimpleNamespace(logits=torch.tensor([logits]), pred_boxes=torch.tensor([boxes]))

    def forward(self, pixel_values):
        return self.seen


def test_it_finds_what_transformers_finds(tmp_path, photo):
    from transformers import RTDetrImageProcessorPil

    theirs, ours = write_detector(tmp_path), replace(open_detector(tmp_path), side=96)
    processor = RTDetrImageProcessorPil(size={"height": 96, "width": 96})
    inputs = processor(images=photo, return_tensors="pt")
    assert torch.equal(inputs["pixel_values"], ours.pixels(photo))
    with torch.inference_mode():
        outputs = theirs(**inputs)
    expected = processor.post_process_object_detection(outputs, threshold=0.3, target_sizes=[(_HEIGHT, _WIDTH)])[0]
    found = ours.find(photo, least_score=0.3)
    assert np.array_equal(found.scores, expected["scores"].numpy()) and len(found.scores)
    assert found.labels == tuple(LABELS[number] for number in expected["labels"].tolist())
    inside = expected["boxes"].numpy().clip(0, [_WIDTH, _HEIGHT, _WIDTH, _HEIGHT])
    assert np.allclose(found.boxes, inside, atol=1e-4)


def test_boxes_are_in_pixels_within_the_image_best_first(photo):
    network = Seeing([[1.0, -9.0], [-9.0, 3.0], [-9.0, -9.0]], [[0.5, 0.5, 0.5, 0.5], [0.9, 0.5, 0.4, 2.0], [0.0] * 4])
    detector = Detector(network=network, labels=("person", "cat"))
    found = detector.find(photo)
    assert found.labels == ("cat", "person")
    assert np.allclose(found.boxes, [[42, 0, 60, 40], [15, 10, 45, 30]], atol=1e-4)
    assert detector.find(photo, wanted={"person"}).labels == ("person",)
    nothing = detector.find(photo, wanted={"dog"})
    assert (nothing.boxes.shape, nothing.scores.shape, nothing.labels) == ((0, 4), (0,), ())


def test_nan_is_an_error(photo):
    with pytest.raises(ModelRefused, match="NaN"):
        Detector(network=Seeing([[float("nan")]], [[0.5] * 4]), labels=("person",)).find(photo)
