"""The settings of the Canvas page that the next session begins with."""

from dataclasses import dataclass, field

from PySide6.QtGui import QColor

from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.viewmodel.canvas.generation import InpaintChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasSettings:
    """Saved as they change."""

    inpaint: InpaintChoice = field(default_factory=InpaintChoice)
    brush_size: float = 48.0  # pixels, diameter
    hardness: float = 0.8
    colour: str = "#202020"


def keep_settings(model: CanvasModel, stored: Stored[CanvasSettings]) -> None:
    """Begin with the stored settings, and store them from now on."""
    tools, generation, settings = model.tools, model.generation, stored.value()
    generation.choose(settings.inpaint)
    tools.set_brush(size=settings.brush_size, hardness=settings.hardness)
    if QColor.isValidColorName(settings.colour):
        tools.set_colour(QColor(settings.colour))

    def tools_changed() -> None:
        brush = tools.brush()
        stored.change(brush_size=brush.size, hardness=brush.hardness, colour=tools.colour().name())

    tools.changed.connect(tools_changed)
    generation.changed.connect(lambda: stored.change(inpaint=generation.choice()))
