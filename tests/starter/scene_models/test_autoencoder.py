import pytest
import torch
from diffusers import AutoencoderKL
from drawn_things import small_source

from mezzotint_starter.scene_models.autoencoder import colour_error, psnr_of_things, step_images, train_autoencoder
from mezzotint_starter.scene_models.source import image_tensor
from mezzotint_starter.state import load_numbers

WORK = "autoencoder.safetensors"


def tiny_network():
    torch.manual_seed(0)
    return AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        block_out_channels=(4, 4, 4, 4),
        layers_per_block=1,
        latent_channels=8,
        norm_num_groups=2,
        mid_block_add_attention=False,
    )


def test_crops_are_small_first_and_whole_images_come_last():
    source = small_source()
    shapes = [tuple(step_images(source, step, 10).shape) for step in (0, 6, 7, 8)]
    assert shapes == [(16, 3, 64, 64), (16, 3, 64, 64), (4, 3, 128, 128), (1, 3, 256, 256)]


def test_the_measure_is_of_whole_images_and_of_things():
    source = small_source()
    drawn = [image_tensor(source.painter.paint(source.judging(index))) for index in range(2)]
    assert psnr_of_things(source, drawn) > (100.0, 100.0)
    whole, things = psnr_of_things(source, [each + 0.2 for each in drawn])
    assert whole == pytest.approx(things) == pytest.approx(20.0, abs=0.1)


def test_training_goes_on_where_it_was_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr("mezzotint_starter.scene_models.autoencoder.BATCH", 1)
    monkeypatch.setattr("mezzotint_starter.scene_models.autoencoder.LARGE", ((64, 1),))

    def trained(steps, work):
        network = tiny_network()
        train_autoencoder(network, small_source(), work, steps=steps, device="cpu", measured=2)
        return network.decoder.conv_out.weight

    whole = trained(2, tmp_path / "whole")
    trained(1, tmp_path / "parts")
    resumed = trained(2, tmp_path / "parts")
    assert load_numbers(tmp_path / "parts" / WORK) == {"step": 2}
    assert (tmp_path / "parts" / f"{WORK}.previous").exists()
    assert torch.allclose(whole, resumed, atol=1e-3)


def test_the_error_of_colours_is_apart_from_that_of_lightness():
    images = torch.zeros(1, 3, 2, 2)
    redder = images + torch.tensor([0.3, 0.0, 0.0]).view(1, 3, 1, 1)
    assert colour_error(images + 0.3, images).item() == pytest.approx(0, abs=1e-6)
    assert colour_error(redder, images).item() > 0.1
