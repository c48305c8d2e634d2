"""Instances of the product, and plans for cards, as the emulator tells them."""

import ctypes
from dataclasses import dataclass


class InstanceInfo(ctypes.Structure):
    """Properties of an instance."""

    _fields_ = tuple(
        (name, ctypes.c_int32)
        for name in (
            "weight_bits",
            "x_bits",
            "dtype",
            "tile_m",
            "tile_n",
            "threads",
            "shared_bytes",
            "turing_shared_bytes",
            "is_grouped",
            "has_codebook",
            "floats",
            "is_gated",
            "is_split",
            "is_convolution",
        )
    )

    @property
    def multiplies(self) -> tuple[int | bool, ...]:
        """What it multiplies."""
        kinds = map(
            bool, (self.is_grouped, self.has_codebook, self.floats, self.is_gated, self.is_split, self.is_convolution)
        )
        return self.weight_bits, self.x_bits, self.dtype, *kinds

    @property
    def tile(self) -> tuple[int, int]:
        """Rows and columns of a block's output tile."""
        return self.tile_m, self.tile_n


class PlanStruct(ctypes.Structure):
    """A plan as the emulator returns it."""

    _fields_ = (
        ("supported", ctypes.c_int32),
        ("kernel", ctypes.c_int32),
        ("shared_bytes", ctypes.c_int32),
        ("text", ctypes.c_char * 240),
        ("splits", ctypes.c_int32),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """Device properties that the choice of instance depends on."""

    architecture: int
    multiprocessors: int
    shared_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The library's plan."""

    instance: InstanceInfo | None  # None: no kernel supports it
    shared_bytes: int
    text: str
    splits: int
