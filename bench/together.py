"""Compare images denoised together with the same images generated one by one: pixel differences and speedup.

python bench/together.py [--batch 4] [--pairs 7] [--model starter-dit --model starter-xl] [--no-samplers]

Time: pairs of runs with the same number of images, one by one and together, alternating; the median of the ratios.
Every image has a new prompt, so none is cached. Pixels: for each sampler the largest difference from the image
generated alone, in units of 1/255; and whether a batch of one is identical byte for byte.
"""

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.errors import UsageError
from mezzotint.protocol import (
    Cascade,
    GeneratedImage,
    GenerateManyRequest,
    GenerateRequest,
    GenerateResult,
    ManyOutcome,
    ModelRef,
    Output,
    Sampling,
    Stage,
)

if TYPE_CHECKING:
    from mezzotint.engine import Engine

MODELS = ("starter-dit", "starter-xl")
LEAST = 1.3  # required speedup in images per second
MOST_APART = 2  # of 255
_COLOURS = ("red", "white", "blue", "yellow", "green", "grey")
_KINDS = ("house", "lighthouse", "tent", "castle", "boat", "tower")
_PLACES = ("by the sea", "in the hills", "in the mountains", "by a lake")
_TIMES = ("by day", "at night", "at dusk", "at dawn")


@dataclass(frozen=True)
class Pair:
    """The seconds for the same number of images, generated both ways."""

    one_by_one: float
    together: float

    @property
    def ratio(self) -> float:
        """Speedup of generating together."""
        return self.one_by_one / self.together


def words() -> Iterator[str]:
    """Yield distinct prompts."""
    for colour, kind, place, when in itertools.cycle(itertools.product(_COLOURS, _KINDS, _PLACES, _TIMES)):
        yield f"a {colour} {kind} {place} {when}"


def requests_for(
    model: str, count: int, folder: Path, prompts: Iterator[str], sampling: Sampling | None = None
) -> list[GenerateRequest]:
    """Return requests with different prompts and seeds."""
    stage = Stage(model=ModelRef(id=model), sampling=sampling or Sampling())
    return [
        GenerateRequest(
            prompt=next(prompts),
            seed=1 + number,
            cascade=Cascade(stages=(stage,)),
            output=Output(path=f"{folder / f'{number}.png'}", overwrite=True),
        )
        for number in range(count)
    ]


def one_by_one(engine: "Engine", requests: Sequence[GenerateRequest]) -> list[GenerateResult]:
    """Generate each image in its own call."""
    return [engine.generate(request, lambda _: None, lambda: False) for request in requests]


def together(engine: "Engine", requests: Sequence[GenerateRequest]) -> list[GenerateResult]:
    """Generate all images in one call."""
    asked = GenerateManyRequest(requests=tuple(requests))
    outcomes = engine.generate_many(asked, lambda _: None, lambda: False).outcomes
    return [_made(outcome) for outcome in outcomes]


def _made(outcome: ManyOutcome) -> GenerateResult:
    if outcome.result is None:
        failure = outcome.failure
        raise UsageError("" if failure is None else failure.message)
    return outcome.result


def timed(engine: "Engine", model: str, count: int, pairs: int, folder: Path) -> list[Pair]:
    """Time both ways in alternating order; the first pair is a warm-up."""
    prompts, found = words(), []
    for number in range(pairs + 1):
        ways = (one_by_one, together) if number % 2 else (together, one_by_one)
        seconds = {}
        for way in ways:
            requests = requests_for(model, count, folder, prompts)
            started = time.perf_counter()
            way(engine, requests)
            seconds[way] = time.perf_counter() - started
        found.append(Pair(seconds[one_by_one], seconds[together]))
    return found[1:]


def apart(one: GeneratedImage, other: GeneratedImage) -> int:
    """Return the largest pixel difference of two images, in units of 1/255."""
    import numpy as np
    from PIL import Image

    first, second = (np.asarray(Image.open(each.path)).astype(int) for each in (one, other))
    return int(np.abs(first - second).max())


def furthest(engine: "Engine", model: str, sampler: str, count: int, folder: Path) -> tuple[int, bool]:
    """Return the largest difference between images made together and alone; whether a batch of one is identical."""
    requests = requests_for(model, count, folder, words(), Sampling(sampler=sampler))
    (single,) = (result.images[0] for result in together(engine, requests[:1]))
    made = [result.images[0] for result in together(engine, requests)]
    elsewhere = [
        replace(request, output=replace(request.output, path=f"{folder / f'alone-{number}.png'}"))
        for number, request in enumerate(requests)
    ]
    alone = [result.images[0] for result in one_by_one(engine, elsewhere)]
    return max(map(apart, made, alone)), single.sha256 == alone[0].sha256


def show_time(engine: "Engine", model: str, count: int, pairs: int, folder: Path) -> bool:
    """Print the speedup, and return whether it suffices."""
    found = timed(engine, model, count, pairs, folder)
    ratios = sorted(pair.ratio for pair in found)
    alone, at_once = (statistics.median(each) / count * 1000 for each in zip(*map(_both, found), strict=True))
    print(
        f"{model}, batch {count}: {alone:.0f} ms an image one by one, {at_once:.0f} ms together: "
        f"{statistics.median(ratios):.2f} times as fast (median of {pairs} pairs, {ratios[0]:.2f} to {ratios[-1]:.2f}; "
        f"{engine.info().threads} threads, {os.cpu_count()} cores)",
        flush=True,
    )
    return statistics.median(ratios) >= LEAST


def show_pixels(engine: "Engine", model: str, sampler: str, count: int, folder: Path) -> bool:
    """Print the differences; return whether they are small enough, or the model does not support the sampler."""
    try:
        most, same = furthest(engine, model, sampler, count, folder)
    except UsageError as error:
        print(f"{model}, {sampler}: {error}", flush=True)
        return "cannot run" in str(error)
    how = "the same" if same else "NOT THE SAME"
    print(f"{model}, {sampler}: at most {most} of 255 apart; one at a time is {how}", flush=True)
    return most <= MOST_APART and same


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures; return 1 if one of them falls short."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--model", action="append", metavar="ID")
    parser.add_argument("--no-samplers", action="store_true", help="time alone")
    arguments = parser.parse_args(argv)
    from mezzotint.catalog import Catalog
    from mezzotint.engine import Engine
    from mezzotint.families.samplers import SAMPLERS

    engine, count = Engine(Catalog.standard()), arguments.batch
    good = []
    with tempfile.TemporaryDirectory() as name:
        for model in arguments.model or MODELS:
            good.append(show_time(engine, model, count, arguments.pairs, Path(name)))
            samplers = () if arguments.no_samplers else SAMPLERS
            good += [show_pixels(engine, model, sampler, count, Path(name)) for sampler in samplers]
    engine.close()
    return 0 if all(good) else 1


def _both(pair: Pair) -> tuple[float, float]:
    return pair.one_by_one, pair.together


if __name__ == "__main__":
    sys.exit(main())
