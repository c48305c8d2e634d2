"""Print the table of docs/training_memory.md: what is planned on which card, `python bench/training_cards.py`."""

import sys

from mezzotint.checkpoints.plain_text import size
from mezzotint.jobs.training.planning import plan_for
from mezzotint.training_protocol import TrainingPlan

MODELS = {
    "SDXL": "sdxl",
    "Z-Image": "z-image",
    "FLUX.2 Klein 4B": "flux2-klein-4b",
    "FLUX.1": "flux",
    "Qwen-Image": "qwen-image",
}
CARDS = (6, 8, 10, 12, 16, 24)  # GiB
RAM = 32 * 2**30


def main() -> int:
    """Print a row for each model."""
    print("| | " + " | ".join(f"{gib} GB" for gib in CARDS) + " |")
    print("|---" * (len(CARDS) + 1) + "|")
    for title, name in MODELS.items():
        plans = [plan_for(name, _no_catalog, vram_bytes=gib * 2**30, ram_bytes=RAM) for gib in CARDS]
        print(f"| {title} | " + " | ".join(map(_cell, plans)) + " |", flush=True)
    return 0


def _cell(plan: TrainingPlan) -> str:
    peak, levers = size(plan.peak_bytes).removesuffix(" GB"), plan.levers
    if not plan.fits:
        return f"no: {peak}"
    precision = "16 bits" if levers.quantization == "none" else levers.quantization
    said = [peak, precision, levers.checkpointing + (" offloaded" if levers.offload_activations else "")]
    said += [f"{levers.stream_blocks} streamed"] if levers.stream_blocks else []
    return ", ".join(said)


def _no_catalog() -> object:
    raise LookupError("only models with laws are in the table")


if __name__ == "__main__":
    sys.exit(main())
