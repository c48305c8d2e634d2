"""ONNX files written byte by byte, as their schema says (onnx.proto), since no package for writing them is needed."""

from collections.abc import Sequence

FLOAT, OPSET = 1, 17


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def field(number: int, value: int | bytes | str) -> bytes:
    """A field of a message: a whole number, or bytes with their length."""
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def value_info(name: str, shape: Sequence[int | str], kind: int = FLOAT) -> bytes:
    """The name and type of an input or output; a side that is a word may have any length."""
    sides = b"".join(field(1, field(1, side) if isinstance(side, int) else field(2, side)) for side in shape)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, sides)))


def node(kind: str, inputs: Sequence[str], output: str, *attributes: bytes) -> bytes:
    """An operation."""
    named = b"".join(field(1, name) for name in inputs)
    return named + field(2, output) + field(4, kind) + b"".join(field(5, each) for each in attributes)


def whole_numbers(name: str, values: Sequence[int]) -> bytes:
    """An attribute of whole numbers."""
    return field(1, name) + b"".join(field(8, value) for value in values) + field(20, 7)


def outside(name: str, shape: Sequence[int], location: str) -> bytes:
    """A tensor whose values are in another file."""
    sides = b"".join(field(1, side) for side in shape)
    return (
        sides + field(2, FLOAT) + field(8, name) + field(13, field(1, "location") + field(2, location)) + field(14, 1)
    )


def model(
    nodes: Sequence[bytes], inputs: Sequence[bytes], outputs: Sequence[bytes], tensors: Sequence[bytes] = ()
) -> bytes:
    """A file with one graph."""
    graph = b"".join(field(1, each) for each in nodes) + field(2, "graph")
    graph += b"".join(field(5, each) for each in tensors)
    graph += b"".join(field(11, each) for each in inputs) + b"".join(field(12, each) for each in outputs)
    return field(1, 8) + field(7, graph) + field(8, field(2, OPSET))


def brightness(side: int | str = 32) -> bytes:
    """A network whose mask is the mean of the normalized channels: bright parts are in front."""
    mean = node("ReduceMean", ["image"], "mask", whole_numbers("axes", [1]))
    shape = (side, side) if isinstance(side, int) else ("height", "width")
    return model([mean], [value_info("image", (1, 3, *shape))], [value_info("mask", (1, 1, *shape))])
