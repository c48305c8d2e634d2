"""block_scaled_quantize and block_scaled_forward, with a stand-in for CUDA."""

import pytest
from block_scaled_arguments import block_scaled_linear_args, block_scaled_quantize_args

from mezzotint_kernels import (
    BlockFormat,
    InvalidArgument,
    LaunchFailed,
    Unsupported,
    block_scaled_forward,
    block_scaled_quantize,
)

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


@pytest.fixture
def blackwell(in_use):
    in_use.major, in_use.minor = 12, 0
    return in_use


@pytest.mark.parametrize("format_", BlockFormat)
def test_kernels_are_queued_on_the_stream(blackwell, format_):
    block_scaled_forward(block_scaled_linear_args(format_), 0, 0x7FFF_0000_0000)
    assert (blackwell.launches, blackwell.stream, blackwell.nq) == (1, 0x7FFF_0000_0000, 100)
    block_scaled_quantize(block_scaled_quantize_args(format_), 0, 0)
    assert (blackwell.launches, blackwell.stream, blackwell.nq) == (2, None, 30)


@pytest.mark.parametrize("format_", BlockFormat)
def test_one_scale_of_a_row_or_a_weight_may_be_missing(blackwell, format_):
    args = block_scaled_linear_args(format_, weight_scale=None)
    args.linear.x_scales = None
    block_scaled_forward(args, 0, 0)
    assert blackwell.launches == 1


MISTAKES = {
    "format is 3: give 1": {"format": 3},
    "reserved number is 1: give 0": {"reserved": 1},
    "x_bits is 8: give 4 with format 2": {"x_bits": 8, "weight_bits": 8},
    "weight_bits is 8: give 4 with format 2": {"weight_bits": 8},
    "weight_scales is not null: give block scales": {"weight_scales": 0x1000},
    "group_scales is not null": {"group_scales": 0x1000},
    "part_count is 2: give 0": {"part_count": 2},
    "rows is -1: give 0 or more": {"rows": -1},
    "x_block_scales is null": {"x_block_scales": None},
    "weight_block_scales is null": {"weight_block_scales": None},
    "x_block_scales_stride is 8, and a row has 16 scales": {"x_block_scales_stride": 8},
    "weight_block_scales_stride is .*does not fit into 64 bits": {"weight_block_scales_stride": 2**62},
    "weight_scales is 0x40002: give an address": {"weight_scale": 0x40002},
}


@pytest.mark.parametrize(("said", "changes"), MISTAKES.items(), ids=MISTAKES.keys())
def test_mistakes_are_errors_with_the_library_s_words(blackwell, said, changes):
    with pytest.raises(InvalidArgument, match=said):
        block_scaled_forward(block_scaled_linear_args(**changes), 0, 0)
    assert blackwell.launches == 0


UNSUPPORTED = {
    "in is 192, no multiple of 128": {"in_columns": 192, "x_stride": 96},
    "out_columns is 60, no multiple of 8": {"out_columns": 60},
    "x_block_scales is 0x50004, no multiple of 8 bytes": {"x_block_scales": 0x50004},
    "weight_block_scales_stride is 20, no multiple of 8 bytes": {"weight_block_scales_stride": 20},
}


@pytest.mark.parametrize(("said", "changes"), UNSUPPORTED.items(), ids=UNSUPPORTED.keys())
def test_what_kernels_cannot_read_is_not_supported(blackwell, said, changes):
    with pytest.raises(Unsupported, match=said):
        block_scaled_forward(block_scaled_linear_args(**changes), 0, 0)
    assert blackwell.launches == 0


QUANTIZE_MISTAKES = {
    "format is 0: give 1": {"format": 0},
    "bits is 8: give 4 with format 2": {"bits": 8},
    "group is 16: give 0": {"group": 16},
    "scales is null": {"scales": None},
    "block_scales is null": {"block_scales": None},
    "block_scales_stride is 8, and a row has 16 scales": {"block_scales_stride": 8},
}


@pytest.mark.parametrize(("said", "changes"), QUANTIZE_MISTAKES.items(), ids=QUANTIZE_MISTAKES.keys())
def test_mistakes_in_a_quantization_are_errors(blackwell, said, changes):
    with pytest.raises(InvalidArgument, match=said):
        block_scaled_quantize(block_scaled_quantize_args(**changes), 0, 0)
    assert blackwell.launches == 0


@pytest.mark.parametrize(
    ("said", "changes"),
    [
        ("columns is 192, no multiple of 128", {"columns": 192}),
        ("block_scales is 0x30004, no multiple of 8", {"block_scales": 0x30004}),
        ("block_scales_stride is 20", {"block_scales_stride": 20}),
    ],
)
def test_rows_that_kernels_cannot_write_are_not_supported(blackwell, said, changes):
    with pytest.raises(Unsupported, match=said):
        block_scaled_quantize(block_scaled_quantize_args(**changes), 0, 0)


@pytest.mark.parametrize(("major", "minor"), [(7, 5), (8, 9), (9, 0), (13, 0)])
def test_other_cards_do_not_multiply_such_numbers(in_use, major, minor):
    in_use.major, in_use.minor = major, minor
    for call, args in (
        (block_scaled_forward, block_scaled_linear_args()),
        (block_scaled_quantize, block_scaled_quantize_args()),
    ):
        with pytest.raises(Unsupported, match=rf"{major}\.{minor}: block-scaled numbers need 12.x"):
            call(args, 0, 0)
    assert in_use.launches == 0


def test_all_of_the_family_does(in_use):
    in_use.major, in_use.minor = 12, 1
    block_scaled_forward(block_scaled_linear_args(), 0, 0)
    assert (in_use.launches, in_use.architecture) == (1, 120)


def test_where_nothing_is_written_nothing_is_queued(blackwell):
    block_scaled_forward(block_scaled_linear_args(rows=0), 0, 0)
    block_scaled_quantize(block_scaled_quantize_args(rows=0), 0, 0)
    assert blackwell.launches == 0


def test_what_cuda_refuses_is_a_failed_launch(blackwell):
    blackwell.launch_error = 700
    with pytest.raises(LaunchFailed, match=r"^paper format 2: an illegal memory access.*\(CUDA error 700\)"):
        block_scaled_forward(block_scaled_linear_args(), 0, 0)
    with pytest.raises(LaunchFailed, match=r"^block_scaled_quantize_rows: "):
        block_scaled_quantize(block_scaled_quantize_args(), 0, 0)


def test_a_plan_that_is_none_is_unsupported(blackwell):
    blackwell.supported = 0
    with pytest.raises(Unsupported, match="format is 2"):
        block_scaled_forward(block_scaled_linear_args(), 0, 0)
