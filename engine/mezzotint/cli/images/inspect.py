"""`mezzotint inspect`: show the generation metadata of an image."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.cli.columns import facts
from mezzotint.cli.command_options import add_command, add_json
from mezzotint.cli.context import Context
from mezzotint.protocol import ImageMetadata

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_NAMES = {
    "program": "program",
    "prompt": "prompt",
    "negative_prompt": "negative prompt",
    "seed": "seed",
    "steps": "steps",
    "sampler": "sampler",
    "schedule": "schedule",
    "guidance_scale": "guidance",
    "distilled_guidance_scale": "distilled guidance",
    "clip_skip": "clip skip",
    "strength": "strength",
    "hires_scale": "hires",
    "hires_steps": "hires steps",
    "hires_upscaler": "hires upscaler",
    "refiner": "refiner",
    "refiner_at": "refiner at",
    "model": "model",
    "model_hash": "model hash",
}
_EXAMPLES = "  mezzotint inspect house.png\n  mezzotint inspect --json downloaded.webp\n"


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands,
        "inspect",
        "Show how an image was made, by Mezzotint, A1111, ComfyUI, InvokeAI, SwarmUI, Fooocus or NovelAI.",
        run,
        _EXAMPLES,
    )
    parser.add_argument("image", metavar="IMAGE", type=Path, help="a PNG, JPEG or WebP file")
    add_json(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Print the metadata of the image."""
    metadata = context.read_metadata(arguments.image)
    if arguments.json:
        context.terminal.json(metadata)
        return 0
    context.terminal.result(facts(_metadata_rows(metadata)))
    if metadata.request is not None:
        context.terminal.message("`mezzotint generate --from` regenerates this image")
    return 0


def _metadata_rows(metadata: ImageMetadata) -> dict[str, str]:
    rows: dict[str, str] = {}
    for field, name in _NAMES.items():
        value = getattr(metadata, field)
        if value is not None and value != "":
            rows[name] = f"{value:g}" if isinstance(value, float) else str(value)
    if metadata.width is not None and metadata.height is not None:
        rows["size"] = f"{metadata.width}x{metadata.height}"
    if metadata.loras:
        rows["LoRAs"] = ", ".join(f"{lora.name}:{lora.weight:g}" for lora in metadata.loras)
    return rows | {name: value for name, value in metadata.other.items() if name not in rows}
