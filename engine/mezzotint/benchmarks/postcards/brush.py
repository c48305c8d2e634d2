"""A brush in object coordinates: x to the right, y up, the base at (0, 0), the object's size as the unit."""

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import ImageDraw

from mezzotint.benchmarks.postcards.palette import Colour

Point = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brush:
    """Draws shapes relative to a base point in an image, `unit` pixels per unit."""

    draw: ImageDraw.ImageDraw
    x: float
    y: float
    unit: float

    def at(self, point: Point) -> Point:
        """Return the pixel position of a point in units."""
        return self.x + point[0] * self.unit, self.y - point[1] * self.unit

    def polygon(self, points: Sequence[Point], fill: Colour) -> None:
        """Draw a filled polygon."""
        self.draw.polygon([self.at(point) for point in points], fill=fill)

    def box(self, left: float, bottom: float, right: float, top: float, fill: Colour) -> None:
        """Draw a filled rectangle."""
        self.draw.rectangle([self.at((left, top)), self.at((right, bottom))], fill=fill)

    def oval(self, left: float, bottom: float, right: float, top: float, fill: Colour) -> None:
        """Draw a filled ellipse inside this rectangle."""
        self.draw.ellipse([self.at((left, top)), self.at((right, bottom))], fill=fill)

    def line(self, start: Point, end: Point, fill: Colour, width: float) -> None:
        """Draw a line with a width in units."""
        self.draw.line([self.at(start), self.at(end)], fill=fill, width=max(1, round(width * self.unit)))
