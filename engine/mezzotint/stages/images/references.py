"""Reference images of a job: whether its model takes them, and how they are preprocessed."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.catalog.catalog import FoundModel
from mezzotint.errors import UsageError
from mezzotint.families.detected import Detected
from mezzotint.families.family import Family
from mezzotint.families.flow.family import FlowFamily
from mezzotint.families.flow.spec import FlowSpec
from mezzotint.families.known import FLOW_FAMILIES
from mezzotint.images.reading import read_input
from mezzotint.parsed import Notify
from mezzotint.stages.images.request_images import Size

if TYPE_CHECKING:
    from PIL import Image


def check_references(found: FoundModel, count: int) -> None:
    """Raise UsageError for more reference images than a model takes."""
    most = found.detected.references
    if count <= most:
        return
    given = "1 reference image was given" if count == 1 else f"{count} reference images were given"
    if most:
        raise UsageError(f"{given}, and {found.info.id} takes {most} at most: leave {count - most} out")
    raise UsageError(
        f"{given}, and {found.info.id} takes none: leave --reference out, or use {_models_with_references()}"
    )


def reference_sizes(family: Family, detected: Detected, sizes: Sequence[Size]) -> tuple[Size, ...]:
    """Sizes at which a stage's denoiser receives the reference images; empty if it takes fewer than given."""
    if not isinstance(family, FlowFamily) or len(sizes) > detected.references:
        return ()
    return tuple(family.reference_size(*size, area_of(detected)) for size in sizes)


def read_references(paths: Sequence[Path], notify: Notify) -> "tuple[Image.Image, ...]":
    """Read the images as "RGB"; raises ImageRefused for one that cannot be read."""
    return tuple(read_input(path).take(notify) for path in paths)


def preprocess_references(family: Family, detected: Detected, images: "Sequence[Image.Image]") -> "list[Image.Image]":
    """The images resized and cropped for the denoiser."""
    if not isinstance(family, FlowFamily):
        return []
    return [family.fit_reference(image, area_of(detected)) for image in images]


def area_of(detected: Detected) -> int:
    """Pixels of a model's images."""
    return detected.defaults.width * detected.defaults.height


def encoder_references(family: Family, images: "tuple[Image.Image, ...]") -> "tuple[Image.Image, ...]":
    """The images that a family's text encoder takes as input."""
    return images if isinstance(family, FlowFamily) and family.encodes_references else ()


def _models_with_references() -> str:
    return " or ".join(_title(family.spec) for family in FLOW_FAMILIES if family.spec.references)


def _title(spec: FlowSpec) -> str:
    """A family's title, with the variants that take reference images if not all do."""
    some = len(spec.references) < len(spec.variants)
    return f"{spec.title} ({', '.join(spec.references)})" if some else spec.title
