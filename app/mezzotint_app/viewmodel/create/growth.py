"""By how much an image grows at its edges, and how an edge is pushed."""

from dataclasses import dataclass, replace

from mezzotint.protocol import Inpaint

STEP = 8  # pixels that an edge snaps to
LARGEST_SIDE = 4096  # pixels that may come to one side
LARGEST_AREA = 100_000_000  # pixels of the grown image
EDGES = ("left", "top", "right", "bottom")


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Pixels of the image that come to each side."""

    left: int = 0
    top: int = 0
    right: int = 0
    bottom: int = 0

    def __bool__(self) -> bool:
        return bool(self.left or self.top or self.right or self.bottom)

    def size(self, width: int, height: int) -> tuple[int, int]:
        """Of an image with its new parts."""
        return width + self.left + self.right, height + self.top + self.bottom

    def pushed(self, edges: frozenset[str], across: float, down: float, image: tuple[int, int]) -> "Growth":
        """Edges pushed by so many pixels of the image; as far as the image may grow."""
        grown = self
        for edge, outwards in (("left", -across), ("top", -down), ("right", across), ("bottom", down)):
            if edge in edges:
                grown = grown.with_edge(edge, snapped(getattr(self, edge) + outwards), image)
        return grown

    def with_edge(self, edge: str, pixels: int, image: tuple[int, int]) -> "Growth":
        """Another value for one edge; no more than keeps the grown image from being too large."""
        grown = replace(self, **{edge: min(max(pixels, 0), LARGEST_SIDE)})
        width, height = grown.size(*image)
        if width * height <= LARGEST_AREA:
            return grown
        across = edge in ("left", "right")
        excess = (width - LARGEST_AREA // height) if across else (height - LARGEST_AREA // width)
        return replace(self, **{edge: max(getattr(grown, edge) - excess, 0)})


def growth_of(inpaint: Inpaint | None) -> Growth:
    """The growth that a request asks for, as far as it can be asked for here."""
    if inpaint is None:
        return Growth()
    sides = {edge: min(max(getattr(inpaint, edge), 0), LARGEST_SIDE) for edge in EDGES}
    return Growth(**sides)


def snapped(pixels: float) -> int:
    """The nearest step, not below 0."""
    return max(round(pixels / STEP) * STEP, 0)
