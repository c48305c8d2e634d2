"""Mistakes in what is asked of CUDA, planted one at a time: each must be seen by what the stub remembers.

A mistake is a change of the sources' text. Where the text has gone the test fails: plant it anew in what stands there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import planted_bugs
import pytest
from launch_build import build, some_sources
from launch_cases import (
    OPERATIONS,
    ask_again,
    fail_each_launch,
    fail_to_ask,
    fail_to_raise,
    queue_all,
    queue_attention,
    queue_linear,
    queue_rows,
)
from stub_cuda import CARDS, StubCuda

from kernel_build.errors import BuildError

pytestmark = [pytest.mark.requires_command("g++", "sudo apt-get install g++"), pytest.mark.slow]

ATTENTION, GEMM, QUANTIZE = (f"{folder}/launch.cu" for folder in ("attention", "gemm", "quantize"))
SHARED_MEMORY = "shared_memory.h"
RUNTIME, CHOOSE, WORKSPACE = "api/cuda_runtime.cu", "attention/choose.cpp", "attention/int8/workspace.cpp"

FEW, MANY, WIDE, INT8, TILES = (
    partial(queue_attention, case=case)
    for case in ("few keys", "many keys", "a wide head in slices", "8 bits", "few keys and many tiles of queries")
)
PRODUCT, LARGE = (
    partial(queue_linear, case=case, card=CARDS[card]) for case, card in (("4 bits", 89), ("8 bits, large", 80))
)
ROWS = partial(queue_rows, case="1280 columns")
PARTS = partial(queue_attention, case="few queries of many keys")
(
    (AGAIN, AGAIN_INT8, AGAIN_LARGE),
    (FAILED, FAILED_INT8, FAILED_PARTS, FAILED_PRODUCT, FAILED_ROWS),
    (REFUSED, REFUSED_LARGE),
) = (
    [partial(scenario, operation=OPERATIONS[name]) for name in names]
    for scenario, names in (
        (ask_again, ("wide attention", "8 bits", "a large product")),
        (fail_each_launch, ("attention", "8 bits", "attention in parts", "a product", "rows")),
        (fail_to_raise, ("wide attention", "a large product")),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bug:
    """A mistake, what shows it, and a word of what is wrong then."""

    file: str  # below csrc
    text: str  # stands there once
    becomes: str
    shown_by: Callable[[StubCuda], list[str]]
    word: str


BUGS = {
    "attention on the default stream": Bug(
        file=ATTENTION, text="shared_bytes, stream);", becomes="shared_bytes, nullptr);", shown_by=MANY, word="stream"
    ),
    "the product on the default stream": Bug(
        file=GEMM, text="static_cast<cudaStream_t>(stream)", becomes="nullptr", shown_by=PRODUCT, word="stream"
    ),
    "rows on the default stream": Bug(
        file=QUANTIZE, text="static_cast<cudaStream_t>(stream)", becomes="nullptr", shown_by=ROWS, word="stream"
    ),
    "one pass on the default stream": Bug(
        file=ATTENTION,
        text="quantize_blocks(params), kPassThreads, shared, &params, stream)",
        becomes="quantize_blocks(params), kPassThreads, shared, &params, nullptr)",
        shown_by=INT8,
        word="launch 1, stream",
    ),
    "attention asks for no shared memory": Bug(
        file=ATTENTION,
        text="plan.kernel, instance->shared_bytes)",
        becomes="plan.kernel, 0)",
        shown_by=WIDE,
        word="CUDA error 1",
    ),
    "the product asks for no shared memory": Bug(
        file=GEMM,
        text="plan.kernel, plan.shared_bytes)",
        becomes="plan.kernel, 0)",
        shown_by=LARGE,
        word="CUDA error 1",
    ),
    "shared memory is asked for after the launch": Bug(
        file=GEMM,
        text="    if (const cudaError_t error = shared_memory.allow(instance->entry, plan.kernel, plan.shared_bytes)) "
        "return error;\n",
        becomes="    struct After { const gemm::Instance& i; const LinearPlan& p; "
        "~After() { shared_memory.allow(i.entry, p.kernel, p.shared_bytes); } } after{*instance, plan};\n",
        shown_by=LARGE,
        word="CUDA error 1",
    ),
    "shared memory is remembered for all devices": Bug(
        file=SHARED_MEMORY, text="<< (device % kMostDevices)", becomes="<< 0", shown_by=AGAIN, word="on device 0"
    ),
    "shared memory of one product is remembered for another": Bug(
        file=GEMM,
        text="entry, plan.kernel, plan.shared_bytes",
        becomes="entry, plan.kernel % 4, plan.shared_bytes",
        shown_by=queue_all,
        word="a large packed product",
    ),
    "shared memory of one kernel of attention is remembered for another": Bug(
        file=ATTENTION,
        text="entry, plan.kernel, instance",
        becomes="entry, 0, instance",
        shown_by=queue_all,
        word="wide masked attention",
    ),
    "shared memory is asked for at every call": Bug(
        file=SHARED_MEMORY,
        text="allowed_[number].fetch_or(bit",
        becomes="allowed_[0].fetch_or(0",
        shown_by=AGAIN_LARGE,
        word="cudaFuncSetAttribute",
    ),
    "shared memory that was refused is remembered as given": Bug(
        file=SHARED_MEMORY,
        text="if (error == cudaSuccess && remembered)",
        becomes="if (remembered)",
        shown_by=REFUSED,
        word="then it said",
    ),
    "that shared memory was refused is swallowed": Bug(
        file=SHARED_MEMORY,
        text="memory_order_relaxed);\n        return error;",
        becomes="memory_order_relaxed);\n    return cudaSuccess;",
        shown_by=REFUSED_LARGE,
        word="CUDA error 1)",
    ),
    "no shared memory in the launch": Bug(
        file=ATTENTION,
        text="arguments,\n                            shared_bytes, stream)",
        becomes="arguments,\n                            0, stream)",
        shown_by=MANY,
        word="shared_bytes: 0",
    ),
    "a block for each tile where each works through several": Bug(
        file=ATTENTION,
        text="blocks_of(*instance, args, forward.tiles_per_block)",
        becomes="blocks_of(*instance, args, 1)",
        shown_by=TILES,
        word="grid",
    ),
    "a grid of keys in the place of queries": Bug(
        file=CHOOSE,
        text="return divide_up(args.nq, instance.tile_m);",
        becomes="return divide_up(args.nk, instance.tile_m);",
        shown_by=MANY,
        word="grid",
    ),
    "a grid without slices": Bug(
        file=CHOOSE,
        text="* slices * args.heads * args.batch;",
        becomes="* args.heads * args.batch;",
        shown_by=WIDE,
        word="grid",
    ),
    "a grid of the heads of keys": Bug(
        file=CHOOSE, text="* slices * args.heads *", becomes="* slices * args.kv_heads *", shown_by=FEW, word="grid"
    ),
    "a product's grid rounded down": Bug(
        file="gemm/choose.cpp",
        text="return divide_up(args.rows, instance.tile_m) * divide_up(args.out_columns, out_columns_of(instance));",
        becomes="return divide_up(args.rows, instance.tile_m) * (args.out_columns / out_columns_of(instance));",
        shown_by=PRODUCT,
        word="grid",
    ),
    "rows without the last block": Bug(
        file="quantize/blocks.cpp",
        text="(int64_t{params.rows} + params.rows_per_block - 1) / params.rows_per_block",
        becomes="int64_t{params.rows} / params.rows_per_block",
        shown_by=partial(queue_rows, case="narrow rows"),
        word="grid",
    ),
    "the grid and the block change places": Bug(
        file=QUANTIZE,
        text="quantize::blocks_of(params)",
        becomes="quantize::threads_of(params)",
        shown_by=ROWS,
        word="grid",
    ),
    "a block of one warp more": Bug(
        file=GEMM,
        text="static_cast<unsigned>(instance->threads)",
        becomes="static_cast<unsigned>(instance->threads) + 32",
        shown_by=PRODUCT,
        word="CUDA error 701",
    ),
    "the passes change places": Bug(
        file=ATTENTION,
        text="queue(passes.summarize, summarize_blocks(params)",
        becomes="queue(passes.copy, quantize_blocks(params)",
        shown_by=INT8,
        word="launch 0, kernel",
    ),
    "the first pass is left out": Bug(
        file=ATTENTION,
        text="if (const cudaError_t error =\n            queue(passes.summarize,",
        becomes="if (const cudaError_t error = params.batch ? cudaSuccess :\n            queue(passes.summarize,",
        shown_by=INT8,
        word="2 launches in the place of 3",
    ),
    "the passes come after": Bug(
        file=ATTENTION,
        text="        if (const cudaError_t error = queue_passes(*instance, int8, stream)) return error;\n    }\n"
        "    return queue(",
        becomes="    }\n    struct After { const Instance& i; Int8Params& p; cudaStream_t s; "
        "~After() { if (p.batch) queue_passes(i, p, s); } } after{*instance, int8, stream};\n    return queue(",
        shown_by=INT8,
        word="launch 0, kernel",
    ),
    "passes of the other format": Bug(
        file="attention/int8/passes.h",
        text="int8_passes(instance.dtype)",
        becomes="int8_passes(instance.dtype == MZT_FLOAT16 ? MZT_BFLOAT16 : MZT_FLOAT16)",
        shown_by=INT8,
        word="__half",
    ),
    "the passes are told nothing of the tensors": Bug(
        file=ATTENTION, text="        int8.forward = forward;\n", becomes="", shown_by=INT8, word="grid"
    ),
    "the main loop is told only of the tensors": Bug(
        file=ATTENTION, text="        params = &int8;\n", becomes="", shown_by=INT8, word="launch 2, told"
    ),
    "a piece of the workspace for two": Bug(
        file=WORKSPACE,
        text="params.k_scale = pieces.take<float>(only_values ? 0 : keys * (params.k_rows / kKeyRows) * 4);",
        becomes="pieces.take<float>(only_values ? 0 : keys * (params.k_rows / kKeyRows) * 4), "
        "params.k_scale = params.q_scale;",
        shown_by=INT8,
        word="k_scale",
    ),
    "a stride of another tensor": Bug(
        file=CHOOSE,
        text="strides(args.v_stride)",
        becomes="strides(args.q_stride)",
        shown_by=MANY,
        word="told.v_stride",
    ),
    "the device is changed": Bug(
        file=ATTENTION,
        text="    const Instance* instance = instance_of(plan.kernel);\n",
        becomes="    const Instance* instance = instance_of(plan.kernel);\n    cudaSetDevice(0);\n",
        shown_by=MANY,
        word="the current device was changed, and is now 0",
    ),
    "the device is changed for the launch alone": Bug(
        file=GEMM,
        text="    void* arguments[] = {&params};\n",
        becomes="    void* arguments[] = {&params};\n"
        "    struct Back { ~Back() { cudaSetDevice(1); } } back;\n    cudaSetDevice(0);\n",
        shown_by=PRODUCT,
        word="launch 0, device: 0",
    ),
    "the error of a launch is swallowed": Bug(
        file=ATTENTION,
        text="    return queue(instance->entry,",
        becomes="    return 0 * (int)queue(instance->entry,",
        shown_by=FAILED,
        word="launch 0 failed, and it said",
    ),
    "the error of the first pass is swallowed": Bug(
        file=ATTENTION,
        text="&params, stream)) {\n        return error;\n    }",
        becomes="&params, stream)) {\n        (void)error;\n    }",
        shown_by=FAILED_INT8,
        word="and it went on",
    ),
    "the error of parts is swallowed": Bug(
        file=ATTENTION,
        text="    if (error) return error;\n    const JoinLaunch",
        becomes="    (void)error;\n    const JoinLaunch",
        shown_by=FAILED_PARTS,
        word="and it went on",
    ),
    "parts are not joined": Bug(
        file=ATTENTION,
        text="    return queue(join.entry,",
        becomes="    return join.blocks ? cudaSuccess : queue(join.entry,",
        shown_by=PARTS,
        word="1 launches in the place of 2",
    ),
    "a grid of one part": Bug(
        file=ATTENTION,
        text="(params.splits.blocks) * params.splits.count;",
        becomes="(params.splits.blocks);",
        shown_by=PARTS,
        word="grid",
    ),
    "the errors of the passes are swallowed": Bug(
        file=ATTENTION,
        text="if (const cudaError_t error = queue_passes(*instance, int8, stream)) return error;",
        becomes="queue_passes(*instance, int8, stream);",
        shown_by=FAILED_INT8,
        word="and it went on",
    ),
    "an error that was told already is told again": Bug(
        file=GEMM,
        text="const cudaError_t error = launch(instance->entry, blocks * plan.splits);",
        becomes="const cudaError_t peeked = cudaPeekAtLastError(), error = peeked ? peeked : "
        "launch(instance->entry, blocks * plan.splits);",
        shown_by=FAILED_PRODUCT,
        word="the next call said",
    ),
    "the error of a quantization is swallowed": Bug(
        file=QUANTIZE,
        text="    return cudaLaunchKernel(",
        becomes="    return 0 * (int)cudaLaunchKernel(",
        shown_by=FAILED_ROWS,
        word="launch 0 failed, and it said",
    ),
    "the memory of a block is not what a block may ask for": Bug(
        file=RUNTIME,
        text="cudaDevAttrMaxSharedMemoryPerBlockOptin",
        becomes="cudaDevAttrMultiProcessorCount",
        shown_by=LARGE,
        word="it said",
    ),
    "the current device is always the first": Bug(
        file=RUNTIME,
        text="return cudaGetDevice(&ordinal);",
        becomes="return ordinal = 0;",
        shown_by=MANY,
        word="it said",
    ),
    "an error of a device's attributes is swallowed": Bug(
        file=RUNTIME,
        text="each.name, ordinal)) return error;",
        becomes="each.name, ordinal)) break;",
        shown_by=fail_to_ask,
        word="it knew the device",
    ),
}


def plant(folder, bug):
    """A copy of the sources with the mistake in it."""
    sources = some_sources(folder)
    planted_bugs.plant(sources, bug.file, bug.text, bug.becomes)
    return sources


@pytest.mark.parametrize("bug", BUGS.values(), ids=BUGS.keys())
def test_planted_bug_is_seen(bug, toolchain, tmp_path):
    seen = bug.shown_by(StubCuda(build(toolchain, plant(tmp_path / "kernels", bug)), tmp_path))
    assert any(bug.word in line for line in seen), seen


@pytest.mark.parametrize("name", BUGS)
def test_without_a_bug_nothing_is_seen(name, library_over_stub, tmp_path):
    assert BUGS[name].shown_by(StubCuda(library_over_stub, tmp_path)) == []


@pytest.mark.parametrize("call", ["cudaDeviceSynchronize()", "cudaStreamSynchronize(stream)", "cudaMalloc(&params, 1)"])
def test_waiting_and_allocating_cannot_be_linked(call, toolchain, tmp_path):
    """A graph could not record it; the stub has no such function, and the library is linked with nothing else."""
    bug = Bug(
        file=ATTENTION,
        text="    void* arguments[] = {params};\n",
        becomes=f"    {call};\n    void* arguments[] = {{params}};\n",
        shown_by=MANY,
        word="",
    )
    with pytest.raises(BuildError, match=f"undefined reference to `{call.partition('(')[0]}'"):
        build(toolchain, plant(tmp_path / "kernels", bug))
