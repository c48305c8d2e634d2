"""Peak rates of GPUs, from the planner's figures: what each instruction can reach at most."""

from dataclasses import dataclass

from mezzotint.memory.machine.cards import known_card
from mezzotint.memory.machine.product_rates import PRODUCT_RATES, SCHEDULERS
from mezzotint.memory.machine.speeds import of_architecture

NAMES = ("RTX 2080 Ti", "RTX 3090", "RTX 4090", "RTX 5090", "A100", "H200", "B200", "B300")
EXPONENTIALS = 16  # per clock and multiprocessor
_MORE_EXPONENTIALS = {
    "sm_103": 32
}  # 10.7 x 10^12 a second on a B300, 5 on a B200: verda.com/blog/gb300-nvl72-architecture
_FULL = {"sm_90": 4096, "sm_100": 8192, "sm_103": 8192}  # 16-bit operations per clock that the planner's figure is of


@dataclass(frozen=True, slots=True, kw_only=True)
class CardRates:
    """Peak rates of a GPU, per second."""

    name: str
    f16: float
    f16_sums: float
    int8: float
    int4: float
    fp8: float  # 0: not by these kernels
    mxfp8: float
    nvfp4: float
    wgmma: float
    exponentials: float
    instructions: float  # of warps
    bandwidth: float  # bytes


def rates_of(name: str) -> CardRates:
    """The rates of a known card."""
    card = known_card(name)
    assert card is not None  # noqa: S101  NAMES are known
    figures, rates = of_architecture(card.architecture), PRODUCT_RATES[card.architecture]
    # Clocks per second of all multiprocessors together.
    clock = figures.flops / _FULL.get(card.architecture, rates.f16) * card.processors
    return CardRates(
        name=name,
        f16=rates.f16 * clock,
        f16_sums=rates.f16_sums * clock,
        int8=rates.int8 * clock,
        int4=rates.int4 * clock,
        fp8=rates.fp8 * clock,
        mxfp8=rates.mxfp8 * clock,
        nvfp4=rates.nvfp4 * clock,
        wgmma=(_FULL["sm_90"] if card.architecture == "sm_90" else 0) * clock,
        exponentials=_MORE_EXPONENTIALS.get(card.architecture, EXPONENTIALS) * clock,
        instructions=SCHEDULERS * clock,
        bandwidth=figures.bandwidth * card.processors,
    )
