"""Products per clock of NVIDIA's architectures, and how much faster than in 16 bits those of quantized weights are.

`docs/kernels.md` (kernel_build/roofline) is written from the same rates. They are those of `mma.sync`, from NVIDIA's
white papers. GeForce cards have half the rate with 32-bit sums, but not for products with block scales, whose peak on
an RTX 5090 is 1676 TFLOPS in 4 bits. Hopper's 16-bit rate is twice as high by `wgmma`, and that of data-center
Blackwell (10.x) four times by `tcgen05`, which our kernels do not use. There `mma.sync` is taken to be as fast as on
Hopper: FlashAttention 2 reaches 444 TFLOPS on a B200 (benchmarks of NVIDIA/cudnn-frontend), 1600 operations per clock
and multiprocessor as on an H100. Products of 8 bits are left to torch there, in 16 bits: at most half of `tcgen05`'s
rate on a B200, and a sixteenth on a B300, which has 0.15 POPS (verda.com/blog/gb300-nvl72-architecture) and takes 6
to 13 times as long for them as for tf32 (pytorch/pytorch#187094).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mezzotint.memory.footprints.footprint import Scheme

SCHEDULERS = 4  # instructions per clock and multiprocessor


@dataclass(frozen=True, slots=True, kw_only=True)
class ProductRates:
    """Operations per clock and multiprocessor; 0: not by our kernels."""

    f16: int  # 16-bit numbers, 32-bit sums
    f16_sums: int  # 16-bit numbers and sums
    int8: int
    int4: int  # from Hopper on by products of 8-bit numbers
    fp8: int = 0  # 8-bit floats, 32-bit sums
    mxfp8: int = 0  # with block scales
    nvfp4: int = 0


PRODUCT_RATES = {
    "sm_75": ProductRates(f16=512, f16_sums=1024, int8=2048, int4=4096),
    "sm_80": ProductRates(f16=2048, f16_sums=2048, int8=4096, int4=8192),
    "sm_86": ProductRates(f16=512, f16_sums=1024, int8=2048, int4=4096),
    "sm_89": ProductRates(f16=512, f16_sums=1024, int8=2048, int4=4096, fp8=1024),
    "sm_90": ProductRates(f16=2048, f16_sums=2048, int8=4096, int4=4096),
    "sm_100": ProductRates(f16=2048, f16_sums=2048, int8=0, int4=0),
    "sm_103": ProductRates(f16=2048, f16_sums=2048, int8=0, int4=0),
    "sm_120": ProductRates(f16=512, f16_sums=1024, int8=2048, int4=2048, fp8=1024, mxfp8=2048, nvfp4=4096),
}
# What each scheme multiplies.
_NUMBERS: Mapping[Scheme, str] = {
    "int8": "int8",
    "int4-lowrank": "int8",
    "int4-codebook": "int8",
    "int4-rot": "int4",
    "svdquant": "int4",
    "fp8": "fp8",
    "nvfp4": "nvfp4",
}
# Operations of the kernels' main loops by instruction of a warp, as counted for docs/kernels.md, where unpacking or
# scaling may take longer than the products.
OF_AN_INSTRUCTION: Mapping[Scheme, float] = {"int4-lowrank": 1263, "int4-codebook": 999, "svdquant": 774}


def product_rates(architecture: str) -> ProductRates | None:
    """Return the rates of an architecture such as sm_86; None if there are no kernels for it.

    An unlisted one has those of the closest older one, without block scales unless it is of the same family.
    """
    exact = PRODUCT_RATES.get(architecture)
    if exact is not None:
        return exact
    older = [name for name in PRODUCT_RATES if version_of(name) <= version_of(architecture)]
    if not older:
        return None
    closest = max(older, key=version_of)
    is_family = version_of(closest) // 10 == version_of(architecture) // 10
    return PRODUCT_RATES[closest] if is_family else replace(PRODUCT_RATES[closest], mxfp8=0, nvfp4=0)


def times_16_bits(scheme: Scheme, architecture: str) -> float | None:
    """How many times as fast as in 16 bits the scheme's products are at most; None if it has none there."""
    rates = product_rates(architecture)
    rate = 0 if rates is None or scheme not in _NUMBERS else getattr(rates, _NUMBERS[scheme])
    if rates is None or not rate:
        return None
    return min(float(rate), SCHEDULERS * OF_AN_INSTRUCTION.get(scheme, rate)) / rates.f16


def version_of(name: str) -> int:
    """Return 86 of sm_86; 0 if it is not one of NVIDIA's."""
    digits = name.removeprefix("sm_").rstrip("abcdef")
    return int(digits) if digits.isdigit() else 0
