"""Arguments of GroupNorm for tests that compute nothing, and what its kernels are told."""

from kernel_params import GroupNormParams

from mezzotint_kernels.group_norm_abi import GroupNormArgs

DOWN, TILE = 32, 64  # pixels that a block reads at once, its channels (params.h)


def group_norm_args(**changes: object) -> GroupNormArgs:
    """Valid arguments, except for `changes`."""
    values: dict[str, object] = {"dtype": 1, "batch": 2, "pixels": 100, "channels": 320, "groups": 32, "epsilon": 1e-5}
    values |= {"x": 0x1000, "out": 0x2000, "workspace": 0x3000, "workspace_bytes": 1 << 20} | changes
    strides = {name: values.pop(name, (32000, 320)) for name in ("x_stride", "out_stride")}
    made = GroupNormArgs(**values)
    made.x_stride[:], made.out_stride[:] = strides["x_stride"], strides["out_stride"]
    return made


def group_norm_params(args: GroupNormArgs) -> GroupNormParams:
    """Return the parameters of all passes, computed independently from the arguments."""
    turns = min(max(_divide_up(args.pixels, DOWN * 64), 4), 64)
    segments = _divide_up(args.pixels, DOWN * turns)
    partial = args.workspace or 0
    return GroupNormParams(
        **{name: getattr(args, name) for name in ("x", "out", "weight", "bias", "epsilon", "pixels")},
        **{f"{name}_batch": getattr(args, f"{name}_stride")[0] for name in ("x", "out")},
        **{f"{name}_pixel": getattr(args, f"{name}_stride")[1] for name in ("x", "out")},
        channels=args.channels,
        groups=args.groups,
        group_channels=args.channels // args.groups,
        segments=segments,
        segment_pixels=DOWN * turns,
        tiles=_divide_up(args.channels, TILE),
        partial=partial,
        affine=partial + args.batch * segments * 2 * args.channels * 4,
    )


def workspace_bytes(args: GroupNormArgs) -> int:
    """The bytes of both parts of the workspace."""
    return 4 * 2 * args.channels * args.batch * (group_norm_params(args).segments + 1)


def _divide_up(number: int, by: int) -> int:
    return -(-number // by)
