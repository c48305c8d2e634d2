"""linear_attention_plan and linear_attention_forward, with a stand-in for CUDA."""

import math

import pytest
from attention_arguments import linear_attention_args

from mezzotint_kernels import (
    AttentionPlan,
    Dtype,
    InvalidArgument,
    KernelsUnavailable,
    LaunchFailed,
    Unsupported,
    linear_attention_forward,
    linear_attention_plan,
)

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


def test_a_plan_is_what_the_library_says(in_use):
    in_use.workspace_bytes = 512
    wanted = AttentionPlan(supported=True, kernel=7, workspace_bytes=512, text="paper linear d64")
    assert linear_attention_plan(linear_attention_args(), 0) == wanted


def test_what_has_no_kernel_is_a_plan_and_no_error(in_use):
    in_use.supported = 0
    plan = linear_attention_plan(linear_attention_args(), 0)
    assert (plan.supported, plan.text) == (False, "head_dim is 64")
    with pytest.raises(Unsupported, match="head_dim is 64"):
        linear_attention_forward(linear_attention_args(), 0, 0)


def test_the_kernels_are_queued_on_the_stream(in_use):
    linear_attention_forward(linear_attention_args(), 0, 0x7FFF_0000_0000)
    assert (in_use.launches, in_use.stream, in_use.kernel) == (1, 0x7FFF_0000_0000, 7)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"map": 3}, "map is 3: give 0"),
        ({"nq": -1}, "nq is -1: give 0 or more"),
        ({"features": 0}, "features is 0: give 1 or more"),
        ({"divided": 2}, "divided is 2"),
        ({"reserved": 1}, "the reserved number is 1"),
        ({"least": math.nan}, "least is nan"),
        ({"least": math.inf}, "least is inf"),
        ({"epsilon": math.inf}, "epsilon is inf"),
        ({"v": None}, "v is null: give a pointer to device memory"),
        ({"k_stride": (-8, 8, 64)}, r"k_stride\[0\] \(batch\) is -8"),
        ({"out_stride": (0, 6400, 64)}, "out_stride is .*: elements overlap"),
        ({"features": 2**40, "q_stride": (2**62 - 2**40, 0, 0)}, "q_stride is .* does not fit into 64 bits"),
    ],
)
def test_mistakes_are_errors_with_the_library_s_words(in_use, changes, said):
    with pytest.raises(InvalidArgument, match=said):
        linear_attention_forward(linear_attention_args(**changes), 0, 0)
    assert in_use.launches == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"dtype": Dtype.FLOAT32}, "dtype is float32"),
        ({"features": 68}, "features is 68 and head_dim is 64: the kernels take multiples of 8"),
        ({"head_dim": 60}, "elements, no multiple of 16 bytes"),
        ({"q": 0x10002}, "q is 0x10002, no multiple of 16 bytes"),
    ],
)
def test_what_kernels_cannot_read_is_not_supported(in_use, changes, said):
    args = linear_attention_args(**changes)
    assert not linear_attention_plan(args, 0).supported
    with pytest.raises(Unsupported, match=said):
        linear_attention_forward(args, 0, 0)
    assert in_use.launches == in_use.plans == 0


@pytest.mark.parametrize(("changes", "launches"), [({"batch": 0}, 0), ({"nq": 0}, 0), ({"nk": 0, "k": None}, 1)])
def test_where_nothing_is_written_nothing_is_queued(in_use, changes, launches):
    linear_attention_forward(linear_attention_args(**changes), 0, 0)
    assert in_use.launches == launches


def test_a_workspace_that_is_missing_is_a_mistake(in_use):
    in_use.workspace_bytes = 10
    with pytest.raises(InvalidArgument, match="this needs 10 bytes"):
        linear_attention_forward(linear_attention_args(), 0, 0)


def test_what_cuda_refuses_is_a_failed_launch(in_use):
    in_use.launch_error = 700
    with pytest.raises(LaunchFailed, match=r"illegal memory access.*\(CUDA error 700\)"):
        linear_attention_forward(linear_attention_args(), 0, 0)


def test_without_device_or_code_there_is_nothing_to_plan(in_use):
    in_use.major, in_use.minor = 7, 0
    assert "compute capability 7.0" in linear_attention_plan(linear_attention_args(), 0).text
    in_use.driver_version = 0
    with pytest.raises(KernelsUnavailable, match="there is no NVIDIA driver here"):
        linear_attention_plan(linear_attention_args(), 40)


def test_a_struct_of_another_version_is_refused(in_use):
    args = linear_attention_args()
    args.abi = 2
    with pytest.raises(KernelsUnavailable, match="install a matching pair"):
        linear_attention_forward(args, 0, 0)
