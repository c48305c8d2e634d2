"""linear_forward, with a stand-in for CUDA."""

import pytest
from linear_arguments import linear_args

from mezzotint_kernels import InvalidArgument, KernelsUnavailable, LaunchFailed, Unsupported, linear_forward

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


def test_the_product_is_queued_on_the_stream(in_use):
    linear_forward(linear_args(), 0, 0x7FFF_0000_0000)
    assert (in_use.launches, in_use.stream, in_use.nq) == (1, 0x7FFF_0000_0000, 100)
    linear_forward(linear_args(weight_bits=4), 0, 0)  # the default stream, asked for by name
    assert (in_use.launches, in_use.stream) == (2, None)


def test_mistakes_are_errors_with_the_library_s_words(in_use):
    with pytest.raises(InvalidArgument, match=r"^rows is -1: give 0 or more$"):
        linear_forward(linear_args(rows=-1), 0, 0)
    assert in_use.launches == 0


def test_what_no_kernel_takes_is_unsupported(in_use):
    with pytest.raises(Unsupported, match=r"^in is 24, no multiple of 16: use another implementation$"):
        linear_forward(linear_args(in_columns=24), 0, 0)
    in_use.supported = 0
    with pytest.raises(Unsupported, match=r"^weight_bits is 8$"):
        linear_forward(linear_args(), 0, 0)


def test_what_cuda_refuses_is_a_failed_launch(in_use):
    in_use.launch_error = 700
    with pytest.raises(LaunchFailed, match=r"^paper w8a8: an illegal memory access.*\(CUDA error 700\)"):
        linear_forward(linear_args(), 0, 0)


def test_without_a_driver_the_kernels_are_unavailable(in_use):
    in_use.driver_version = 0
    with pytest.raises(KernelsUnavailable, match="there is no NVIDIA driver here"):
        linear_forward(linear_args(), 40, 0)


def test_a_struct_of_another_version_is_refused(in_use):
    args = linear_args()
    args.abi = 2
    with pytest.raises(KernelsUnavailable, match="install a matching pair"):
        linear_forward(args, 0, 0)


def test_the_columns_of_x_have_a_name_that_python_allows():
    args = linear_args(in_columns=192)
    assert args.in_columns == getattr(args, "in") == 192
    args.in_columns = 64
    assert getattr(args, "in") == 64
