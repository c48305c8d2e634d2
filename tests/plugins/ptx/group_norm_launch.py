"""Run GroupNorm from its PTX: a problem's tensors, the parameter struct, and the three launches."""

from collections.abc import Callable

import torch
from emulated_group_norm import Operands, Problem
from group_norm_arguments import group_norm_params, workspace_bytes
from ptx.compiled import NAMES
from ptx.machine import launch
from ptx.memory import GlobalMemory
from ptx.program import Program, kernel_of

SOURCE = "group_norm/passes.cu"
THREADS, JOIN_THREADS = 256, 128
MEASURE_BYTES, JOIN_BYTES = 8 * 64 * 12, 4 * 12

Programs = tuple[Program, Program, Program]


def group_norm_programs(
    ptx: Callable[..., str],
    problem: Problem,
    architecture: str = "sm_80",
    edit: Callable[[str], str] = lambda text: text,
) -> Programs:
    """Return the three passes for a problem; `edit` may modify the text to inject a bug."""
    text, dtype = edit(ptx(SOURCE, architecture)), NAMES[problem.dtype]
    return (
        kernel_of(text, f"group_norm.measure_channels.{dtype}."),
        kernel_of(text, f"group_norm.join_groups.{dtype}."),
        kernel_of(text, f"group_norm.normalize_groups.{dtype}.{int(problem.silu)}."),
    )


def normalize_groups(programs: Programs, problem: Problem) -> Operands:
    """Run a problem; return its tensors, including the output."""
    operands = Operands(problem)
    args = operands.arguments()
    workspace = torch.full((workspace_bytes(args),), 255, dtype=torch.uint8)
    args.workspace = workspace.data_ptr()
    params = group_norm_params(args)
    memory = GlobalMemory([operands.x, operands.weight, operands.bias], [operands.out, workspace])
    blocks = problem.batch * params.segments * params.tiles
    grids = (
        (blocks, THREADS, MEASURE_BYTES),
        (problem.batch * problem.groups, JOIN_THREADS, JOIN_BYTES),
        (blocks, THREADS, 0),
    )
    for program, (count, threads, shared) in zip(programs, grids, strict=True):
        launch(program, memory, params, blocks=count, threads=threads, shared_bytes=shared)
    memory.give_back()
    return operands
