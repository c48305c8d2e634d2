"""The gradient of what is convolved: torch's own."""

from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st
from quantized_weights import seeded
from torch.nn import functional
from torch.testing import assert_close

from mezzotint.quantization.convolution import input_gradient

PAIRS = st.tuples(st.integers(1, 3), st.integers(1, 3))


@given(
    window=PAIRS,
    stride=PAIRS,
    dilation=PAIRS,
    padding=st.sampled_from([(0, 0), (1, 0), (2, 1), "same", "valid"]),
    groups=st.integers(1, 2),
    size=st.tuples(st.integers(7, 9), st.integers(7, 9)),
)
def test_it_is_torchs_own(window, stride, dilation, padding, groups, size):
    stride = (1, 1) if padding == "same" else stride
    geometry = SimpleNamespace(stride=stride, dilation=dilation, padding=padding, groups=groups)
    x = seeded(2, 2 * groups, *size).double().requires_grad_()
    weight = seeded(3 * groups, 2, *window, seed=1).double()
    y = functional.conv2d(x, weight, None, stride, padding, dilation, groups)
    gradient = seeded(*y.shape, seed=2).double()
    y.backward(gradient)
    assert_close(input_gradient(gradient, weight, x.shape, geometry), x.grad)
