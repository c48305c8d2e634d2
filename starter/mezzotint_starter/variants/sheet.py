"""Draw one contact sheet of the bundled variants of starter-dit: a row for each model, a column for each prompt.

python -m mezzotint_starter.variants.sheet assets/samples/variants.webp
"""

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

MODELS = (
    "starter-trunk",
    "starter-local",
    "starter-block-sparse",
    "starter-lsh",
    "starter-routing",
    "starter-performer",
    "starter-relu",
    "starter-pyramid",
    "starter-selected",
    "starter-looped",
    "starter-mbconv",
)
REFINERS = ("starter-refine-2x",)  # after starter-dit
PROMPTS = (
    "a red house by the sea at dusk",
    "a blue boat on the sea by day",
    "a yellow tent in the mountains at night",
    "a green tree in a meadow by day",
    "a white lighthouse on the coast at night",
    "a purple castle in the forest at night",
)
SIDE, GAP, LABEL = 192, 4, 18


def images_of(model: str, folder: Path) -> list[Image.Image]:
    """One image for each prompt, each with the same seed for every model."""
    command = [sys.executable, "-P", "-m", "mezzotint", "generate", "--seed", "7", "-q", "-o", f"{folder}/{model}/"]
    chosen = ["-m", "starter-dit", "--refine-with", model] if model in REFINERS else ["-m", model]
    for prompt in PROMPTS:
        subprocess.run([*command, *chosen, prompt], check=True, stdout=subprocess.DEVNULL)  # noqa: S603  ours
    return [Image.open(path).convert("RGB") for path in sorted((folder / model).glob("*.png"))]


def sheet(rows: Sequence[tuple[str, Sequence[Image.Image]]]) -> Image.Image:
    """Rows of images with the name above each row."""
    height = SIDE + LABEL + GAP
    page = Image.new("RGB", (len(PROMPTS) * (SIDE + GAP) + GAP, len(rows) * height + GAP), "white")
    draw = ImageDraw.Draw(page)
    for number, (name, images) in enumerate(rows):
        top = number * height + GAP
        draw.text((GAP, top), name, fill="black", font_size=13)
        for column, image in enumerate(images):
            page.paste(image.resize((SIDE, SIDE), Image.Resampling.LANCZOS), (GAP + column * (SIDE + GAP), top + LABEL))
    return page


def main() -> None:
    """Generate the images and write the sheet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output", type=Path)
    parser.add_argument("--models", nargs="+", default=[*MODELS, *REFINERS])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [(model, images_of(model, Path(folder))) for model in arguments.models]
        sheet(rows).save(arguments.output, quality=80, method=6)


if __name__ == "__main__":
    main()
