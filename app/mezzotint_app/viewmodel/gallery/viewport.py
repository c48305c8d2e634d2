"""Geometry of an image in a view: zoom and pan, without a display."""

from dataclasses import dataclass, replace

LARGEST = 64.0  # maximum screen pixels per image pixel


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """The visible content in image pixels; larger than the image if a frame extends beyond it."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewport:
    """A view whose center shows the image position (x, y)."""

    content: Content
    width: float  # view size in device-independent pixels
    height: float
    pixel_ratio: float = 1.0  # screen pixels per device-independent pixel
    scale: float = 1.0  # device-independent pixels per image pixel
    x: float = 0.0
    y: float = 0.0

    def fit_scale(self) -> float:
        """Return the scale at which the content just fits the view."""
        across, down = self.width / max(self.content.width, 1e-6), self.height / max(self.content.height, 1e-6)
        return max(min(across, down, LARGEST / self.pixel_ratio), 1e-6)

    def actual_scale(self) -> float:
        """Return the scale at which an image pixel is a screen pixel."""
        return 1 / self.pixel_ratio

    def fitted(self) -> "Viewport":
        """Fit the content to the view."""
        return replace(self, scale=self.fit_scale()).kept_in()

    def zoomed(self, scale: float, across: float, down: float) -> "Viewport":
        """Zoom to `scale`, keeping the image position under view position (across, down) fixed."""
        scale = min(max(scale, self.smallest()), LARGEST / self.pixel_ratio)
        x, y = self.to_image(across, down)
        return replace(
            self, scale=scale, x=x - (across - self.width / 2) / scale, y=y - (down - self.height / 2) / scale
        ).kept_in()

    def smallest(self) -> float:
        """Return the smallest useful scale: the content fits, or is shown at actual size."""
        return min(self.fit_scale(), self.actual_scale())

    def moved(self, across: float, down: float) -> "Viewport":
        """Move the image by a distance in the view."""
        return replace(self, x=self.x - across / self.scale, y=self.y - down / self.scale).kept_in()

    def resized(self, width: float, height: float, pixel_ratio: float) -> "Viewport":
        """Change the size of the view, keeping its center."""
        return replace(self, width=width, height=height, pixel_ratio=pixel_ratio).kept_in()

    def replaced(self, content: Content) -> "Viewport":
        """Replace the content, keeping the visible part and its size on the screen."""
        old = self.content
        part_x = (self.x - old.left) / max(old.width, 1e-6)
        part_y = (self.y - old.top) / max(old.height, 1e-6)
        return replace(
            self,
            content=content,
            scale=self.scale * old.width / max(content.width, 1e-6),
            x=content.left + part_x * content.width,
            y=content.top + part_y * content.height,
        ).kept_in()

    def like(self, other: "Viewport") -> "Viewport":
        """Show the same part of the content as another view does of its own."""
        scale = other.scale * other.content.width / max(self.content.width, 1e-6)
        part_x = (other.x - other.content.left) / max(other.content.width, 1e-6)
        part_y = (other.y - other.content.top) / max(other.content.height, 1e-6)
        return replace(
            self,
            scale=scale,
            x=self.content.left + part_x * self.content.width,
            y=self.content.top + part_y * self.content.height,
        ).kept_in()

    def kept_in(self) -> "Viewport":
        """Center content smaller than the view, and leave no gap at the edges of larger content."""
        return replace(
            self,
            x=_kept(self.x, self.content.left, self.content.width, self.width / self.scale),
            y=_kept(self.y, self.content.top, self.content.height, self.height / self.scale),
        )

    def can_move(self) -> bool:
        """Whether part of the content is outside the view."""
        slack = 1e-6 * max(self.width, self.height, 1.0)
        across, down = self.content.width * self.scale, self.content.height * self.scale
        return across > self.width + slack or down > self.height + slack

    def to_image(self, across: float, down: float) -> tuple[float, float]:
        """Convert a view position to an image position."""
        return self.x + (across - self.width / 2) / self.scale, self.y + (down - self.height / 2) / self.scale

    def to_view(self, x: float, y: float) -> tuple[float, float]:
        """Convert an image position to a view position."""
        return (x - self.x) * self.scale + self.width / 2, (y - self.y) * self.scale + self.height / 2


def _kept(middle: float, start: float, length: float, seen: float) -> float:
    if length <= seen:
        return start + length / 2
    return min(max(middle, start + seen / 2), start + length - seen / 2)
