"""Export finished models as float16 diffusers folders, each with its mezzotint.json."""

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diffusers import (
    AutoencoderKL,
    DiffusionPipeline,
    DPMSolverMultistepScheduler,
    PixArtSigmaPipeline,
    PixArtTransformer2DModel,
)
from safetensors.torch import load_file, save_file
from transformers import T5EncoderModel, T5Tokenizer

from mezzotint.checkpoints.delta.writing import write_delta
from mezzotint.quantization.policy import is_kept
from mezzotint.training.distributed import Processes
from mezzotint_starter.networks import IMAGE_SIDE

FLOW_SHIFT = 3.0
GUIDANCE_SCALE = 3.0
STEPS = 20
IN_8_BITS = ("unet", "text_encoder", "text_encoder_2")
DESCRIPTION = "Small postcards: a house, boat, tree, lighthouse, balloon, car, tent or castle in a landscape."


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The components of one model."""

    autoencoder: AutoencoderKL
    encoder: T5EncoderModel
    tokenizer: T5Tokenizer
    denoiser: PixArtTransformer2DModel  # or a variant


def build_scheduler(flow_shift: float = FLOW_SHIFT) -> DPMSolverMultistepScheduler:
    """Return second-order DPM-Solver++ over flow-matching sigmas."""
    return DPMSolverMultistepScheduler(
        num_train_timesteps=1000,
        prediction_type="flow_prediction",
        use_flow_sigmas=True,
        flow_shift=flow_shift,
        algorithm_type="dpmsolver++",
        solver_order=2,
        final_sigmas_type="zero",
    )


def build_pipeline(parts: Parts, flow_shift: float = FLOW_SHIFT) -> PixArtSigmaPipeline:
    """Assemble the parts as a diffusers pipeline."""
    pipeline = PixArtSigmaPipeline(
        tokenizer=parts.tokenizer,
        text_encoder=parts.encoder,
        vae=parts.autoencoder,
        transformer=parts.denoiser,
        scheduler=build_scheduler(flow_shift),
    )
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def export_model(parts: Parts, folder: Path, trained: Mapping[str, Any], name: str = "starter-dit") -> None:
    """Write the folder of starter-dit or of a variant, replacing the old one."""
    write_folder(build_pipeline(parts), folder, note(trained, name))


def write_folder(
    pipeline: DiffusionPipeline,
    folder: Path,
    note_data: Mapping[str, Any],
    *,
    in_8_bits: Sequence[str] = IN_8_BITS,
) -> None:
    """Write a model folder, replacing the old one: safetensors, configs and mezzotint.json.

    Weights are float16; the components `in_8_bits` are stored so, except for what quantization keeps, and read as
    float16. Layers that stay in 8 bits, as `mezzotint quantize` makes them, take a third longer on a CPU at this size.
    Components listed under "shared" are omitted: they are in another model's folder. Of several processes, the first
    writes.
    """
    if not Processes.of_environment().is_first:
        return
    fresh = folder.with_name(folder.name + ".part")
    shutil.rmtree(fresh, ignore_errors=True)
    pipeline.save_pretrained(fresh, safe_serialization=True)
    _name_own_classes(fresh / "model_index.json")
    for part in note_data.get("shared", {}):
        shutil.rmtree(fresh / part)
    for file in fresh.rglob("*.safetensors"):
        _shrink(file, type(getattr(pipeline, file.parent.name)).__name__, in_8_bits)
    for file in fresh.rglob("tokenizer.json"):  # more than half of it would be spaces
        content = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps(content, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    (fresh / "mezzotint.json").write_text(json.dumps(note_data, indent=2) + "\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def _name_own_classes(index: Path) -> None:
    # diffusers writes the module of a class that is not its own; the engine knows those of Mezzotint by this name.
    content = json.loads(index.read_text("utf-8"))
    for part, value in content.items():
        if isinstance(value, list) and str(value[0]).startswith("mezzotint."):
            content[part] = ["mezzotint", value[1]]
    index.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _shrink(file: Path, class_name: str, in_8_bits: Sequence[str]) -> None:
    # Only the stored weights are small: the configs keep saying float32, so that all components load in one dtype.
    tensors = {name: tensor.half().contiguous() for name, tensor in load_file(file).items()}
    if file.parent.name in in_8_bits:
        exact = {name for name in tensors if is_kept(class_name, name.removesuffix(".weight"))}
        write_delta(file, own=tensors, exact=exact)
    else:
        save_file(tensors, file, metadata={"format": "pt"})
    file.chmod(0o644)


def note(trained: Mapping[str, Any], name: str = "starter-dit") -> dict[str, Any]:
    """Return the content of the model's mezzotint.json."""
    return {
        "name": name,
        "family": "pixart",
        "defaults": {"width": IMAGE_SIDE, "height": IMAGE_SIDE, "steps": STEPS, "guidance_scale": GUIDANCE_SCALE},
        "description": DESCRIPTION,
        "licence": "Apache-2.0",
        "trained": dict(trained),
    }
