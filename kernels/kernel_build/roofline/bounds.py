"""The time that a kernel needs at least on a GPU, and what bounds it."""

from collections.abc import Iterator

from kernel_build.roofline.cards import CardRates
from kernel_build.roofline.code import StepCode
from kernel_build.roofline.kernels import Work

NUMBERS = {  # what is multiplied, by field of works and cards
    "f16": "16 bits, 32-bit sums",
    "f16_sums": "16-bit sums",
    "int8": "8 bits",
    "int4": "4 bits",
    "fp8": "8-bit floats",
    "mxfp8": "8-bit floats, block scales",
    "nvfp4": "4-bit floats, block scales",
    "wgmma": "16 bits, wgmma",
}


def bounds(work: Work, code: StepCode, card: CardRates) -> dict[str, float]:
    """Seconds that each resource needs at least."""
    return {
        "products": sum(work_of / card_rate for work_of, card_rate in _operations(work, card) if work_of),
        "exponentials": work.steps * code.ex2 * 32 / card.exponentials,
        "instructions": work.steps * code.all / card.instructions,
        "memory": work.bytes / card.bandwidth,
    }


def _operations(work: Work, card: CardRates) -> Iterator[tuple[float, float]]:
    for name in NUMBERS:
        yield getattr(work, name), getattr(card, name)


def runs_on(work: Work, card: CardRates) -> bool:
    """Whether the GPU has the kernel's products."""
    return all(rate for operations, rate in _operations(work, card) if operations)


def expected(work: Work, code: StepCode, card: CardRates) -> tuple[float, str]:
    """Seconds at least, and what bounds them."""
    found = bounds(work, code, card)
    limit = max(found, key=lambda each: found[each])
    return found[limit], limit
