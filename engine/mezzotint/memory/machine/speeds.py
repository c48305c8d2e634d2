"""Estimated speeds of machines on which nothing has been measured yet.

A forward pass takes as long as its products, reading its weights once, or launching its kernels, whichever is longest.
16-bit products with 32-bit accumulation, per multiprocessor, are from NVIDIA's white papers on the architectures Turing
(RTX 2080 Ti: 53.8 TFLOPS, 68), Ampere (A100: 312, 108; RTX 3090: 71, 82), Ada (RTX 4090: 165, 128), Hopper (H100: 990,
132) and Blackwell (B200: 2250, 148; RTX 5090: 209, 170); bandwidths are from the same cards' data sheets. The fraction
that torch reaches in whole networks is derived from published times, which `docs/quality.md` lists next to the
resulting estimates. Speedups of 8-bit products are those of whole networks as published by users: 1.26 to 1.99 on an
RTX 3090, 1.4 on a 4060 Ti, none to 1.3 on Blackwell's small cards, 1.07 on Hopper. On 10.x, 8-bit weights are
dequantized (product_rates.py).
"""

from dataclasses import dataclass
from typing import TypedDict

from mezzotint.memory.footprints.footprint import Scheme
from mezzotint.memory.machine.product_rates import times_16_bits, version_of

_GIGA = 1e9
# Seconds of host time per block, whose kernels torch launches one by one. The U-Net of Stable Diffusion 1.5 has 44
# blocks and takes 32 to 40 ms at 512x512 on an A100, an RTX 4080 and an RTX 4090 alike, so the bottleneck is the host
# (fal-ai/stable-diffusion-benchmarks, the README of chengzeyi/stable-fast).
LAUNCH_SECONDS = 0.75e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Architecture:
    """A generation of GPUs."""

    flops: float  # per multiprocessor, 16 bits
    reached: float  # fraction of that reached in networks
    bandwidth: float  # of GPU memory, bytes per second, per multiprocessor
    processors: int  # multiprocessors of an ordinary card
    int8_speedup: float
    pcie: int  # PCIe generation


