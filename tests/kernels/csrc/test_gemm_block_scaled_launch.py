"""What a block-scaled product asks of CUDA: as a stub of the runtime remembers it (tests/plugins/launch_build.py)."""

import pytest
from linear_arguments import linear_args
from stub_cuda import CARDS

from mezzotint_kernels.abi import Dtype, Status
from mezzotint_kernels.block_scaled_abi import BlockFormat, BlockScaledLinearArgs

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

STREAM, SCALES = 4096, 1 << 20
COLUMNS = {BlockFormat.MXFP8: 4608, BlockFormat.NVFP4: 9216}  # whose rows have as many bytes


def args_of(format_, rows=4608, **changes):
    bits = 4 if format_ is BlockFormat.NVFP4 else 8
    row = 4608
    linear = linear_args(dtype=Dtype.FLOAT16, rows=rows, out_columns=3072, weight_bits=8, **changes)
    linear.in_columns, linear.x_bits, linear.weight_bits = COLUMNS[format_], bits, bits
    linear.x_stride = linear.weight_stride = row
    linear.group_scales = linear.weight_scales = linear.gate = linear.residual = None
    linear.x_scales = SCALES if format_ is BlockFormat.NVFP4 else None
    linear.rank, linear.out_stride = 0, 3072
    made = BlockScaledLinearArgs(format=format_, linear=linear, x_block_scales=SCALES, weight_block_scales=SCALES)
    made.x_block_scales_stride = made.weight_block_scales_stride = COLUMNS[format_] // (32 if bits == 8 else 16)
    made.weight_scale = SCALES if bits == 4 else None
    return made


def queued(cuda, format_, **changes):
    cuda.forget()
    assert cuda.block_scaled_linear(args_of(format_, **changes), 0, STREAM) == (Status.OK, "")
    return cuda.asked


@pytest.mark.parametrize("format_", BlockFormat)
def test_more_shared_memory_is_asked_for_once(cuda, format_):
    cuda.insert(CARDS[120], CARDS[120])
    first, again = queued(cuda, format_), queued(cuda, format_)
    assert (first.count("cudaFuncSetAttribute"), again.count("cudaFuncSetAttribute")) == (1, 0)
    assert (first.count("cudaLaunchKernel"), again.count("cudaLaunchKernel")) == (1, 1)
    cuda.use(1)
    cuda.forget()
    assert cuda.block_scaled_linear(args_of(format_), 1, STREAM) == (Status.OK, "")
    assert cuda.asked.count("cudaFuncSetAttribute") == 1  # for the other card


def test_each_kernel_asks_for_itself(cuda):
    cuda.insert(CARDS[120])
    asked = [queued(cuda, each) for each in BlockFormat]
    assert [each.count("cudaFuncSetAttribute") for each in asked] == [1, 1]


def test_what_cuda_refuses_is_told_and_asked_for_again(cuda):
    cuda.insert(CARDS[120])
    with cuda.failing("cudaFuncSetAttribute", 1):
        status, said = cuda.block_scaled_linear(args_of(BlockFormat.NVFP4), 0, STREAM)
    assert status == Status.LAUNCH_FAILED and "invalid argument" in said and cuda.launches == []
    assert "cudaFuncSetAttribute" in queued(cuda, BlockFormat.NVFP4)


def test_other_cards_have_none(cuda):
    status, said = cuda.block_scaled_linear(args_of(BlockFormat.MXFP8), 0, STREAM)
    assert status == Status.UNSUPPORTED and "compute capability 8.9: block-scaled numbers need 12.x" in said
