"""attention_plan and attention_forward, with a stand-in for CUDA."""

import pytest

from mezzotint_kernels import (
    AttentionFlags,
    AttentionPlan,
    InvalidArgument,
    KernelsUnavailable,
    LaunchFailed,
    Unsupported,
    attention_forward,
    attention_plan,
)

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")


def test_a_plan_is_what_the_library_says(in_use, args):
    in_use.workspace_bytes = 512
    assert attention_plan(args, 0) == AttentionPlan(supported=True, kernel=7, workspace_bytes=512, text="paper d64")


def test_what_has_no_kernel_is_a_plan_and_no_error(in_use, args):
    in_use.supported = 0
    plan = attention_plan(args, 0)
    assert (plan.supported, plan.text) == (False, "head_dim is 64")
    with pytest.raises(Unsupported, match="head_dim is 64"):
        attention_forward(args, 0, 0)


def test_the_kernel_is_queued_on_the_stream(in_use, args):
    args.flags = AttentionFlags.CAUSAL | AttentionFlags.INT8_SCORES
    attention_forward(args, 0, 0x7FFF_0000_0000)
    assert (in_use.launches, in_use.stream) == (1, 0x7FFF_0000_0000)
    attention_forward(args, 0, 0)  # the default stream, asked for by name
    assert (in_use.launches, in_use.stream) == (2, None)


def test_mistakes_are_errors_with_the_library_s_words(in_use, args):
    args.nq = -1
    for call in (lambda: attention_plan(args, 0), lambda: attention_forward(args, 0, 0)):
        with pytest.raises(InvalidArgument, match=r"^nq is -1: give 0 or more$"):
            call()
    assert in_use.launches == 0


def test_a_workspace_that_is_missing_is_a_mistake(in_use, args):
    in_use.workspace_bytes = 10
    with pytest.raises(InvalidArgument, match="this needs 10 bytes"):
        attention_forward(args, 0, 0)


def test_what_cuda_refuses_is_a_failed_launch(in_use, args):
    in_use.launch_error = 700
    with pytest.raises(LaunchFailed, match=r"illegal memory access.*\(CUDA error 700\)"):
        attention_forward(args, 0, 0)


def test_without_driver_or_device_kernels_are_unavailable(in_use, args):
    in_use.driver_version = 0
    for call in (lambda: attention_plan(args, 40), lambda: attention_forward(args, 40, 0)):
        with pytest.raises(KernelsUnavailable, match="there is no NVIDIA driver here"):
            call()


def test_a_struct_of_another_version_is_refused(in_use, args):
    args.abi = 2
    with pytest.raises(KernelsUnavailable, match="install a matching pair"):
        attention_forward(args, 0, 0)
