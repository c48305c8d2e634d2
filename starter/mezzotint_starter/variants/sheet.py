"""Draw one contact sheet of the bundled variants of starter-dit: a row for each model, a column for each prompt.

python -m mezzotint_starter.variants.sheet assets/samples/variants.webp
"""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.protocol import Cascade, GenerateRequest, ModelRef, Output, Stage, Transition

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
SIDE, GAP, LABEL = 144, 3, 16


def images_of(engine: Engine, model: str, folder: Path) -> list[Image.Image]:
    """One image for each prompt, each with the same seed for every model."""
    return [_image(engine, model, prompt, folder / f"{model}-{number}") for number, prompt in enumerate(PROMPTS)]


def _image(engine: Engine, model: str, prompt: str, folder: Path) -> Image.Image:
    stages = tuple(
        Stage(model=ModelRef(id=name)) for name in (("starter-dit", model) if model in REFINERS else (model,))
    )
    transitions = (Transition(scale=2.0, strength=1.0, refines=True),) * (len(stages) - 1)
    cascade = Cascade(stages=stages, transitions=transitions)
    request = GenerateRequest(prompt=prompt, cascade=cascade, seed=7, output=Output(path=f"{folder}/"))
    (made,) = engine.generate(request, lambda _: None, lambda: False).images
    return Image.open(made.path).convert("RGB")


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
        engine = Engine(Catalog.standard())
        rows = [(model, images_of(engine, model, Path(folder))) for model in arguments.models]
        sheet(rows).save(arguments.output, quality=72, method=6)


if __name__ == "__main__":
    main()
