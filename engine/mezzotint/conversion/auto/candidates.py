"""The formats that each layer of a network can have, over all schemes."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from mezzotint.errors import ModelRefused
from mezzotint.protocol import SCHEMES
from mezzotint.quantization.formats import Format
from mezzotint.quantization.policy import Choice, LayerShape, formats_for


def candidates_of(
    class_name: str, layers: tuple[LayerShape, ...], choice: Choice, schemes: Collection[str] = SCHEMES
) -> dict[str, tuple[Format, ...]]:
    """The formats of each layer by name, without those that the policy keeps; all settings but the scheme: `choice`'s.

    Raises ModelRefused if no scheme fits any layer.
    """
    found: dict[str, dict[Format, None]] = {}
    refused: ModelRefused | None = None
    for scheme in SCHEMES:
        if scheme not in schemes:
            continue
        try:
            formats: Mapping[str, Format] = formats_for(class_name, layers, replace(choice, scheme=scheme))
        except ModelRefused as error:
            refused = error
            continue
        for name, each in formats.items():
            found.setdefault(name, {})[each] = None
    if not found and refused is not None:
        raise refused
    return {name: tuple(formats) for name, formats in found.items()}
