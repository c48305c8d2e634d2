"""attention_backward_plan and attention_backward, with a stand-in for CUDA."""

import pytest
from attention_arguments import backward_args

from mezzotint_kernels import (
    AttentionFlags,
    AttentionPlan,
    Dtype,
    InvalidArgument,
    KernelsUnavailable,
    LaunchFailed,
    Unsupported,
    attention_backward,
    attention_backward_plan,
)

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


def test_a_plan_is_what_the_library_says(in_use):
    in_use.workspace_bytes = 512
    wanted = AttentionPlan(supported=True, kernel=7, workspace_bytes=512, text="paper backward d64")
    assert attention_backward_plan(backward_args(), 0) == wanted


def test_what_has_no_kernel_is_a_plan_and_no_error(in_use):
    in_use.supported = 0
    plan = attention_backward_plan(backward_args(), 0)
    assert (plan.supported, plan.text) == (False, "head_dim is 64")
    with pytest.raises(Unsupported, match="head_dim is 64"):
        attention_backward(backward_args(), 0, 0)


def test_the_kernels_are_queued_on_the_stream(in_use):
    attention_backward(backward_args(flags=AttentionFlags.CAUSAL | AttentionFlags.UNORDERED), 0, 0x7FFF_0000_0000)
    assert (in_use.launches, in_use.stream, in_use.kernel) == (1, 0x7FFF_0000_0000, 7)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"flags": 2}, "flags are 0x2: the backward pass knows 0x5"),
        ({"nq": -1}, "nq is -1: give 0 or more"),
        ({"lse": None}, "lse is null"),
        ({"lse": 0x50002}, "lse is 0x50002: give an address that is a multiple of 4"),
        ({"lse_gradient": 0x50002}, "lse_gradient is 0x50002: give an address that is a multiple of 4"),
        ({"dk": None}, "dk is null: give a pointer to device memory"),
        ({"out_gradient_stride": (-8, 8, 64)}, r"out_gradient_stride\[0\] \(batch\) is -8"),
        ({"dv_stride": (0, 77 * 64, 64)}, "dv_stride is .*: elements overlap"),
        ({"dq_stride": (2**62, 6400, 64)}, "dq_stride is .* does not fit into 64 bits"),
    ],
)
def test_mistakes_are_errors_with_the_library_s_words(in_use, changes, said):
    with pytest.raises(InvalidArgument, match=said):
        attention_backward(backward_args(**changes), 0, 0)
    assert in_use.launches == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dtype": Dtype.FLOAT32}, "dtype is float32"),
        ({"scale": -1.0}, "scale is -1"),
        ({"dq": 0x70002}, "dq is 0x70002, no multiple of 16 bytes"),
        ({"out_gradient_stride": (4 * 6404, 6404, 64)}, r"out_gradient_stride\[1\] \(head\) is 6404 elements"),
    ],
)
def test_what_kernels_cannot_read_is_not_supported(in_use, changes, said):
    args = backward_args(**changes)
    assert not attention_backward_plan(args, 0).supported
    with pytest.raises(Unsupported, match=said):
        attention_backward(args, 0, 0)
    assert in_use.launches == in_use.plans == 0


@pytest.mark.parametrize(("changes", "launches"), [({"batch": 0}, 0), ({"nq": 0, "nk": 0}, 0), ({"nq": 0}, 1)])
def test_gradients_of_keys_are_written_also_without_queries(in_use, changes, launches):
    attention_backward(backward_args(**changes), 0, 0)
    assert in_use.launches == launches


def test_a_workspace_that_is_missing_is_a_mistake(in_use):
    in_use.workspace_bytes = 10
    with pytest.raises(InvalidArgument, match="this needs 10 bytes"):
        attention_backward(backward_args(), 0, 0)


def test_what_cuda_refuses_is_a_failed_launch(in_use):
    in_use.launch_error = 700
    with pytest.raises(LaunchFailed, match=r"illegal memory access.*\(CUDA error 700\)"):
        attention_backward(backward_args(), 0, 0)


def test_without_driver_device_or_code_there_is_nothing_to_plan(in_use):
    in_use.major, in_use.minor = 7, 0
    assert "compute capability 7.0" in attention_backward_plan(backward_args(), 0).text
    in_use.driver_version = 0
    with pytest.raises(KernelsUnavailable, match="there is no NVIDIA driver here"):
        attention_backward_plan(backward_args(), 40)


def test_a_struct_of_another_version_is_refused(in_use):
    args = backward_args()
    args.abi = 2
    with pytest.raises(KernelsUnavailable, match="install a matching pair"):
        attention_backward(args, 0, 0)
