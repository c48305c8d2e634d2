"""Export starter-flow as a diffusers folder with an INT8 transformer; all other parts are those of its neighbours."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxKontextPipeline, FluxTransformer2DModel

from mezzotint.checkpoints.opening import open_checkpoint
from mezzotint.conversion.model import Conversion, convert
from mezzotint.families.detection import detect
from mezzotint.families.known import family_of
from mezzotint.protocol import Scheme
from mezzotint.quantization.policy import Choice
from mezzotint.training.distributed import Processes
from mezzotint_starter.export import FLOW_SHIFT, GUIDANCE_SCALE, write_folder
from mezzotint_starter.flow.flow_training import FlowTextEncoders
from mezzotint_starter.networks import TOKENS

FOLDER = "flow"
SCHEME: Scheme = "int8-weight"
STEPS = 20
SHARED = {
    "vae": "dit/vae",
    "text_encoder": "xl/text_encoder",
    "tokenizer": "xl/tokenizer",
    "text_encoder_2": "dit/text_encoder",
    "tokenizer_2": "dit/tokenizer",
}
DESCRIPTION = 'Small postcards that can be edited by an instruction, such as "make it night".'


def build_kontext(
    transformer: FluxTransformer2DModel, encoders: FlowTextEncoders, autoencoder: AutoencoderKL
) -> FluxKontextPipeline:
    """Assemble the parts as a diffusers pipeline; the timestep shift is the same for every size."""
    # FluxKontextPipeline has no default for a missing shift, and 0 is what it means.
    autoencoder.register_to_config(shift_factor=0.0)
    scheduler = FlowMatchEulerDiscreteScheduler(shift=FLOW_SHIFT, use_dynamic_shifting=False)
    pipeline = FluxKontextPipeline(
        scheduler=scheduler,
        vae=autoencoder,
        text_encoder=encoders.clip,
        tokenizer=encoders.clip_tokenizer,
        text_encoder_2=encoders.t5,
        tokenizer_2=encoders.t5_tokenizer,
        transformer=transformer,
    )
    pipeline.set_progress_bar_config(disable=True)
    return pipeline


def export_flow(pipeline: FluxKontextPipeline, out: Path, side: int, trained: Mapping[str, Any]) -> None:
    """Write the folder beside those of starter-dit and starter-xl, then quantize its transformer."""
    folder = out / FOLDER
    write_folder(pipeline, folder, _note(side, trained))
    if Processes.of_environment().is_first:
        _quantize(folder, out)


def _quantize(folder: Path, out: Path) -> None:
    quantized = out / f"{FOLDER}.quantized"
    shutil.rmtree(quantized, ignore_errors=True)
    checkpoint = open_checkpoint(folder)
    detected = detect(checkpoint)
    sources = family_of(detected.family).sources(checkpoint, detected)
    convert(Conversion(sources=sources, choices={"transformer": Choice(scheme=SCHEME)}, output=quantized))
    shutil.rmtree(folder / "transformer")
    (quantized / "transformer").rename(folder / "transformer")
    shutil.rmtree(quantized)


def _note(side: int, trained: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": "starter-flow",
        "family": "flux",
        "variant": "edit",
        "shared": SHARED,
        "max_tokens": TOKENS,
        "defaults": {"width": side, "height": side, "steps": STEPS, "guidance_scale": GUIDANCE_SCALE},
        "description": DESCRIPTION,
        "licence": "Apache-2.0",
        "trained": dict(trained),
        "quantization": {"transformer": SCHEME},
    }
