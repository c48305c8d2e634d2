"""Generate an image with a model larger than the available memory, reading its weights from disk as needed.

python bench/stream_from_disk.py [--weights 1500] [--limit 1000] [--width 640] [--size 128] [--steps 3]

Writes an SDXL-shaped model with random weights of about that size (MiB, float32) to a temporary folder and generates
an image with it in a process whose private memory is limited (RLIMIT_DATA, so on Linux only); the planner has to
detect the limit itself. For comparison, loading all weights under the same limit must fail, and an image generated
without a limit must have the same pixels.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

MIB = 2**20


def main() -> int:
    """Write the model, run the three cases, compare."""
    arguments = _parser().parse_args()
    if arguments.child:
        sys.stdout.write(json.dumps(_run(arguments)) + "\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        arguments.folder = Path(folder, "model")
        written = write_model(arguments.folder, arguments.weights, arguments.width)
        arguments.output = Path(folder)
        found = {how: _child(arguments, how) for how in ("streamed", "whole", "unlimited")}
    print(f"{written / MIB:.0f} MiB of weights; at most {arguments.limit} MiB of private memory")
    for name, row in found.items():
        print(f"{name}: " + (_format_row(row) if "peak_rss" in row else row.get("problem", "ended early")))
    same = found["streamed"].get("sha256") == found["unlimited"].get("sha256", "")
    below = found["streamed"].get("peak_rss", 2**62) < arguments.limit * MIB
    print("the same pixels" if same else "NOT the same pixels")
    print("resident memory stayed below the limit" if below else "resident memory was ABOVE the limit")
    return 0 if same and below and "sha256" not in found["whole"] else 1


def _format_row(row: Mapping[str, Any]) -> str:
    text = f"peak RSS {row['peak_rss'] / MIB:.0f} MiB, of which imports {row['imports_rss'] / MIB:.0f}; "
    text += f"{row['seconds']:.1f} s for the image, {row['denoise']:.2f} s a step"
    return "\n  ".join([text, *row["plan"]])


def _child(arguments: argparse.Namespace, how: str) -> dict[str, Any]:
    line = [sys.executable, __file__, "--child", how, "--folder", str(arguments.folder)]
    line += ["--output", str(arguments.output)]
    line += [f"--{name}={getattr(arguments, name)}" for name in ("limit", "size", "steps")]
    # Otherwise glibc retains freed memory of large tensors, which counts towards the limit.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    done = subprocess.run(line, stdout=subprocess.PIPE, env=environment, check=False)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
    return found


# ---- in the process that generates the image


def _run(arguments: argparse.Namespace) -> dict[str, Any]:
    import resource

    from mezzotint.catalog import Catalog
    from mezzotint.engine import Engine

    _import_everything()
    imports = _status("VmRSS")
    if arguments.child != "unlimited":
        limit = arguments.limit * MIB
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    if arguments.child == "whole":
        return _load_whole(arguments.folder)
    result = Engine(Catalog.standard()).generate(_request(arguments), lambda _: None, lambda: False)
    return {
        "sha256": result.images[0].sha256,
        "seconds": result.timings.encode + sum(result.timings.denoise) + result.timings.decode,
        "denoise": sum(result.timings.denoise) / arguments.steps,
        "peak_rss": _status("VmHWM"),
        "imports_rss": imports,
        "plan": [] if result.plan is None else _plan_lines(result.plan),
    }


def _import_everything() -> None:
    import diffusers
    import transformers

    assert diffusers.UNet2DConditionModel and diffusers.AutoencoderKL
    assert transformers.CLIPTextModelWithProjection and transformers.CLIPTokenizer


def _request(arguments: argparse.Namespace) -> Any:
    from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Sampling, Stage

    stage = Stage(
        model=ModelRef(id=str(arguments.folder)),
        width=arguments.size,
        height=arguments.size,
        sampling=Sampling(steps=arguments.steps, guidance_scale=5.0),
    )
    return GenerateRequest(
        prompt="a red house by the sea",
        seed=7,
        cascade=Cascade(stages=(stage,)),
        device="cpu",
        quantization="none",
        text_quantization="none",
        output=Output(path=str(arguments.output / "image.png"), overwrite=True),
    )


def _plan_lines(plan: Any) -> list[str]:
    lines = [f"{part.name}: {part.bytes / MIB:.0f} MiB wait in {part.host}, {part.resident_blocks} of "
             f"{part.blocks} blocks stay" for part in plan.components]  # fmt: skip
    return [*lines, f"planned peak of RAM {plan.peak_ram_bytes / MIB:.0f} MiB"]


def _load_whole(folder: Path) -> dict[str, Any]:
    from mezzotint.checkpoints.read import read_tensors

    try:
        files = sorted(folder.rglob("*.safetensors"))
        kept = dict(read_tensors(files, on_bytes=lambda _: None, cancelled=lambda: False))
    except (MemoryError, RuntimeError) as error:
        return {"problem": f"out of memory ({type(error).__name__})"}
    return {"sha256": "", "problem": f"{len(kept)} tensors fit: the limit is too large to show anything"}


def _status(name: str) -> int:
    """Return a byte count from /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name + ":"))


