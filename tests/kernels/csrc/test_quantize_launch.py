"""What a quantization asks of CUDA: the launch as a stub of the runtime has it (tests/plugins/launch_build.py)."""

import pytest
from launch_cases import DEVICE, QUANTIZE, STREAM, WELL, queue_rows
from quantize_arguments import quantize_args
from stub_cuda import CARDS

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


@pytest.mark.parametrize("case", QUANTIZE)
def test_rows_are_dealt_out_to_blocks(cuda, case):
    assert queue_rows(cuda, case) == []


@pytest.mark.parametrize("card", [card for card in CARDS if card != 100])
def test_it_is_the_same_on_every_card(cuda, card):
    assert queue_rows(cuda, "narrow rows", CARDS[card]) == []


def test_nothing_is_quantized_for_products_that_there_are_not(cuda):
    (line, *_) = queue_rows(cuda, "narrow rows", CARDS[100])
    assert "no quantized rows on architecture 100, where torch's products of 16 bits are faster" in line
    assert cuda.launches == []


def test_every_preparation_and_format_has_a_kernel_of_its_own(cuda):
    for preparation in range(6):
        for dtype in range(2):
            changes = {} if preparation in {1, 2} else {"norm_weight": None, "norm_bias": None}
            for bits in (8, 4):
                args = quantize_args(preparation=preparation, dtype=dtype, bits=bits, x_stride=256, **changes)
                assert cuda.quantize(args, 0, STREAM) == WELL
    every = [launch.kernel for launch in cuda.launches]
    assert len(set(every)) == 24
    assert all("int4_quantize_rows<" in kernel for kernel in every[1::2])
    kernels = every[::2]
    assert all(
        f"<{('__half', '__nv_bfloat16')[number % 2]}, {number // 2}>" in kernel for number, kernel in enumerate(kernels)
    )


def test_where_there_are_no_rows_nothing_is_asked_of_the_card(cuda):
    queue_rows(cuda, "narrow rows")
    cuda.forget()
    assert cuda.quantize(quantize_args(rows=0), DEVICE, STREAM) == WELL
    assert cuda.calls == []
