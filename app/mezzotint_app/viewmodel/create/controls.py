"""The control images of the Create page."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace

from PySide6.QtCore import QCoreApplication

from mezzotint.control_protocol import ControlImage, ControlRef, ControlType, Preprocess

translate = QCoreApplication.translate


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlChoice:
    """A control image in the list; a disabled one keeps its position and settings."""

    image: str
    model: str = ""  # empty: not chosen yet
    weight: float = 1.0
    start: float = 0.0
    end: float = 1.0
    type: ControlType | None = None
    preprocess: Preprocess = "none"
    keep: bool = False
    on: bool = True
    sha256: str | None = None  # of the ControlNet, if from an image's metadata
    image_sha256: str | None = None
    encoder: str | None = None  # of an IP-Adapter; None: one near it
    encoder_sha256: str | None = None
    mask: str | None = None
    mask_sha256: str | None = None


_SHARED = tuple(one.name for one in fields(ControlRef))


def controls_in_use(controls: Iterable[ControlChoice]) -> tuple[ControlRef, ...]:
    """Return the enabled control images as in a request."""
    return tuple(ControlRef(**{name: getattr(one, name) for name in _SHARED}) for one in controls if one.on)


def planned_controls(controls: Iterable[ControlChoice]) -> tuple[str, ...]:
    """Return the enabled control images that have a ControlNet, as in a request for a plan."""
    return tuple(ControlImage().to_setting(one) for one in controls_in_use(controls) if one.model)


def controls_of(controls: Iterable[ControlRef]) -> tuple[ControlChoice, ...]:
    """Return the control images of a request."""
    return tuple(ControlChoice(**{name: getattr(one, name) for name in _SHARED}) for one in controls)


def with_images(controls: tuple[ControlChoice, ...], images: Iterable[str]) -> tuple[ControlChoice, ...]:
    """Return the list with images added, for the same ControlNet as the last one."""
    model = controls[-1].model if controls else ""
    return (*controls, *(ControlChoice(image=image, model=model) for image in dict.fromkeys(images)))


def with_model(controls: tuple[ControlChoice, ...], place: int, model: str) -> tuple[ControlChoice, ...]:
    """Return the list with another ControlNet for one image."""
    changed = replace(controls[place], model=model, sha256=None, encoder=None, encoder_sha256=None)
    return (*controls[:place], changed, *controls[place + 1 :])


def type_names() -> dict[ControlType, str]:
    """What a control image may show, in words."""
    return {
        "canny": translate("Control", "Edges (Canny)"),
        "depth": translate("Control", "Depth"),
        "openpose": translate("Control", "Pose"),
        "scribble": translate("Control", "Scribble"),
        "lineart": translate("Control", "Line art"),
        "anime_lineart": translate("Control", "Anime line art"),
        "hed": translate("Control", "Soft edges (HED)"),
        "pidi": translate("Control", "Soft edges (PiDi)"),
        "ted": translate("Control", "Edges (TED)"),
        "mlsd": translate("Control", "Straight lines"),
        "normal": translate("Control", "Surface normals"),
        "segment": translate("Control", "Segments"),
        "tile": translate("Control", "Tile"),
        "inpaint": translate("Control", "Inpainting"),
        "repaint": translate("Control", "Repainting"),
        "blur": translate("Control", "Blurred image"),
        "gray": translate("Control", "Grey image"),
        "low_quality": translate("Control", "Low quality"),
    }


def preprocess_names() -> dict[Preprocess, str]:
    """What is made of an image first, in words."""
    return {
        "none": translate("Control", "Use as it is"),
        "canny": translate("Control", "Find its edges"),
        "lines": translate("Control", "Find its soft contours"),
        "scribble": translate("Control", "Scribble its contours"),
        "depth": translate("Control", "Estimate its depth"),
        "pose": translate("Control", "Find the poses of people"),
        "gray": translate("Control", "Make it grey"),
        "tile": translate("Control", "Blur it"),
    }
