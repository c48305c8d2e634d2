"""quantize_rows, with a stand-in for CUDA."""

import pytest
from quantize_arguments import quantize_args

from mezzotint_kernels import InvalidArgument, KernelsUnavailable, LaunchFailed, Unsupported, quantize_rows

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


def test_the_quantization_is_queued_on_the_stream(in_use):
    quantize_rows(quantize_args(), 0, 0x7FFF_0000_0000)
    assert (in_use.launches, in_use.stream, in_use.nq) == (1, 0x7FFF_0000_0000, 100)
    quantize_rows(quantize_args(rows=7), 0, 0)  # the default stream, asked for by name
    assert (in_use.launches, in_use.stream, in_use.nq) == (2, None, 7)


def test_mistakes_are_errors_with_the_library_s_words(in_use):
    with pytest.raises(InvalidArgument, match=r"^rows is -1: give 0 or more$"):
        quantize_rows(quantize_args(rows=-1), 0, 0)
    assert in_use.launches == 0


def test_what_no_kernel_takes_is_unsupported(in_use):
    with pytest.raises(Unsupported, match=r"^columns is 120, no multiple of 16: use another implementation$"):
        quantize_rows(quantize_args(columns=120, group=0), 0, 0)
    assert in_use.launches == 0


def test_what_cuda_refuses_is_a_failed_launch(in_use):
    in_use.launch_error = 700
    with pytest.raises(LaunchFailed, match=r"^quantize_rows: an illegal memory access.*\(CUDA error 700\)"):
        quantize_rows(quantize_args(), 0, 0)


def test_without_a_driver_the_kernels_are_unavailable(in_use):
    in_use.driver_version = 0
    with pytest.raises(KernelsUnavailable, match="there is no NVIDIA driver here"):
        quantize_rows(quantize_args(), 39, 0)


def test_a_struct_of_another_version_is_refused(in_use):
    args = quantize_args()
    args.abi = 2
    with pytest.raises(KernelsUnavailable, match="install a matching pair"):
        quantize_rows(args, 0, 0)
