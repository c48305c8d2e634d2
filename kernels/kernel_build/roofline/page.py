"""The tables of docs/kernels.md, between two marks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from kernel_build.errors import BuildError
from kernel_build.registers import RegisterTable
from kernel_build.results import PENDING, Row
from kernel_build.roofline.bounds import NUMBERS, expected, runs_on
from kernel_build.roofline.cards import NAMES, rates_of
from kernel_build.roofline.code import ARCHITECTURE, StepCode
from kernel_build.roofline.kernels import Work
from kernel_build.sources import FAMILY, HOPPER, OUTPUT

PAGE = OUTPUT.parent / "docs" / "kernels.md"
BEGIN, END = "<!-- tables: begin -->", "<!-- tables: end -->"


def tables(works: Sequence[Work], code: Mapping[str, StepCode], registers: RegisterTable, rows: Iterable[Row]) -> str:
    """All tables. Raises BuildError if a kernel is in neither of the tables of instructions and registers."""
    missing = [work.label for work in works if work.label not in code]
    missing += [work.label for work in works if _registers(work, registers) is None]
    if missing:
        raise BuildError(f"{missing[0]} has not been counted: python -m kernel_build roofline")
    measured = list(rows)
    parts = [_rates(), _steps(works, code, registers), *(_cards(work, code[work.label], measured) for work in works)]
    return "\n\n".join(parts)


def with_tables(page: str, text: str) -> str:
    """The page with these tables. Raises BuildError if it lacks the marks."""
    head, begin, rest = page.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise BuildError(f"{PAGE} lacks the marks {BEGIN} and {END}")
    return f"{head}{BEGIN}\n\n{text}\n\n{END}{tail}"


def write_page(text: str, path: Path = PAGE) -> None:
    """Write the tables into the page."""
    path.write_text(with_tables(path.read_text("utf-8"), text), "utf-8", newline="\n")


def _rates() -> str:
    rows = [
        (card.name, *(_rate(getattr(card, name)) for name in NUMBERS),
         f"{card.exponentials / 1e12:.1f}", f"{card.bandwidth / 1e9:.0f}")
        for card in map(rates_of, NAMES)
    ]  # fmt: skip
    header = ("GPU", *NUMBERS.values(), "exponentials, 10^12/s", "memory, GB/s")
    return f"## Peaks\n\n{_table(header, rows)}"


def _steps(works: Sequence[Work], code: Mapping[str, StepCode], registers: RegisterTable) -> str:
    rows = []
    for work in works:
        each = code[work.label]
        counts = (each.all, each.hmma, each.imma, each.ex2, each.ldsm, each.ldgsts)
        rows.append((work.name, work.step, *map(str, counts), str(_registers(work, registers))))
    header = ("kernel", "a warp's step", "instructions", "HMMA", "IMMA", "EX2", "LDSM", "LDGSTS", "registers")
    return f"## Instructions of one step\n\n{_table(header, rows)}"


def _registers(work: Work, registers: RegisterTable) -> int | None:
    found = (registers.registers.get((work.label, each)) for each in (ARCHITECTURE, FAMILY, HOPPER))
    return next((number for number in found if number is not None), None)


def _cards(work: Work, code: StepCode, measured: Sequence[Row]) -> str:
    rows = []
    for card in map(rates_of, NAMES):
        if not runs_on(work, card):
            rows.append((card.name, *["-"] * 3, "no such products", "-"))
            continue
        seconds, limit = expected(work, code, card)
        rate = f"{work.operations / seconds / 1e12:.0f}" if work.operations else "-"
        moved = f"{work.bytes / seconds / 1e9:.0f}"
        rows.append((card.name, f"{seconds * 1e6:.0f}", rate, moved, limit, _figure(work, card.name, measured)))
    flops, size = work.operations / 1e9, work.bytes / 1e6
    about = f"{work.shape}: {flops:.1f} x 10^9 operations, {size:.1f} MB."
    header = ("GPU", "µs at least", "10^12 operations/s", "GB/s", "limit", "measured")
    return f"## {work.name[0].upper()}{work.name[1:]}\n\n{about}\n\n{_table(header, rows)}"


def _rate(rate: float) -> str:
    return f"{rate / 1e12:.0f}" if rate else "-"


def _figure(work: Work, card: str, measured: Sequence[Row]) -> str:
    found = [row.figure for row in measured if row.what == work.result and card in row.gpu and row.figure != PENDING]
    return found[-1] if found else PENDING


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(_lines([header, ["---"] * len(header), *rows]))


def _lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for row in rows:
        yield f"| {' | '.join(row)} |"
