"""Products of block-scaled weights by the kernels, on the emulator: rounded like torch does, and what is refused."""

from dataclasses import replace

import pytest
import torch
from fake_products import EmulatedBlackwell, FakeProducts, fake_product_backends

from mezzotint.dispatch.library import Preparation, Unsupported
from mezzotint.quantization.block_floats import Mxfp8, Nvfp4, rounded_rows
from mezzotint.quantization.layers import QuantizedLinear
from mezzotint.quantization.linear import Branch, QuantizedWeight, linear
from mezzotint.quantization.products.block_scaled import BlockScaledLinear, block_scaled_unsupported
from mezzotint.quantization.products.operation import prepare_input
from mezzotint.quantization.products.self_test import BLOCK_SCALED, run_self_test

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

FORMATS = (Mxfp8(), Nvfp4())


@pytest.fixture(scope="module")
def library():
    return EmulatedBlackwell()


@pytest.fixture(scope="module")
def backends(library):
    """Tested once."""
    return fake_product_backends(library)


def weight_of(format_, n=72, k=256, seed=0):
    drawn = torch.randn(n, k, generator=torch.Generator().manual_seed(seed))
    return QuantizedWeight(format=format_, tensors=format_.quantize(drawn), shape=drawn.shape)


def draw(*size, dtype=torch.float16):
    return torch.randn(size, generator=torch.Generator().manual_seed(3)).to(dtype)


def close(out, wanted):
    return float((out.float() - wanted).norm() / wanted.norm()) < 1e-3


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("format_", FORMATS, ids=lambda each: each.scheme)
def test_x_is_rounded_to_the_format_and_multiplied(library, format_, dtype):
    weight, x, bias = weight_of(format_), draw(2, 35, 256, dtype=dtype), draw(72, dtype=dtype)
    out = BlockScaledLinear(library)(x, weight, bias)
    rows = rounded_rows(format_, x.float().flatten(0, 1))
    wanted = linear(rows, weight, bias.float()).view(2, 35, 72)
    assert out.dtype == dtype
    assert float((out.float() - wanted).norm() / wanted.norm()) < torch.finfo(dtype).eps


@pytest.mark.parametrize("format_", FORMATS, ids=lambda each: each.scheme)
def test_error_is_that_of_rounding(library, format_):
    """Of x alone, beside the weight's own: as the format promises."""
    weight, x = weight_of(format_), draw(64, 256)
    kept = linear(x.float(), weight)
    error = float((BlockScaledLinear(library)(x, weight).float() - kept).norm() / kept.norm())
    assert error < (0.12 if isinstance(format_, Nvfp4) else 0.04)


def test_branches_see_x_as_it_is(library):
    weight, x = weight_of(Nvfp4()), draw(20, 256)
    branch = Branch(down=draw(24, 256) / 16, up=draw(72, 24))
    rows = rounded_rows(Nvfp4(), x.float())
    wanted = linear(rows, weight) + x.float() @ branch.down.float().T @ branch.up.float().T
    assert close(BlockScaledLinear(library)(x, weight, branch=branch), wanted)


@pytest.mark.parametrize("preparation", [Preparation.GELU_TANH, Preparation.GEGLU], ids=lambda each: each.name)
def test_activations_are_part_of_the_rounding(library, preparation):
    weight, x = weight_of(Mxfp8()), draw(20, 512 if preparation is Preparation.GEGLU else 256)
    prepared = prepare_input(x.float(), preparation)
    out = BlockScaledLinear(library)(x, weight, preparation=preparation)
    assert close(out, linear(rounded_rows(Mxfp8(), prepared), weight))


def test_no_rows_and_rows_that_kernels_cannot_read(library):
    weight = weight_of(Nvfp4())
    assert BlockScaledLinear(library)(draw(0, 256), weight).shape == (0, 72)
    x = draw(10, 512)[:, 3:259]
    assert torch.equal(BlockScaledLinear(library)(x, weight), BlockScaledLinear(library)(x.clone(), weight))


