"""Five things, drawn in a few lines, in place of the published pictures of hundreds."""

from PIL import Image, ImageDraw

from mezzotint_starter.scene_models.source import SceneSource
from mezzotint_starter.scenes.painting import ScenePainter
from mezzotint_starter.scenes.subjects import Subject

_COLOURS = {"ball": "#d82a2c", "box": "#2a68d6", "kite": "#fad330", "boat": "#349e4a", "glasses": "#843eb0"}


def subject(name: str, stance: str = "standing", *, coloured: bool = False, synonyms: tuple[str, ...] = ()) -> Subject:
    """Return a subject whose code is its name."""
    return Subject(code=name, name=name, synonyms=synonyms, stance=stance, coloured=coloured)


SUBJECTS = (
    subject("ball", coloured=True, synonyms=("sphere",)),
    subject("box"),
    subject("kite", "flying"),
    subject("boat", "floating", coloured=True),
    subject("glasses"),
)


class DrawnSprites:
    """A disc for each subject, or a square in the flat style, with a white mark, in a colour of its own."""

    def picture(self, subject: Subject, style: str) -> Image.Image:
        """Return the picture of a subject."""
        image = Image.new("RGBA", (32, 32))
        draw = ImageDraw.Draw(image)
        shape = draw.rectangle if style == "flat" else draw.ellipse
        shape([0, 0, 31, 31], fill=_COLOURS[subject.name])
        draw.rectangle([8, 8, 11, 11], fill="white")
        return image


def small_source(seed: int = 0) -> SceneSource:
    """Return a source of scenes of these things."""
    return SceneSource(subjects=SUBJECTS, painter=ScenePainter(DrawnSprites()), seed=seed)