# ---- the model


def write_model(folder: Path, weights: int, width: int) -> int:
    """Write an SDXL-shaped model of about `weights` MiB, tensor by tensor; return the bytes of its weights."""
    from diffusers import EulerDiscreteScheduler

    from mezzotint.families.tokenizers import END, clip_tokenizer

    folder.mkdir(parents=True)
    index: dict[str, Any] = {"_class_name": "StableDiffusionXLPipeline", "force_zeros_for_empty_prompt": True}
    written = 0
    for name, library, network in _networks(width, _depth(weights, width)):
        network.config.save_pretrained(folder / name) if library == "transformers" else network.save_config(
            folder / name
        )
        index[name] = [library, type(network).__name__]
        file = "model.safetensors" if library == "transformers" else "diffusion_pytorch_model.safetensors"
        written += _write_weights(network, folder / name / file)
    for name, pad in (("tokenizer", END), ("tokenizer_2", "!")):
        clip_tokenizer(pad_token=pad).save_pretrained(folder / name)
        index[name] = ["transformers", "CLIPTokenizer"]
    scheduler = EulerDiscreteScheduler(
        beta_schedule="scaled_linear", beta_start=0.00085, beta_end=0.012, timestep_spacing="leading", steps_offset=1
    )
    scheduler.save_pretrained(folder / "scheduler")
    index["scheduler"] = ["diffusers", "EulerDiscreteScheduler"]
    (folder / "model_index.json").write_text(json.dumps(index), "utf-8")
    return written


def _depth(weights: int, width: int) -> int:
    """Return the transformer depth whose total size is closest to `weights` MiB."""
    one, two = (sum(_bytes(network) for _, _, network in _networks(width, depth)) for depth in (1, 2))
    return max(1, round(1 + (weights * MIB - one) / (two - one)))


def _bytes(network: Any) -> int:
    return sum(4 * tensor.numel() for tensor in network.state_dict().values())


def _networks(width: int, depth: int) -> Iterator[tuple[str, str, Any]]:
    import accelerate
    from diffusers import AutoencoderKL, UNet2DConditionModel

    with accelerate.init_empty_weights(include_buffers=False):
        yield "text_encoder", "transformers", _text_encoder(64, projected=False)
        yield "text_encoder_2", "transformers", _text_encoder(128, projected=True)
        yield (
            "unet",
            "diffusers",
            UNet2DConditionModel(
                sample_size=32,
                block_out_channels=(width // 2, width),
                layers_per_block=2,
                down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
                up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
                attention_head_dim=(width // 128, width // 64),  # diffusers expects the number of heads here
                use_linear_projection=True,
                transformer_layers_per_block=(1, depth),
                cross_attention_dim=64 + 128,
                addition_embed_type="text_time",
                addition_time_embed_dim=8,
                projection_class_embeddings_input_dim=6 * 8 + 128,
            ),
        )
        yield (
            "vae",
            "diffusers",
            AutoencoderKL(
                block_out_channels=(32, 32, 64, 64),
                down_block_types=("DownEncoderBlock2D",) * 4,
                up_block_types=("UpDecoderBlock2D",) * 4,
                layers_per_block=1,
                latent_channels=4,
                sample_size=64,
                scaling_factor=0.13025,
            ),
        )


def _text_encoder(hidden: int, *, projected: bool) -> Any:
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection

    from mezzotint.families.tokenizers import VOCABULARY_SIZE

    config = CLIPTextConfig(
        vocab_size=VOCABULARY_SIZE,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        projection_dim=hidden,
        num_hidden_layers=3,
        num_attention_heads=hidden // 64,
        hidden_act="gelu" if projected else "quick_gelu",
        bos_token_id=49406,
        eos_token_id=49407,
        pad_token_id=1,
    )
    return CLIPTextModelWithProjection(config) if projected else CLIPTextModel(config)


def _write_weights(network: Any, path: Path) -> int:
    import numpy

    numbers = numpy.random.default_rng(0)
    tensors = {name: tensor for name, tensor in network.state_dict().items() if tensor.is_floating_point()}
    header, position = {}, 0
    for name, tensor in tensors.items():
        size = 4 * tensor.numel()
        entry = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [position, position + size]}
        header[name], position = entry, position + size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for tensor in tensors.values():
            file.write((numbers.standard_normal(tensor.numel(), dtype=numpy.float32) * 0.02).tobytes())
    return position


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weights", type=int, default=1500, help="MiB of weights")
    parser.add_argument("--limit", type=int, default=1000, help="MiB of private memory")
    parser.add_argument("--width", type=int, default=640, help="width of the network, a multiple of 128")
    parser.add_argument("--size", type=int, default=128, help="pixels of the image's side")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--child", choices=["streamed", "whole", "unlimited"], help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--output", type=Path, help=argparse.SUPPRESS)
    return parser


if __name__ == "__main__":
    sys.exit(main())
