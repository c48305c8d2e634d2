"""A training's attention: by the kernels where both passes passed, and a whole step's gradients with the real ones."""

import statistics
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from backward_installed import PASSED
from emulated_backward import EmulatedBackwardLibrary
from emulated_instances import EmulatedAttention, build_some
from fake_backward import FakeBackward
from fake_kernels import FakeKernels, fake_backends
from tiny_training import TinyTraining

from mezzotint.attention import selection
from mezzotint.dispatch.self_test import SelfTest
from mezzotint.errors import UsageError
from mezzotint.jobs.training.attention import training_attention

STARTER = Path(__file__).parents[4] / "assets/starter/dit"
IMAGES, DRAWS = 2, 6


@pytest.fixture(scope="module")
def tiny(tiny_pixart_folder):
    return TinyTraining(tiny_pixart_folder, images=IMAGES)


def in_dtype(tiny, dtype):
    tiny.model.dtype = dtype
    tiny.network.to(dtype)
    tiny.images = [replace(each, conditioning=cast(each.conditioning, dtype)) for each in tiny.images]
    return tiny


def cast(conditioning, dtype):
    tensors = {name: each.to(dtype) if name == "text" else each for name, each in conditioning.tensors.items()}
    return replace(conditioning, tensors=tensors)


def gradients(tiny, dtype, backends=None, asked="auto", draw=0):
    """The factors' gradients of a step `(n)` in float64, and what ran; the factors' up is not zero."""
    trainer = in_dtype(tiny, dtype).trainer()
    for number, each in enumerate(trainer.adapter.parameters()):
        each.data = torch.randn(each.shape, generator=torch.Generator().manual_seed(number)) * 0.05
    if dtype == torch.float64:
        for each in trainer.adapter.parameters():
            each.data = each.data.double()
    notices = []
    with training_attention(tiny.model, asked, lambda *notice: notices.append(notice), backends) as session:
        assert (tiny.model.attention is None) == (session.used == "sdpa")
        with trainer.adapter.attached():
            for each in trainer._passes(tiny.batch(0, IMAGES), draw):
                trainer._accumulate(each)
    assert tiny.model.attention is None
    found = torch.cat([each.grad.flatten().double() for each in trainer.adapter.parameters()])
    return found, session, notices


def error(found, exact):
    return float((found - exact).norm() / exact.norm())


@pytest.fixture
def emulated(install_backward, monkeypatch):
    """The kernels of the starter's head size; self-tests have other sizes."""
    library = build_some({"bfloat16_32", "backward_bfloat16_32"})
    monkeypatch.setattr(selection, "_self_test", lambda *_, int8: PASSED)
    return EmulatedAttention(library), install_backward(EmulatedBackwardLibrary(library))


@pytest.mark.slow
@pytest.mark.requires_command("g++", "sudo apt-get install g++")
def test_a_step_of_the_starter_has_the_gradients_of_float64(emulated):
    """Self-attention, and attention to captions by their lengths; about as exact as torch's attention in 16 bits.

    Rounding elsewhere in the network makes single draws of noise differ by up to a factor of 2 either way.
    """
    tiny, (forward, backward) = TinyTraining(STARTER, images=IMAGES), emulated
    found, session, notices = gradients(tiny, torch.bfloat16, fake_backends(forward))
    again, _, _ = gradients(tiny, torch.bfloat16, fake_backends(forward))
    layers = 2 * len(tiny.network.transformer_blocks)
    assert (forward.launches, backward.launches) == (2 * layers, 2 * layers)
    assert (session.ran, session.fallbacks, notices) == ("flash", (), [])
    assert torch.equal(found, again)
    ratios = []
    for draw in range(DRAWS):
        mine, plain, exact = (
            gradients(tiny, dtype, backends, asked, draw)[0]
            for dtype, backends, asked in (
                (torch.bfloat16, fake_backends(forward), "auto"),
                (torch.bfloat16, None, "sdpa"),
                (torch.float64, None, "sdpa"),
            )
        )
        ratios.append(error(mine, exact) / error(plain, exact))
    assert max(ratios) <= 3
    assert statistics.geometric_mean(ratios) <= 1.5


def test_captions_are_attended_by_length_and_checkpoints_change_nothing(tiny, install_backward):
    library, forward = install_backward(FakeBackward()), FakeKernels()
    plain, session, _ = gradients(tiny, torch.bfloat16, fake_backends(forward))
    calls = session.calls
    assert session.ran == "flash" and len(library.launches) == calls
    assert [bool(asked.key_lengths) for asked in forward.launches[-calls:]] == [False, True] * (calls // 2)
    tiny.network.enable_gradient_checkpointing()
    tiny.network.train()
    try:
        checkpointed, _, _ = gradients(tiny, torch.bfloat16, fake_backends(forward))
    finally:
        tiny.network.disable_gradient_checkpointing()
        tiny.network.eval()
    assert len(library.launches) == 2 * calls
    assert torch.equal(checkpointed, plain)


def test_kernels_whose_gradients_are_wrong_are_not_used(tiny, install_backward):
    wrong = SelfTest(passed=(), unsupported=(), problem="the self-test failed at a case")
    library = install_backward(FakeBackward(), wrong)
    found, session, notices = gradients(tiny, torch.bfloat16, fake_backends(FakeKernels()))
    assert (session.ran, library.launches) == ("sdpa", [])
    assert "gradients: the self-test failed at a case" in notices[0][1]
    assert torch.equal(found, gradients(tiny, torch.bfloat16, asked="sdpa")[0])


def test_without_a_gpu_it_is_torch_s(tiny):
    _, session, notices = gradients(tiny, torch.float32)
    assert (session.ran, notices) == ("sdpa", [])
    with pytest.raises(UsageError, match="needs an NVIDIA GPU"):
        gradients(tiny, torch.float32, asked="flash")
    assert tiny.model.attention is None
