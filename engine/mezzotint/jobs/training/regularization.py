"""Images that the model itself makes before it is trained, so that it does not forget what else it knows.

Prompts are those in `regularization.txt` of the dataset, one a line; else the captions, with the trigger word replaced
by what it stands for; else general ones.
"""

from collections.abc import Callable
from pathlib import Path

from mezzotint.catalog.catalog import Catalog
from mezzotint.engine import Engine
from mezzotint.errors import MezzotintError, UsageError
from mezzotint.jobs.training.preparing import Prepared
from mezzotint.protocol import (
    Cascade,
    GenerateManyRequest,
    GenerateRequest,
    IsCancelled,
    OfRequest,
    Output,
    Saved,
    Stage,
)
from mezzotint.training.dataset.caption_files import read_caption_file
from mezzotint.training.dataset.listing import REGULARIZATION_PROMPTS
from mezzotint.training.dataset.reading import read_dataset
from mezzotint.training.dataset.records import TrainingImage

_AT_ONCE = 64  # requests in one call
_GENERAL = (
    "a photo of a street in a small town",
    "a portrait of a woman in a garden",
    "a bowl of fruit on a wooden table",
    "a dog running on a beach",
    "an oil painting of mountains at dusk",
    "a black and white photo of an old man",
    "a red car in front of a brick wall",
    "a kitchen with large windows",
    "a cat asleep on a sofa",
    "a forest path in autumn",
    "an illustration of a castle on a hill",
    "a cup of coffee beside a book",
    "a group of friends at a party",
    "a sailing boat on a calm sea",
    "a close-up of a flower",
    "a city skyline at night",
)


def made_by_the_model(
    prepared: Prepared, folder: Path, catalog: Catalog, on_done: Callable[[int, int], None], cancelled: IsCancelled
) -> tuple[TrainingImage, ...]:
    """Make the images that are not in the folder yet, and return all; those of the dataset's own are used as they are.

    Raises MezzotintError if an image cannot be made.
    """
    own = tuple(each for each in prepared.dataset.images if each.regularization)
    count = prepared.values.regularization
    if own or count == 0:
        return own
    prompts = _prompts(prepared)
    missing = [number for number in range(count) if not _path(folder, number).exists()]
    with Engine(catalog) as engine:
        done = count - len(missing)

        def on_event(event: object) -> None:
            nonlocal done
            if isinstance(event, OfRequest) and isinstance(event.event, Saved):
                done += 1
                on_done(done, count)

        for first in range(0, len(missing), _AT_ONCE):
            numbers = missing[first : first + _AT_ONCE]
            requests = tuple(_request(prepared, prompts, folder, number) for number in numbers)
            for outcome in engine.generate_many(GenerateManyRequest(requests=requests), on_event, cancelled).outcomes:
                if outcome.failure is not None:
                    raise MezzotintError(f"regularization images cannot be made: {outcome.failure.message}")
    for number in range(count):
        _path(folder, number).with_suffix(".txt").write_text(prompts[number % len(prompts)], encoding="utf-8")
    return images_in(folder, cancelled)


def images_in(folder: Path, cancelled: IsCancelled) -> tuple[TrainingImage, ...]:
    """The images that have been made."""
    made = read_dataset(folder.parent, cancelled=cancelled)
    return tuple(each for each in made.images if each.regularization)


def _request(prepared: Prepared, prompts: list[str], folder: Path, number: int) -> GenerateRequest:
    request, side = prepared.request, prepared.geometry.side
    return GenerateRequest(
        prompt=prompts[number % len(prompts)],
        seed=request.settings.seed + number,
        device=prepared.model.device.id,
        cascade=Cascade(stages=(Stage(model=request.model, width=side, height=side),)),
        output=Output(path=str(_path(folder, number))),
    )


def _prompts(prepared: Prepared) -> list[str]:
    request, file = prepared.request, Path(prepared.request.dataset) / REGULARIZATION_PROMPTS
    if file.is_file():
        prompts = list(read_caption_file(file))
        if not prompts:
            raise UsageError(f"{file} is empty: write a prompt on each line, or remove it")
        return prompts
    captions = [text for image in prepared.dataset.images for text in image.captions]
    if request.trigger and request.word:
        return [text.replace(request.trigger, request.word) for text in captions] or [request.word]
    return list(_GENERAL)


def _path(folder: Path, number: int) -> Path:
    return folder / f"{number:04}.png"
