"""Peak rates of GPUs, from the planner's figures: what each instruction can reach at most."""

from dataclasses import dataclass

from mezzotint.memory.machine.cards import known_card
from mezzotint.memory.machine.speeds import of_architecture

NAMES = ("RTX 2080 Ti", "RTX 3090", "RTX 4090", "RTX 5090", "A100", "H200")
SCHEDULERS = 4  # instructions per clock and multiprocessor
EXPONENTIALS = 16  # per clock and multiprocessor


@dataclass(frozen=True, slots=True, kw_only=True)
class Tensor:
    """Products of an architecture by mma.sync, operations per clock and multiprocessor."""

    f16: int  # 16-bit numbers, 32-bit sums
    f16_sums: int  # 16-bit numbers and sums
    int8: int
    int4: int  # from Hopper on by products of 8-bit numbers
    fp8: int = 0  # 8-bit floats, 32-bit sums; 0: not by these kernels


# GeForce cards have half the rate with 32-bit sums. Hopper's is twice as high by wgmma, which these kernels do not use.
_TENSOR = {
    "sm_75": Tensor(f16=512, f16_sums=1024, int8=2048, int4=4096),
    "sm_80": Tensor(f16=2048, f16_sums=2048, int8=4096, int4=8192),
    "sm_86": Tensor(f16=512, f16_sums=1024, int8=2048, int4=4096),
    "sm_89": Tensor(f16=512, f16_sums=1024, int8=2048, int4=4096, fp8=1024),
    "sm_90": Tensor(f16=2048, f16_sums=2048, int8=4096, int4=4096),
    "sm_120": Tensor(f16=512, f16_sums=1024, int8=2048, int4=2048, fp8=1024),
}
_FULL = {"sm_90": 4096}  # 16-bit operations per clock that the planner's figure is of


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRates:
    """Peak rates of a GPU, per second."""

    name: str
    f16: float
    f16_sums: float
    int8: float
    int4: float
    fp8: float  # 0: not by these kernels
    exponentials: float
    instructions: float  # of warps
    bandwidth: float  # bytes


def rates_of(name: str) -> CardRates:
    """The rates of a known card."""
    card = known_card(name)
    assert card is not None  # noqa: S101  NAMES are known
    figures, tensor = of_architecture(card.architecture), _TENSOR[card.architecture]
    # Clocks per second of all multiprocessors together.
    clock = figures.flops / _FULL.get(card.architecture, tensor.f16) * card.processors
    return CardRates(
        name=name,
        f16=tensor.f16 * clock,
        f16_sums=tensor.f16_sums * clock,
        int8=tensor.int8 * clock,
        int4=tensor.int4 * clock,
        fp8=tensor.fp8 * clock,
        exponentials=EXPONENTIALS * clock,
        instructions=SCHEDULERS * clock,
        bandwidth=figures.bandwidth * card.processors,
    )
