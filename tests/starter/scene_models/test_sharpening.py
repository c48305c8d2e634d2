import torch
from drawn_things import small_source

from mezzotint_starter.scene_models import sharpening
from mezzotint_starter.scene_models.sharpening import sharpen


def test_the_decoder_learns_from_crops_with_features_of_another_classifier(tmp_path, monkeypatch):
    seen = {}

    def train_decoder(network, work, *, drawn, perceptual, **_):
        seen.update(images=drawn(0, slice(None, None, 2)), again=drawn(0, slice(None)), weight=perceptual.weight)
        seen["distance"] = perceptual.perception(seen["images"], -seen["images"])

    monkeypatch.setattr(sharpening, "train_decoder", train_decoder)
    monkeypatch.setattr("mezzotint_starter.scene_models.scene_judge_training.BATCH", 1)
    sharpen(None, small_source(), tmp_path, perception_steps=1, steps=1, device="cpu", parts=1)
    assert seen["images"].shape == (2, 3, 128, 128)
    assert torch.equal(seen["again"][::2], seen["images"])
    assert seen["distance"] > 0
    assert (tmp_path / "perception.safetensors").exists()
