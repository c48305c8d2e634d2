"""Measure `mezzotint quantize` at SDXL's full size: memory above the imports, seconds, and the size of the result.

python bench/quantize_memory.py FOLDER [--schemes int8,int4] [--diffusers] [--width 320] [--threads 2]

Writes a model with random weights to FOLDER unless an earlier run left one there: SDXL's U-Net in 16 bits, 5 GB, and
the other components of starter-xl. Then quantizes it with each scheme, each in its own process, and deletes the
copies. Memory is counted from the moment when everything is imported.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from mezzotint.protocol import SCHEMES

WIDTH = 320  # SDXL's
UNET = Path("unet", "diffusion_pytorch_model.safetensors")
_DRAWN = 4_000_000  # values, reused: drawing billions would take longer than quantizing them


def main() -> int:
    """Measure and print; return 1 if a call fails."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="working folder with 10 GB of free space")
    parser.add_argument("--schemes", default=",".join(SCHEMES), help="comma-separated schemes (default: all)")
    parser.add_argument("--diffusers", action="store_true", help="int4 as diffusers reads it, too")
    parser.add_argument("--width", type=int, default=WIDTH, help="width of the U-Net's first level, a multiple of 32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return quantize_and_tell(options.folder, options.child)
    if not (options.folder / "model").is_dir():
        write_model(options.folder / "model", options.width)
    calls = [*options.schemes.split(","), *(["int4 --for diffusers"] if options.diffusers else [])]
    print(f"{'scheme':22} {'seconds':>8} {'imports':>10} {'above':>10} {'U-Net':>10} {'share':>6}", flush=True)
    return next((code for call in calls if (code := measure(options.folder, call, options.threads))), 0)


def write_model(folder: Path, width: int) -> None:
    """Write starter-xl with another U-Net, tensor by tensor, since it may be larger than memory."""
    import accelerate
    import torch
    from diffusers import UNet2DConditionModel

    from mezzotint.checkpoints.write import SafetensorsWriter, header_room
    from mezzotint.paths import assets_folder

    partial = folder.with_name(folder.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    starter = assets_folder() / "starter"
    shutil.copytree(starter / "xl", partial, ignore=shutil.ignore_patterns("unet", "mezzotint.json"))
    shutil.copytree(starter / "dit" / "vae", partial / "vae")
    with accelerate.init_empty_weights():
        network = UNet2DConditionModel(**unet_settings(width))
    network.save_config(partial / "unet")
    drawn = torch.randn(_DRAWN, generator=torch.Generator().manual_seed(0)).mul_(0.02).half()
    tensors = network.state_dict()
    with SafetensorsWriter(partial / UNET, header_room(dict.fromkeys(tensors, 1), {})) as file:
        for name, empty in tensors.items():
            times = -(-empty.numel() // _DRAWN)
            file.add(name, drawn.repeat(times)[: empty.numel()].view(empty.shape))
    partial.rename(folder)


def unet_settings(width: int) -> dict[str, object]:
    """Return the config of SDXL's U-Net at a given width."""
    channels = (width, 2 * width, 4 * width)
    return {
        "sample_size": 128,
        "block_out_channels": channels,
        "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"),
        "up_block_types": ("CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "UpBlock2D"),
        "transformer_layers_per_block": (1, 2, 10),
        "attention_head_dim": tuple(max(1, side // 64) for side in channels),  # the number of heads, despite its name
        "cross_attention_dim": 2048,
        "use_linear_projection": True,
        "addition_embed_type": "text_time",
        "addition_time_embed_dim": 256,
        "projection_class_embeddings_input_dim": 2816,
    }


def measure(folder: Path, scheme: str, threads: int) -> int:
    """Quantize in a separate process, print a row, and return the exit code."""
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    call = [sys.executable, __file__, str(folder), "--child", scheme]
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    child = subprocess.run(call, env=environment, stdout=subprocess.PIPE, check=False)
    if child.returncode:
        return child.returncode
    told = json.loads(child.stdout.splitlines()[-1])
    before, after = ((each / UNET).stat().st_size for each in (folder / "model", copy))
    shutil.rmtree(copy)
    sizes = "".join(f"{count / 2**20:7.0f} MB" for count in (told["imports"], told["above"], after))
    print(f"{scheme:22} {told['seconds']:8.0f} {sizes} {after / before:6.3f}", flush=True)
    return 0


def quantize_and_tell(folder: Path, scheme: str) -> int:
    """Run the command in this process and print what it used."""
    import importlib

    import diffusers
    import psutil
    import torch
    import transformers

    for library, name in ((diffusers, "UNet2DConditionModel"), (transformers, "CLIPTextModelWithProjection")):
        getattr(library, name)  # triggers the import
    for name in ("accelerate", "safetensors.torch", "mezzotint.conversion.model"):
        importlib.import_module(name)
    from mezzotint.cli import main as mezzotint
    from mezzotint.machine import PeakMemory

    imports, start = psutil.Process().memory_info().rss, time.perf_counter()
    peak = PeakMemory(torch.device("cpu"))
    words = ["quantize", str(folder / "model"), "--scheme", *scheme.split(), "-o", str(folder / "copy"), "--quiet"]
    code = mezzotint(words)
    seconds = time.perf_counter() - start
    print(json.dumps({"imports": imports, "above": peak.ram_bytes() - imports, "seconds": seconds}))
    return code


if __name__ == "__main__":
    sys.exit(main())
