"""Outpainting: how far an image is extended at each edge, and dragging of edges."""

from dataclasses import dataclass, replace

from mezzotint.protocol import Inpaint

STEP = 8  # pixels; edges snap to multiples
LARGEST_SIDE = 4096  # pixels added at most to one edge
LARGEST_AREA = 100_000_000  # pixels of the extended image
EDGES = ("left", "top", "right", "bottom")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutpaintPadding:
    """Pixels added at each edge."""

    left: int = 0
    top: int = 0
    right: int = 0
    bottom: int = 0

    def __bool__(self) -> bool:
        return bool(self.left or self.top or self.right or self.bottom)

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Return the size of the extended image."""
        return width + self.left + self.right, height + self.top + self.bottom

    def pushed(self, edges: frozenset[str], across: float, down: float, image: tuple[int, int]) -> "OutpaintPadding":
        """Return the padding after dragging `edges` by a distance in image pixels, within the limits."""
        grown = self
        for edge, outwards in (("left", -across), ("top", -down), ("right", across), ("bottom", down)):
            if edge in edges:
                grown = grown.with_edge(edge, snapped(getattr(self, edge) + outwards), image)
        return grown

    def with_edge(self, edge: str, pixels: int, image: tuple[int, int]) -> "OutpaintPadding":
        """Return the padding with one edge changed, limited by the size of the extended image."""
        grown = replace(self, **{edge: min(max(pixels, 0), LARGEST_SIDE)})
        width, height = grown.size(*image)
        if width * height <= LARGEST_AREA:
            return grown
        across = edge in ("left", "right")
        excess = (width - LARGEST_AREA // height) if across else (height - LARGEST_AREA // width)
        return replace(self, **{edge: max(getattr(grown, edge) - excess, 0)})


def outpaint_padding_of(inpaint: Inpaint | None) -> OutpaintPadding:
    """Return the padding in a request, clamped to the limits."""
    if inpaint is None:
        return OutpaintPadding()
    sides = {edge: min(max(getattr(inpaint, edge), 0), LARGEST_SIDE) for edge in EDGES}
    return OutpaintPadding(**sides)


def snapped(pixels: float) -> int:
    """Round to the nearest multiple of `STEP`, at least 0."""
    return max(round(pixels / STEP) * STEP, 0)
