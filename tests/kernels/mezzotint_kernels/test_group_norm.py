"""group_norm_forward and group_norm_workspace, with a stand-in for CUDA."""

import pytest
from group_norm_arguments import group_norm_args

from mezzotint_kernels import InvalidArgument, Unsupported, group_norm_forward, group_norm_workspace

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.usefixtures("in_use")]


def test_the_kernels_are_queued_on_the_stream(in_use):
    group_norm_forward(group_norm_args(), 0, 0x7FFF_0000_0000)
    assert (in_use.launches, in_use.stream, in_use.nq) == (1, 0x7FFF_0000_0000, 100)


def test_the_workspace_is_two_numbers_a_channel_of_each_segment_and_of_all():
    assert group_norm_workspace(group_norm_args()) == 2 * (1 + 1) * 2 * 320 * 4


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"channels": 324}, "324 and groups 32"),
        ({"groups": 0}, "groups is 0"),
        ({"pixels": -1}, "pixels is -1"),
        ({"epsilon": float("nan")}, "epsilon is nan"),
        ({"silu": 2}, "silu is 2"),
        ({"x": None}, "x is null"),
        ({"x_stride": (32000, 8)}, "x_stride"),
        ({"out_stride": (1 << 62, 320)}, "out_stride"),
        ({"workspace_bytes": 8}, "8 bytes: give 10240"),
    ],
)
def test_mistakes_are_errors_with_the_library_s_words(changes, words):
    with pytest.raises(InvalidArgument, match=words):
        group_norm_forward(group_norm_args(**changes), 0, 0)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dtype": 2}, "float32"),
        ({"channels": 36, "groups": 4}, "no multiple of 8"),
        ({"x": 0x1008}, "no multiples of 16"),
        ({"out_stride": (32004, 320)}, "no multiples of 16"),
        ({"pixels": 1 << 30}, "up to"),
    ],
)
def test_what_kernels_cannot_read_is_not_supported(changes, words):
    with pytest.raises(Unsupported, match=words):
        group_norm_forward(group_norm_args(**changes), 0, 0)


def test_nothing_is_launched_for_no_pixels(in_use):
    group_norm_forward(group_norm_args(pixels=0), 0, 0)
    assert in_use.launches == 0
