"""Control images made of images: `detect` of A1111's ControlNet extension."""

from dataclasses import dataclass

from mezzotint.api_server.control_units import MODULES, preprocessor, take_without_effect
from mezzotint.api_server.fields import Fields
from mezzotint.api_server.pictures import image_bytes
from mezzotint.api_server.refusal import invalid
from mezzotint.control_protocol import Preprocess

_IMAGES = ("controlnet_input_images", "controlnet_images")  # the second is webuiapi's
MOST_IMAGES = 100  # in one request


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """Images in memory, and what is made of them."""

    images: tuple[bytes, ...]
    fields: tuple[str, ...]  # of the images, for errors
    preprocess: Preprocess


def read_detection(fields: Fields) -> Detection:
    """Translate the fields of a request. Raises Refusal for whatever cannot be done as it says."""
    module = preprocessor(fields, "controlnet_module")
    field, texts = next(((name, given) for name in _IMAGES if (given := fields.texts(name))), (_IMAGES[0], []))
    if not 1 <= len(texts) <= MOST_IMAGES:
        raise invalid(field, f"{len(texts)} images are given; expected 1 to {MOST_IMAGES}")
    names = tuple(f"{field}[{index}]" for index in range(len(texts)))
    images = tuple(image_bytes(text, name) for text, name in zip(texts, names, strict=True))
    take_without_effect(fields, module, prefix="controlnet_")
    return Detection(images=images, fields=names, preprocess=MODULES[module])
