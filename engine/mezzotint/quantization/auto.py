"""Which scheme `auto` stands for: fixed by the model and the machine, never by the free memory of the moment."""

from mezzotint.protocol import DeviceInfo, Quantization

_BESIDE = 5 * 2**29  # bytes that a card needs beside the network: activations, the decoder, the driver
_SHARES: tuple[tuple[Quantization, float], ...] = (("none", 1.0), ("int8", 0.52))
_SMALLEST: Quantization = "int4-lowrank"


def settle(asked: Quantization, network_bytes: int, device: DeviceInfo) -> Quantization:
    """The scheme for a network of so many bytes in 16 bits; on a processor `auto` is none, for nothing is gained."""
    if asked != "auto":
        return asked
    if not device.id.startswith("cuda"):
        return "none"
    room = device.memory_bytes - _BESIDE
    return next((scheme for scheme, share in _SHARES if network_bytes * share <= room), _SMALLEST)