class Computing(TypedDict):
    """What bounds pass times, with the field names of `MachineFacts`."""

    speed: float
    int8_speedup: float
    bandwidth: float
    launch_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Copy rates from host to device, bytes per second."""

    pinned: float
    pageable: float


ARCHITECTURES = {
    "sm_75": Architecture(flops=0.79e12, reached=0.65, bandwidth=9e9, processors=36, int8_speedup=1.5, pcie=3),
    "sm_80": Architecture(flops=2.9e12, reached=0.4, bandwidth=18e9, processors=108, int8_speedup=1.3, pcie=4),
    "sm_86": Architecture(flops=0.87e12, reached=0.75, bandwidth=12e9, processors=28, int8_speedup=1.5, pcie=4),
    "sm_89": Architecture(flops=1.29e12, reached=0.68, bandwidth=9e9, processors=34, int8_speedup=1.4, pcie=4),
    "sm_90": Architecture(flops=7.5e12, reached=0.38, bandwidth=30e9, processors=132, int8_speedup=1.05, pcie=5),
    "sm_100": Architecture(flops=15.2e12, reached=0.38, bandwidth=54e9, processors=148, int8_speedup=0.95, pcie=5),
    "sm_103": Architecture(flops=15.2e12, reached=0.38, bandwidth=54e9, processors=148, int8_speedup=0.95, pcie=5),
    "sm_120": Architecture(flops=1.23e12, reached=0.65, bandwidth=11e9, processors=36, int8_speedup=1.2, pcie=5),
}
# Other makers' GPUs by prefix of the architecture's name, from their specifications: RX 6800 XT (41 TFLOPS, 36
# multiprocessors as torch counts them), RX 7900 XTX (123, 48), RX 9070 XT (195, 32), MI250X (192 of each half, 110),
# Arc A770 (137, 32), a small M-series chip as a whole. A 7900 XTX takes 1.3 times as long for SDXL as an RTX 4070 Ti
# Super (Visionatrix' hardware tests), a third of its specified speed. Without our kernels 8 bits are not faster.
OTHERS = {
    "gfx10": Architecture(flops=1.15e12, reached=0.35, bandwidth=14e9, processors=36, int8_speedup=0.5, pcie=4),
    "gfx11": Architecture(flops=2.56e12, reached=0.35, bandwidth=20e9, processors=48, int8_speedup=0.5, pcie=4),
    "gfx12": Architecture(flops=6.1e12, reached=0.35, bandwidth=20e9, processors=32, int8_speedup=0.5, pcie=5),
    "gfx": Architecture(flops=1.75e12, reached=0.35, bandwidth=14e9, processors=110, int8_speedup=0.5, pcie=4),
    "xe": Architecture(flops=4.3e12, reached=0.35, bandwidth=17e9, processors=32, int8_speedup=0.5, pcie=4),
    "apple": Architecture(flops=7.3e12, reached=0.55, bandwidth=120e9, processors=1, int8_speedup=0.5, pcie=4),
}
ORDINARY = "sm_86"  # RTX 3060, a common card
LINKS = {
    3: Link(pinned=12 * _GIGA, pageable=6 * _GIGA),
    4: Link(pinned=24 * _GIGA, pageable=9 * _GIGA),
    5: Link(pinned=50 * _GIGA, pageable=14 * _GIGA),
}
DISK_RATE = 2 * _GIGA  # an ordinary NVMe disk, reading one large file sequentially
LOCK_RATE = 2 * _GIGA  # of page locking: 1 to 2 by openvm-org/stark-backend#384, 5 by rapidsai/dask-cuda#98
RAM_RATE = 8 * _GIGA  # copying in RAM, one thread
PROCESSOR_FLOPS = 25 * _GIGA  # one core with AVX2, 32 bits, as reached in networks
PROCESSOR_INT8 = 0.6  # there is no 8-bit product, so weights are dequantized first

# Speed by scheme, relative to 16 bits, where weights are dequantized for products.
_DEQUANTIZED: dict[Scheme, float] = {
    "none": 1.0,
    "int8-weight": 0.95,
    "int4": 0.85,
    "int4-lowrank": 0.8,
    "int4-codebook": 0.8,
    "fp8": 0.9,
    "nvfp4": 0.85,
}


def of_architecture(name: str) -> Architecture:
    """Return an architecture's figures; for an unlisted one those of the closest older architecture."""
    other = next((figures for begin, figures in OTHERS.items() if name.startswith(begin)), None)
    if other is not None:
        return other
    number = version_of(name)
    known = [listed for listed in ARCHITECTURES if version_of(listed) <= number]
    return ARCHITECTURES[max(known, key=version_of, default=ORDINARY)]


def speed_of(architecture: Architecture, processors: int | None = None) -> float:
    """Operations per second reached by networks in 16 bits."""
    return architecture.flops * (processors or architecture.processors) * architecture.reached


def computing_of(architecture: Architecture, processors: int | None = None) -> Computing:
    """What bounds pass times on a GPU."""
    return Computing(
        speed=speed_of(architecture, processors),
        int8_speedup=architecture.int8_speedup,
        bandwidth=architecture.bandwidth * (processors or architecture.processors),
        launch_seconds=LAUNCH_SECONDS,
    )


def scheme_speed(scheme: Scheme, int8_speedup: float, architecture: str) -> float:
    """Speed of a denoiser with weights in this scheme, relative to 16 bits.

    The share of its time that products take follows from int8's speedup; other products are as much faster than int8's
    as their rates are. Without such products weights are dequantized.
    """
    times, of_int8 = times_16_bits(scheme, architecture), times_16_bits("int8", architecture)
    if times is None or of_int8 is None or int8_speedup <= 1:
        return _DEQUANTIZED.get(scheme, int8_speedup)
    share = min(1.0, (1 - 1 / int8_speedup) / (1 - 1 / of_int8))
    return 1 / (1 - share + share / times)


def dequantized_speed(scheme: Scheme) -> float:
    """Speed of products with dequantized weights in this scheme, relative to 16 bits."""
    return _DEQUANTIZED.get(scheme, _DEQUANTIZED["int8-weight"])
