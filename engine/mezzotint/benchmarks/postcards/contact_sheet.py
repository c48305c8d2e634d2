"""Contact sheets."""

from collections.abc import Sequence

from PIL import Image

COLUMNS = 6
GAP = 4


def contact_sheet(images: Sequence[Image.Image], columns: int = COLUMNS) -> Image.Image:
    """Paste square images of one size into a grid on white."""
    side = images[0].width + GAP
    rows = -(-len(images) // columns)
    sheet = Image.new("RGB", (columns * side + GAP, rows * side + GAP), "white")
    for number, image in enumerate(images):
        sheet.paste(image, (GAP + number % columns * side, GAP + number // columns * side))
    return sheet
