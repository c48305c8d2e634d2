"""Signs in a file's header of quantized layers that nothing in it describes; without torch."""

from collections.abc import Mapping

from mezzotint.checkpoints.header import TensorSpec

INTEGERS = ("I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64")  # in which no weight is as it is
_FOREIGN = {  # ends of tensor names by which programs keep a quantized weight in parts
    ".weight._data": "quanto",
    "._weight_qdata": "torchao",
    ".weight_packed": "compressed-tensors",
    ".weight_quantizer._scale": "NVIDIA ModelOpt",
    ".weight_quantizer._amax": "NVIDIA ModelOpt",
    ".W_q": "HQQ",
}


def may_be_quantized(tensors: Mapping[str, TensorSpec]) -> bool:
    """Whether layers may be in 8 bits, or in parts of another program."""
    return any(
        spec.dtype.startswith("F8_") or (spec.dtype in INTEGERS and name.endswith(".weight")) or program_of(name)
        for name, spec in tensors.items()
    )


def program_of(name: str) -> str | None:
    """The program that writes a quantized weight's parts under such a name; None for a usual one."""
    return next((program for end, program in _FOREIGN.items() if name.endswith(end)), None)
