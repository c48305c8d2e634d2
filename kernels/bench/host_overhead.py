"""Measure the host-side cost of a kernel call in microseconds: filling the arguments, planning, the call itself.

python kernels/bench/host_overhead.py [--calls 20000] [--device cuda]

The problem is empty (no queries), so everything runs except the CUDA launch itself; neither tensors nor torch are
needed. Without a driver the call returns slightly earlier, when the library queries the device; the output says so.

If torch, the engine and a GPU are available, also times the engine's attention of one token, launch included,
against torch's.
"""

import argparse
import ctypes
import importlib.util
import statistics
import time
from collections.abc import Callable
from functools import partial

import mezzotint_kernels
from mezzotint_kernels import AttentionArgs, Dtype, attention_forward, attention_plan
from mezzotint_kernels.library import library

REPEATS = 7
ADDRESS = 1 << 40  # never dereferenced: the problem is empty


def main() -> int:
    """Measure and print; return 1 if there is no library."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000, help="calls in each of the repeats")
    parser.add_argument("--device", default="cuda", help="of the engine's calls, as torch calls it")
    calls, device = (options := parser.parse_args()).calls, options.device
    info = mezzotint_kernels.info()
    if info.library is None:
        print(info.problem)
        return 1
    args, opened = filled(), library()
    rows: list[tuple[str, Callable[[], object]]] = [("new arguments, every field", filled)]
    rows.append(("old arguments, new addresses", lambda: readdress(args)))
    if info.problem is None:
        rows.append(("attention_plan", lambda: attention_plan(args, 0)))
        rows.append(("attention_forward", lambda: attention_forward(args, 0, 0)))
    else:
        print(f"{info.problem}; so the calls end where they would ask for the device")
        reference = ctypes.byref
        rows.append(("attention_forward, refused", lambda: opened.attention_forward(reference(args), -1, None)))
    for name, call in rows:
        print(f"{name:32} {microseconds(call, calls):6.2f} us")
    if info.problem is None and all(map(importlib.util.find_spec, ("torch", "mezzotint"))):
        measure_engine(device, calls)
    return 0


def measure_engine(device: str, calls: int) -> None:
    """Measure and print attention from tensors to tensor through ctypes, through the extension, and in torch."""
    import torch

    from mezzotint.attention.compiled import CompiledAttention
    from mezzotint.dispatch.library import InstalledKernels

    library = InstalledKernels(mezzotint_kernels)
    library.device_type = torch.device(device).type
    by_ctypes, in_one_step = CompiledAttention(library), CompiledAttention(library)
    by_ctypes._calls = None
    if in_one_step._calls is None:
        print("there is no attention_calls beside the library: build it where Python's headers are")
    named = {
        "the engine's call, by ctypes": by_ctypes,
        "the engine's call, in one step": in_one_step,
        "torch's attention": torch.nn.functional.scaled_dot_product_attention,
    }
    with torch.inference_mode():
        q = torch.zeros(1, 1, 2, 64, dtype=torch.bfloat16, device=device).transpose(1, 2)
        for name, attend in named.items():
            print(f"{name:32} {microseconds(partial(attend, q, q, q), calls):6.2f} us")


def filled() -> AttentionArgs:
    """Return arguments filled in as the engine does."""
    args = AttentionArgs()
    args.dtype, args.flags, args.scale = Dtype.BFLOAT16, 0, 0.125
    args.batch, args.heads, args.kv_heads, args.nq, args.nk, args.head_dim = 2, 10, 10, 0, 4096, 64
    args.q_stride = args.k_stride = args.v_stride = args.out_stride = (64 * 4096 * 10, 64, 640)
    readdress(args)
    return args


def readdress(args: AttentionArgs) -> None:
    """Set the fields that change from call to call while sizes and strides stay the same."""
    args.q = args.k = args.v = args.out = ADDRESS


def microseconds(call: Callable[[], object], calls: int) -> float:
    """Return the median thread time of a call over a few repeats, in microseconds."""
    times = []
    for _ in range(REPEATS):
        start = time.thread_time()
        for _ in range(calls):
            call()
        times.append(time.thread_time() - start)
    return statistics.median(times) / calls * 1e6


if __name__ == "__main__":
    raise SystemExit(main())
