"""Measure the engine's overhead over the bare diffusers pipeline: same model, seed and machine, in one run.

python bench/overhead.py [MODEL] [--pairs 8] [--steps 20] [--size WxH]

Both are warmed up. The two runs of a pair follow each other, in alternating order, so a temporary slowdown affects
both. The ratio is computed within each pair.
"""

import argparse
import hashlib
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.delta.layout import is_delta
from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.weight_file import read_weights
from mezzotint.engine import Engine
from mezzotint.errors import MezzotintError
from mezzotint.protocol import Cascade, GenerateRequest, ModelInfo, ModelRef, Output, Sampling, Stage

PROMPT = "a red house by the sea at dusk"
SEED = 7


@dataclass(frozen=True)
class Work:
    """The job that both sides run."""

    model: ModelInfo
    width: int
    height: int
    steps: int
    guidance_scale: float


@dataclass(frozen=True)
class Measured:
    """One image: seconds of denoising and decoding, seconds of everything including saving, and its pixels."""

    core: float
    whole: float
    pixels: str


def main() -> int:
    """Measure and print; return 1 if the images differ or the model cannot be used."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("model", nargs="?", default="starter-dit", help="a diffusers folder or a model's id")
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--size", help="such as 512x512 (default: the model's default)")
    options = parser.parse_args()
    catalog = Catalog.standard()
    try:
        info = catalog.find(ModelRef(id=options.model)).info
    except MezzotintError as error:
        print(error)
        return error.exit_code
    if info.defaults is None or not (Path(info.path) / "model_index.json").is_file():
        print(f"{options.model} is not a diffusers folder: the bare pipeline cannot load it")
        return 2
    width, height = map(int, options.size.split("x")) if options.size else (info.defaults.width, info.defaults.height)
    work = Work(
        model=info,
        width=width,
        height=height,
        steps=options.steps,
        guidance_scale=info.defaults.guidance_scale,
    )
    with tempfile.TemporaryDirectory() as folder:
        ours = with_engine(Engine(catalog), work, Path(folder))
        bare = with_diffusers(work, Path(folder))
        ours(), bare()
        pairs = [_pair(ours, bare, swapped=number % 2 == 1) for number in range(options.pairs)]
    report(work, pairs)
    same = len({measured.pixels for pair in pairs for measured in pair}) == 1
    print("Both make the same image, bit for bit." if same else "The images differ: this compares unlike work.")
    return 0 if same else 1


def with_engine(engine: Engine, work: Work, folder: Path) -> Callable[[], Measured]:
    """Return a function that generates an image with the engine."""
    stage = Stage(
        model=ModelRef(id=work.model.path),
        width=work.width,
        height=work.height,
        sampling=Sampling(steps=work.steps, guidance_scale=work.guidance_scale),
    )
    request = GenerateRequest(
        prompt=PROMPT,
        cascade=Cascade(stages=(stage,)),
        seed=SEED,
        device="cpu",
        dtype="float32",
        attention="sdpa",
        output=Output(path=str(folder / "ours.png"), overwrite=True),
    )

    def run() -> Measured:
        start = time.perf_counter()
        result = engine.generate(request, lambda _event: None, lambda: False)
        whole = time.perf_counter() - start
        core = sum(result.timings.denoise) + result.timings.decode
        return Measured(core=core, whole=whole, pixels=result.images[0].sha256)

    return run


def _plain_copy(model: Path, folder: Path) -> Path:
    """Copy a model's folder; weights stored in 8 bits, which diffusers does not read, are written in 16."""
    shutil.copytree(model, folder)
    for file in folder.rglob("*.safetensors"):
        if is_delta(read_header(file)):
            read = read_weights([file], on_bytes=lambda _: None, cancelled=lambda: False)
            save_file(dict(read), file, metadata={"format": "pt"})
    return folder


def with_diffusers(work: Work, folder: Path) -> Callable[[], Measured]:
    """Return a function that generates the same image with the diffusers pipeline."""
    import torch
    from diffusers import DiffusionPipeline
    from diffusers.utils.logging import disable_progress_bar

    disable_progress_bar()
    plain_copy = _plain_copy(Path(work.model.path), folder / "model")
    pipeline = DiffusionPipeline.from_pretrained(plain_copy, dtype=torch.float32, local_files_only=True)
    pipeline.set_progress_bar_config(disable=True)
    plain = {"use_resolution_binning": False, "clean_caption": False} if work.model.family == "pixart" else {}
    encoding = _Timed(pipeline.encode_prompt)
    pipeline.encode_prompt = encoding

    def run() -> Measured:
        encoding.seconds = 0.0
        start = time.perf_counter()
        image = pipeline(
            PROMPT,
            num_inference_steps=work.steps,
            guidance_scale=work.guidance_scale,
            width=work.width,
            height=work.height,
            generator=torch.Generator().manual_seed(SEED),
            **plain,
        ).images[0]
        core = time.perf_counter() - start - encoding.seconds
        image.save(folder / "bare.png")
        whole = time.perf_counter() - start
        return Measured(core=core, whole=whole, pixels=hashlib.sha256(image.convert("RGB").tobytes()).hexdigest())

    return run


def report(work: Work, pairs: list[tuple[Measured, Measured]]) -> None:
    """Print the table: seconds of both, and the ratio with its spread over the pairs."""
    import diffusers
    import torch

    print(f"{work.model.id}, {work.width}x{work.height}, {work.steps} steps, {len(pairs)} pairs; ", end="")
    print(f"float32, {torch.get_num_threads()} threads, torch {torch.__version__}, diffusers {diffusers.__version__}")
    print(f"{'median seconds':26} {'engine':>8} {'bare':>8} {'ratio':>7}   ratio of the pairs, least to most")
    for label, name in (("denoising and decoding", "core"), ("all, with saving", "whole")):
        ours, bare = ([getattr(measured, name) for measured in side] for side in zip(*pairs, strict=True))
        ratios = sorted(a / b for a, b in zip(ours, bare, strict=True))
        middle = f"{statistics.median(ours):8.3f} {statistics.median(bare):8.3f} {statistics.median(ratios):7.3f}"
        print(f"{label:26} {middle}   {ratios[0]:.3f} to {ratios[-1]:.3f}")


class _Timed:
    """A wrapper that accumulates the seconds spent in a function."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.seconds = 0.0

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return self._function(*arguments, **options)
        finally:
            self.seconds += time.perf_counter() - start


def _pair(ours: Callable[[], Measured], bare: Callable[[], Measured], *, swapped: bool) -> tuple[Measured, Measured]:
    if swapped:
        second = bare()
        return ours(), second
    return ours(), bare()


if __name__ == "__main__":
    sys.exit(main())
