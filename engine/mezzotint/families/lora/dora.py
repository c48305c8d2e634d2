"""DoRA layers of a LoRA file: what their magnitudes belong to (arXiv 2402.09353)."""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Protocol

from mezzotint.families.lora.keys import DoraPart, Part, Place

MAGNITUDES: tuple[DoraPart, ...] = ("magnitude", "dora_scale")


class _Layer(Protocol):
    """A layer of a LoRA file."""

    @property
    def place(self) -> Place: ...

    @property
    def names(self) -> Mapping[Part, str]: ...

    @property
    def magnitude(self) -> str | None: ...


def input_magnitudes(shapes: Mapping[DoraPart, tuple[int, ...]], weight: tuple[int, ...]) -> int:
    """Number of a layer's magnitudes if they are of the inputs of a weight `(n, k, ...)`; 0: of its outputs, or none.

    peft has one for each output. LyCORIS and ComfyUI have `(n, 1, ...)` for outputs, `(1, k, ...)` for inputs. k may
    include the kernel window. Raises ValueError, saying what is wrong, if they fit neither.
    """
    if not shapes:
        return 0
    if len(shapes) > 1:
        raise ValueError("there are two sets; it may hold two LoRAs")
    ((part, shape),) = shapes.items()
    outputs, inputs = weight[:2]
    if math.prod(shape) == outputs and (part == "magnitude" or shape[0] == outputs):
        return 0
    if part == "dora_scale" and len(shape) > 1 and math.prod(shape) == shape[1] and inputs % shape[1] == 0:
        return shape[1]
    wanted = f"{outputs} numbers" if part == "magnitude" else f"({outputs}, 1) or (1, {inputs})"
    raise ValueError(f"their shape is {shape} instead of {wanted}")


def first_incomplete(layers: Iterable[_Layer], doras: Collection[Place]) -> str | None:
    """Name of a tensor of the first layer that lacks its magnitudes: peft has them for all layers of a network.

    `doras`: the networks for which the metadata declares a DoRA. LyCORIS may mix DoRAs with others.
    """
    known = list(layers)
    complete = {layer.place for layer in known if "magnitude" in layer.names} | set(doras)
    lacking = (layer for layer in known if layer.place in complete and layer.magnitude is None)
    return next((next(iter(layer.names.values())) for layer in lacking), None)
