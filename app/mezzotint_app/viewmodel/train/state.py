"""The form of the Train page, and what is stored of it."""

from dataclasses import dataclass, field

from mezzotint.protocol import ModelRef
from mezzotint.training_protocol import OptimizerName, TrainingRequest, TrainingSettings

MAX_FOLDERS = 200
OPTIMIZERS: dict[OptimizerName, str] = {  # their names as displayed
    "adamw": "AdamW",
    "adamw-8bit": "AdamW 8-bit",
    "adamw-8bit-paged": "AdamW 8-bit, paged",
    "adamw-4bit": "AdamW 4-bit",
    "adafactor": "Adafactor",
    "lion": "Lion",
    "prodigy": "Prodigy",
    "schedule-free": "Schedule-free AdamW",
}
SUFFIX = ".training"  # of the folder of a run


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainForm:
    """The form as filled in; None: what suits the model."""

    folder: str = ""
    name: str = ""  # of the LoRA; empty: from the trigger word or the folder
    trigger: str = ""
    word: str = ""
    model: str = ""  # empty: the first one that can be used
    steps: int | None = None
    rank: int | None = None
    rate: float | None = None
    batch: int | None = None
    resolution: int | None = None
    regularization: int | None = None
    optimizer: OptimizerName | None = None
    validation: float = 0.0
    epochs: int = 10
    flip: bool = False
    prompts: str = ""  # one a line; empty: the trigger word alone


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainState:
    """The page's stored state; every field has a default, so that files of older versions can be read."""

    form: TrainForm = field(default_factory=TrainForm)
    folders: tuple[str, ...] = ()  # of runs that are not in the usual folder
    stopped: tuple[str, ...] = ()  # folders of runs that the user has stopped for good


def prompts_of(form: TrainForm) -> tuple[str, ...]:
    """The prompts of sample images."""
    lines = tuple(line.strip() for line in form.prompts.splitlines() if line.strip())
    usual = " ".join(part for part in ("a", form.trigger.strip() or form.word.strip()) if part)
    return lines or ((usual,) if usual != "a" else ())


def request_of(form: TrainForm, *, model: str, name: str, output: str) -> TrainingRequest:
    """The form as a request."""
    return TrainingRequest(
        dataset=form.folder,
        model=ModelRef(id=model),
        name=name,
        output=output,
        trigger=form.trigger.strip(),
        word=form.word.strip(),
        prompts=prompts_of(form),
        settings=TrainingSettings(
            steps=form.steps,
            rank=form.rank,
            rate=form.rate,
            batch=form.batch,
            resolution=form.resolution,
            regularization=form.regularization,
            optimizer=form.optimizer,
            validation=form.validation,
            epochs=form.epochs,
            flip=form.flip,
        ),
    )