@pytest.mark.parametrize(
    ("format_", "shape", "said"),
    [
        (replace(Nvfp4(), dynamic=False), (72, 256), "has no block-scaled products"),
        (Nvfp4(), (72, 192), "192 columns, not a multiple of 128"),
        (Mxfp8(), (70, 256), "70 rows, not a multiple of 8"),
    ],
)
def test_what_has_no_kernel_is_unsupported(library, format_, shape, said):
    assert said in block_scaled_unsupported(format_, shape)
    with pytest.raises(Unsupported, match=said):
        BlockScaledLinear(library)(draw(4, shape[1]), weight_of(format_, *shape))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"x": draw(4, 256, dtype=torch.float32)}, "x is torch.float32"),
        ({"x": torch.empty(4, 256, device="meta")}, "x is on meta"),
        ({"bias": draw(72, dtype=torch.bfloat16)}, "bias is torch.bfloat16"),
        (
            {"branch": Branch(down=draw(16, 256), up=draw(72, 16)), "preparation": Preparation.GELU_TANH},
            "a branch needs x after the activation",
        ),
    ],
)
def test_what_the_kernels_cannot_read_is_unsupported(library, changes, said):
    with pytest.raises(Unsupported, match=said):
        BlockScaledLinear(library)(**{"x": draw(4, 256), "weight": weight_of(Nvfp4())} | changes)


def test_another_number_of_columns_is_a_mistake(library):
    with pytest.raises(ValueError, match="x has 128 columns, and the layer takes 256"):
        BlockScaledLinear(library)(draw(4, 128), weight_of(Nvfp4()))


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_self_test_passes(library, dtype):
    found = run_self_test(BlockScaledLinear(library), torch.device("cpu"), dtype, BLOCK_SCALED)
    assert (found.problem, len(found.passed)) == (None, len(BLOCK_SCALED))


@pytest.mark.slow
def test_self_test_sees_a_wrong_scale(library, monkeypatch):
    class Wrong(EmulatedBlackwell):
        def multiply_block_scaled(self, arguments, device, stream):
            arguments.weight_scale = None
            super().multiply_block_scaled(arguments, device, stream)

    found = run_self_test(BlockScaledLinear(Wrong()), torch.device("cpu"), torch.float16, BLOCK_SCALED)
    assert "the error against torch" in found.problem


# ---- in a job


def layer(format_):
    made = QuantizedLinear(format_, (72, 256), None)
    made.set_tensors(dict(weight_of(format_).tensors))
    return made


@pytest.mark.parametrize("format_", FORMATS, ids=lambda each: each.scheme)
def test_a_job_s_layers_use_the_kernels(library, backends, format_):
    network = torch.nn.ModuleList([layer(format_)])
    session = backends.session("cpu", "float16", [network], lambda *_: None)
    library.block_scaled.clear()
    with torch.no_grad(), session.multiplying():
        network[0](draw(4, 256))
    assert len(library.block_scaled) == 1
    assert (session.ran, session.calls, session.fallbacks) == ("kernels", 1, ())
    assert (session.schemes, session.fused_calls) == ({format_.scheme: 1}, 0)
    session.product(draw(4, 256), weight_of(format_), None, None, Preparation.GELU_TANH)
    assert (session.schemes, session.fused_calls) == ({format_.scheme: 2}, 1)


def test_where_the_card_has_no_such_kernels_torch_keeps_x_and_nothing_is_told():
    told = []
    network = torch.nn.ModuleList([layer(Nvfp4())])
    backends = fake_product_backends(FakeProducts())
    session = backends.session("cpu", "float16", [network], lambda *words: told.append(words))
    with torch.no_grad(), session.multiplying():
        out = network[0](draw(4, 256))
    assert torch.equal(out, linear(draw(4, 256), weight_of(Nvfp4())))
    assert (session.ran, session.calls, session.fallbacks, told) == (None, 0, (), [])


def test_full_precision_is_kept_where_a_file_asks_for_it(backends):
    network = torch.nn.ModuleList([layer(replace(Nvfp4(), dynamic=False))])
    session = backends.session("cpu", "float16", [network], lambda *_: None)
    with torch.no_grad(), session.multiplying():
        network[0](draw(4, 256))
    assert session.calls == 0
