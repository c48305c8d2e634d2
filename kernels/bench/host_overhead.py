"""What a call of the kernels costs on the host, in microseconds: filling the arguments, the plan, the call itself.

python kernels/bench/host_overhead.py [--calls 20000]

The problem is empty (no queries), so that everything is done but CUDA's own launch; no tensor and no torch is needed.
Without a driver the call ends a little earlier, where the library asks for the device: the line says so.
"""

import argparse
import ctypes
import statistics
import time
from collections.abc import Callable

import mezzotint_kernels
from mezzotint_kernels import AttentionArgs, Dtype, attention_forward, attention_plan
from mezzotint_kernels.library import library

REPEATS = 7
ADDRESS = 1 << 40  # of nothing: an empty problem is never read


def main() -> int:
    """Measure and print; 1 without a library."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000, help="calls in each of the repeats")
    calls = parser.parse_args().calls
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
    return 0


def filled() -> AttentionArgs:
    """Arguments as the engine fills them."""
    args = AttentionArgs()
    args.dtype, args.flags, args.scale = Dtype.BFLOAT16, 0, 0.125
    args.batch, args.heads, args.kv_heads, args.nq, args.nk, args.head_dim = 2, 10, 10, 0, 4096, 64
    args.q_stride = args.k_stride = args.v_stride = args.out_stride = (64 * 4096 * 10, 64, 640)
    readdress(args)
    return args


def readdress(args: AttentionArgs) -> None:
    """What changes from call to call when sizes and strides do not."""
    args.q = args.k = args.v = args.out = ADDRESS


def microseconds(call: Callable[[], object], calls: int) -> float:
    """The median over some repeats of what a call takes."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) / calls * 1e6


if __name__ == "__main__":
    raise SystemExit(main())
