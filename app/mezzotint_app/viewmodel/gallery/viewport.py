"""Where an image stands in a view: zoom and pan as numbers, without a display."""

from dataclasses import dataclass, replace

LARGEST = 64.0  # pixels of the screen for one of the image


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What is shown, in pixels of the image; more than the image where a frame goes beyond it."""

    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewport:
    """A view of so many points, whose middle shows the place (x, y) of the image."""

    content: Content
    width: float  # points of the view
    height: float
    pixel_ratio: float = 1.0  # pixels of the screen in a point
    scale: float = 1.0  # points for a pixel of the image
    x: float = 0.0
    y: float = 0.0

    def fit_scale(self) -> float:
        """The scale at which all of it is just seen."""
        across, down = self.width / max(self.content.width, 1e-6), self.height / max(self.content.height, 1e-6)
        return max(min(across, down, LARGEST / self.pixel_ratio), 1e-6)

    def actual_scale(self) -> float:
        """The scale at which a pixel of the image is one of the screen."""
        return 1 / self.pixel_ratio

    def fitted(self) -> "Viewport":
        """All of it, as large as it can be."""
        return replace(self, scale=self.fit_scale()).kept_in()

    def zoomed(self, scale: float, across: float, down: float) -> "Viewport":
        """Another scale; what lies under the point (across, down) of the view stays there."""
        scale = min(max(scale, self.smallest()), LARGEST / self.pixel_ratio)
        x, y = self.to_image(across, down)
        return replace(
            self, scale=scale, x=x - (across - self.width / 2) / scale, y=y - (down - self.height / 2) / scale
        ).kept_in()

    def smallest(self) -> float:
        """Smaller than this shows nothing more."""
        return min(self.fit_scale(), self.actual_scale())

    def moved(self, across: float, down: float) -> "Viewport":
        """The image pushed by so many points."""
        return replace(self, x=self.x - across / self.scale, y=self.y - down / self.scale).kept_in()

    def resized(self, width: float, height: float, pixel_ratio: float) -> "Viewport":
        """A view of another size; the middle stays the middle."""
        return replace(self, width=width, height=height, pixel_ratio=pixel_ratio).kept_in()

    def replaced(self, content: Content) -> "Viewport":
        """Another image in the place of this one: the same part of it, as large on the screen."""
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

    def kept_in(self) -> "Viewport":
        """What is smaller than the view stands in its middle; what is larger leaves no gap at an edge."""
        return replace(
            self,
            x=_kept(self.x, self.content.left, self.content.width, self.width / self.scale),
            y=_kept(self.y, self.content.top, self.content.height, self.height / self.scale),
        )

    def can_move(self) -> bool:
        """Whether a part of it is out of sight."""
        slack = 1e-6 * max(self.width, self.height, 1.0)
        across, down = self.content.width * self.scale, self.content.height * self.scale
        return across > self.width + slack or down > self.height + slack

    def to_image(self, across: float, down: float) -> tuple[float, float]:
        """The place of the image under a point of the view."""
        return self.x + (across - self.width / 2) / self.scale, self.y + (down - self.height / 2) / self.scale

    def to_view(self, x: float, y: float) -> tuple[float, float]:
        """The point of the view over a place of the image."""
        return (x - self.x) * self.scale + self.width / 2, (y - self.y) * self.scale + self.height / 2


def _kept(middle: float, start: float, length: float, seen: float) -> float:
    if length <= seen:
        return start + length / 2
    return min(max(middle, start + seen / 2), start + length - seen / 2)
