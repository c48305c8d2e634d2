"""A network larger than the memory that it may have: streamed from its file, block by block.

python bench/stream_from_disk.py [--weights 1500] [--limit 1000] [--width 1152] [--steps 3] [--above-imports]

Writes a PixArt transformer with random weights of about that size (MiB, float32) to a temporary folder, and takes steps
with it in a process whose private memory is limited (RLIMIT_DATA, so on Linux only). Beside it, under the same limit,
the same network is loaded whole, which must fail; and, without a limit, that it gives the same numbers.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MIB = 2**20


def main() -> int:
    """Write, run the three, compare."""
    arguments = _parser().parse_args()
    if arguments.child:
        print(json.dumps(_run(arguments)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        arguments.file = Path(folder, "transformer.safetensors")
        written = _write(arguments)
        rows = {
            "streamed": _child(arguments, "streamed"),
            "loaded whole": _child(arguments, "whole"),
            "loaded whole, no limit": _child(arguments, "unlimited"),
        }
    limit = f"{arguments.limit} MiB" + (" above what imports take" if arguments.above_imports else "")
    print(f"{written / MIB:.0f} MiB of weights; at most {limit}; {arguments.steps} steps")
    for name, row in rows.items():
        print(f"{name}: " + ("out of memory" if row is None else _told(row)))
    streamed, whole, free = rows.values()
    same = streamed is not None and free is not None and streamed["sha256"] == free["sha256"]
    print("the same numbers" if same else "NOT the same numbers")
    return 0 if same and whole is None else 1


def _told(row: dict[str, Any]) -> str:
    limit = "none" if row["limit"] is None else f"{row['limit'] / MIB:.0f} MiB"
    imports = row["imports_rss"] / MIB
    return (
        f"peak RSS {row['peak_rss'] / MIB:.0f} MiB, of which imports {imports:.0f}; limit {limit}; "
        f"{row['seconds']:.2f} s a step"
    )


def _child(arguments: argparse.Namespace, how: str) -> dict[str, Any] | None:
    line = [sys.executable, __file__, "--child", how, "--file", str(arguments.file)]
    line += [f"--{name}={getattr(arguments, name)}" for name in ("weights", "limit", "width", "steps")]
    line += ["--above-imports"] if arguments.above_imports else []
    # Without it glibc keeps what large tensors took for more of them, which the limit counts as if it were in use.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(line, stdout=subprocess.PIPE, env=environment)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    import resource

    import torch

    network = _network(arguments)
    _take_steps(_tiny(), 1)  # what libraries take once, they take before
    imports = _status("VmRSS")
    limit = arguments.limit * MIB + (_status("VmData") if arguments.above_imports else 0)
    if arguments.child == "unlimited":
        limit = None
    else:
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if arguments.child == "streamed":
        _stream(network, arguments.file)
    else:
        from mezzotint.checkpoints.read import read_tensors

        tensors = dict(read_tensors([arguments.file], on_bytes=lambda _: None, cancelled=lambda: False))
        network.load_state_dict(tensors, assign=True, strict=False)
    began = time.perf_counter()
    latents = _take_steps(network, arguments.steps)
    return {
        "sha256": hashlib.sha256(latents.to(torch.float32).numpy().tobytes()).hexdigest(),
        "seconds": (time.perf_counter() - began) / arguments.steps,
        "peak_rss": _status("VmHWM"),
        "imports_rss": imports,
        "limit": limit,
    }


def _stream(network: Any, path: Path) -> None:
    import torch

    from mezzotint.memory.device import open_device
    from mezzotint.memory.disk import DiskWeights
    from mezzotint.memory.residency import Residency

    residency = Residency(open_device(torch.device("cpu")))
    blocks = [f"transformer_blocks.{index}" for index in range(len(network.transformer_blocks))]
    disk = DiskWeights([path]).fitting(network)
    streamed = residency.add("transformer", network, blocks, resident=0, slots=2, disk=disk)
    streamed.enter()
    streamed.ready()


def _network(arguments: argparse.Namespace) -> Any:
    import accelerate

    layer = 4 * (16 * arguments.width**2)  # bytes: twice attention of 4, and 8 of what lies between
    with accelerate.init_empty_weights(include_buffers=False):
        return _transformer(arguments.width, max(1, round(arguments.weights * MIB / layer)))


def _tiny() -> Any:
    return _transformer(72, 1)


def _transformer(width: int, layers: int) -> Any:
    from diffusers import PixArtTransformer2DModel

    network = PixArtTransformer2DModel(
        sample_size=32,
        num_layers=layers,
        attention_head_dim=72,
        num_attention_heads=width // 72,
        cross_attention_dim=width,
        caption_channels=256,
        use_additional_conditions=False,
    )
    return network.requires_grad_(False).eval()


def _write(arguments: argparse.Namespace) -> int:
    """Write random weights tensor by tensor; gives their bytes."""
    import numpy

    numbers = numpy.random.default_rng(0)
    tensors = _network(arguments).state_dict()
    header, position = {}, 0
    for name, tensor in tensors.items():
        size = 4 * tensor.numel()
        entry = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [position, position + size]}
        header[name], position = entry, position + size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with arguments.file.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write((numbers.standard_normal(tensor.numel(), dtype=numpy.float32) * 0.02).tobytes())
    return position


def _take_steps(network: Any, steps: int) -> Any:
    import torch

    numbers = torch.Generator().manual_seed(1)
    latents, words = torch.randn(1, 4, 32, 32, generator=numbers), torch.randn(1, 20, 256, generator=numbers)
    with torch.inference_mode():
        for step in range(steps):
            time_left = torch.tensor([999 * (steps - step) // steps])
            noise = network(latents, encoder_hidden_states=words, timestep=time_left, return_dict=False)[0]
            latents = latents - noise[:, :4] / steps
    return latents


def _status(name: str) -> int:
    """Bytes that the system counts for this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=int, default=1500, help="MiB of weights")
    parser.add_argument("--limit", type=int, default=1000, help="MiB of private memory")
    parser.add_argument("--above-imports", action="store_true", help="count the limit from where the imports end")
    parser.add_argument("--width", type=int, default=1152, help="of the network: a multiple of 72")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--child", choices=["streamed", "whole", "unlimited"], help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
