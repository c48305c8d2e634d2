"""Which norms the kernels know, and which gates."""

import pytest
import torch
from diffusers.models.normalization import FP32LayerNorm, RMSNorm
from diffusers.models.transformers.transformer_krea2 import Krea2RMSNorm
from quantized_weights import seeded
from torch import nn

from mezzotint.dispatch.library import Preparation
from mezzotint.quantization.fusion.around import Around, Ending, Norm

X = seeded(2, 5, 64)


@pytest.mark.parametrize(
    ("module", "preparation"),
    [
        (nn.LayerNorm(64), Preparation.LAYER_NORM),
        (nn.RMSNorm(64, eps=1e-5), Preparation.RMS_NORM),
        (RMSNorm(64, eps=1e-5), Preparation.RMS_NORM),
        (nn.RMSNorm(64), None),  # its epsilon depends on the format of x
        (FP32LayerNorm(64), None),
        (nn.LayerNorm(64).half(), None),
        (nn.Identity(), None),
    ],
    ids=str,
)
def test_norms_of_the_kernels(module, preparation):
    norm = Norm(module=module)
    if isinstance(module, nn.Identity):
        module.eps = 1e-5
    assert norm.preparation(X) is preparation
    if preparation is not None:
        assert norm.epsilon == 1e-5
        assert norm.plain(X).equal(module(X))


@pytest.mark.parametrize(
    ("shape", "known"), [((2, 1, 64), True), ((1, 1, 64), True), ((2, 5, 64), False), ((64,), False)]
)
def test_values_of_a_batch(shape, known):
    values = seeded(*shape)
    assert (Norm(module=nn.LayerNorm(64), gain=values).preparation(X) is not None) is known
    assert (Norm(module=nn.LayerNorm(64), shift=values).preparation(X) is not None) is known
    assert Ending(residual=X, gate=values).is_known is known
    assert not Ending(residual=X, gate=values.half()).is_known


def test_nothing_around():
    assert not Around().is_something
    assert Around(norm=Norm(module=nn.LayerNorm(64))).is_something
    assert Around(ending=Ending(residual=X)).is_something


def test_a_norm_with_a_bias_that_the_kernels_do_not_take_from_it():
    module = RMSNorm(64, eps=1e-5, bias=True)
    torch.nn.init.normal_(module.bias)
    assert Norm(module=module).bias is module.bias


@pytest.mark.parametrize("gain", [None, seeded(2, 1, 64)], ids=["no gain", "a gain"])
def test_a_weight_that_is_stored_less_1_is_part_of_the_gain(gain):
    module = Krea2RMSNorm(64)
    torch.nn.init.normal_(module.weight)
    norm = Norm(module=module, gain=gain, shift=seeded(2, 1, 64, seed=1))
    assert (norm.preparation(X), norm.weight) == (Preparation.RMS_NORM, None)
    by, shift = norm.modulation(X)
    found = torch.nn.functional.rms_norm(X, (64,), eps=norm.epsilon) * (1 + by) + shift
    assert torch.allclose(found, norm.plain(X), atol=1e-5)
    half = norm.modulation(X.half())
    assert half[0].dtype == torch.float16 and half[0].equal(by.half())
