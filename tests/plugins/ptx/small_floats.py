"""Floating-point numbers of 8 and 4 bits: E4M3 and E2M1."""

import numpy as np

POSITIVE = {
    "e4m3": np.concatenate(
        [np.arange(8) * 2.0**-9, [(8 + f) * 2.0 ** (e - 10) for e in range(1, 16) for f in range(8)]]
    ),
    "e2m1": np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6]),
}


def e4m3_numbers(codes: np.ndarray) -> np.ndarray:
    """Return the values of bytes."""
    values = POSITIVE["e4m3"][codes & 127]
    return np.where((codes & 127) == 127, np.nan, np.where(codes & 128, -values, values))


def numbers_of(words: np.ndarray, kind: str) -> np.ndarray:
    """Return the numbers in registers (warps, 32, registers) of 8 or 4 bits: (warps, 32, numbers)."""
    if kind == "e4m3":
        return e4m3_numbers(words.view(np.uint8))
    halves = words[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & np.uint32(15)
    values = POSITIVE["e2m1"][halves & 7]
    return np.where(halves & 8, -values, values).reshape(*words.shape[:2], -1)


def codes_of(numbers: np.ndarray, kind: str) -> np.ndarray:
    """Return the codes next to numbers, the even one of two; those beyond the largest become that."""
    values = POSITIVE[kind] if kind == "e2m1" else POSITIVE[kind][:127]
    size = np.minimum(np.abs(numbers.astype(np.float64)), values[-1])
    low = np.clip(np.searchsorted(values, size, side="right") - 1, 0, len(values) - 2)
    above, below = size - values[low], values[low + 1] - size
    code = np.where((above < below) | ((above == below) & (low % 2 == 0)), low, low + 1)
    code = code | np.signbit(numbers) * (8 if kind == "e2m1" else 128)
    return np.where(np.isnan(numbers), 7 if kind == "e2m1" else 127, code).astype(np.uint32)
