"""What GroupNorm asks of CUDA: the launches as a stub of the runtime has them."""

from functools import partial

import pytest
from group_norm_arguments import group_norm_args, group_norm_params, workspace_bytes
from kernel_params import values_of
from launch_cases import DEVICE, STREAM, WELL
from stub_cuda import CARDS, differences

pytestmark = pytest.mark.requires_command("g++", "sudo apt-get install g++")

CASES = {
    "few": group_norm_args,
    "with weights": partial(group_norm_args, weight=0x5000, bias=0x6000, silu=1, dtype=0),
    "many": partial(
        group_norm_args, pixels=1024 * 1024, channels=128, x_stride=(1 << 27, 128), out_stride=(1 << 27, 128)
    ),
    "one pixel": partial(group_norm_args, pixels=1, batch=1),
}


def expected(args):
    """The launches, computed independently from the arguments."""
    params = group_norm_params(args)
    where = {"told": values_of(params), "parameters": 1, "device": DEVICE, "stream": STREAM, "error": 0}
    blocks = args.batch * params.segments * params.tiles
    passes = ((blocks, 256, 8 * 64 * 12), (args.batch * args.groups, 128, 4 * 12), (blocks, 256, 0))
    return [
        {"grid": (count, 1, 1), "block": (threads, 1, 1), "shared_bytes": shared} | where
        for count, threads, shared in passes
    ]


@pytest.mark.parametrize("card", [75, 89, 120])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_launch_is_the_one_that_is_due(cuda, case, card):
    cuda.insert(CARDS[75 if card != 75 else 120], CARDS[card])
    cuda.use(DEVICE)
    args = case()
    args.workspace_bytes = workspace_bytes(args)
    assert cuda.group_norm(args, DEVICE, STREAM) == WELL
    assert differences(cuda.launches, expected(args)) == []


def test_nothing_is_launched_without_pixels(cuda):
    for changes in ({"pixels": 0}, {"batch": 0}):
        assert cuda.group_norm(group_norm_args(**changes), 0, STREAM) == WELL
    assert cuda.launches == []
