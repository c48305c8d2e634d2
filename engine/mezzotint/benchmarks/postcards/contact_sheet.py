"""Many images as one."""

from collections.abc import Sequence

from PIL import Image

COLUMNS = 6
GAP = 4


def contact_sheet(pictures: Sequence[Image.Image], columns: int = COLUMNS) -> Image.Image:
    """The images in rows on white."""
    side = pictures[0].width + GAP
    rows = -(-len(pictures) // columns)
    sheet = Image.new("RGB", (columns * side + GAP, rows * side + GAP), "white")
    for number, picture in enumerate(pictures):
        sheet.paste(picture, (GAP + number % columns * side, GAP + number // columns * side))
    return sheet
