"""A job as phases: encode, stages, decode; the networks that work in each, and how much lives beside their weights."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mezzotint.memory.footprints.footprint import ComponentFootprint, ModelFootprint
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.planning.costs import is_wide
from mezzotint.memory.planning.task import StageTask, Task
from mezzotint.protocol import GuidancePasses

TILES = (768, 512, 256)
# Of computing, where the halves of the guidance come in another way than is best: a card is less full with half the
# batch; and a model that was made for turns has its very own image with them, unless more than this is gained.
_OTHERWISE = 1.03
_OVERLAP = 4  # the part of a tile's side that it shares with the next, as a divisor
_ASSEMBLED = 16  # bytes of a pixel while tiles are joined: three colours and the sum of weights


@dataclass(frozen=True, slots=True)
class Work:
    """Forward passes of a network in a phase."""

    phase: int
    passes: int  # of all images
    operations: float  # of one pass


@dataclass(frozen=True, slots=True)
class Part:
    """A network of the job; one that two models share counts once."""

    key: str
    model: ModelFootprint
    component: ComponentFootprint
    works: tuple[Work, ...]

    @property
    def phases(self) -> tuple[int, ...]:
        """In which it works."""
        return tuple(work.phase for work in self.works)

    @property
    def passes(self) -> int:
        """Of the whole job: how often what is streamed is copied."""
        return sum(work.passes for work in self.works)


def phase_names(task: Task) -> tuple[str, ...]:
    """In their order."""
    return ("encode", *(f"stage {number}" for number in range(1, len(task.stages) + 1)), "decode")


def guidances(task: Task) -> tuple[GuidancePasses, ...]:
    """How the halves of the guidance may come, where any stage has them; what the first is best with stands first."""
    allowed = [stage.model.halves for stage in task.stages if stage.guided]
    if not allowed:
        return ("batched",)
    return tuple(each for each in allowed[0] if all(each in one for one in allowed)) or ("sequential",)


def parts_of(task: Task, guidance: GuidancePasses, tile: int) -> tuple[Part, ...]:
    """Text encoders, denoisers, and the autoencoder of the last stage."""
    found: dict[str, Part] = {}
    for model, component, work in _works(task, guidance, tile):
        key = component.shared or f"{model.id}/{component.name}"
        known = found.get(key)
        if known is None:
            found[key] = Part(key, model, component, (work,))
        elif component.role != "text":  # the same words are encoded once
            found[key] = replace(known, works=(*known.works, work))
    return tuple(found.values())


def _works(
    task: Task, guidance: GuidancePasses, tile: int
) -> Iterator[tuple[ModelFootprint, ComponentFootprint, Work]]:
    for stage in task.stages:
        for component in stage.model.components:
            if component.role == "text":
                passes = 2 if stage.guided else 1
                yield stage.model, component, Work(0, passes, component.work.at(stage.model.text_tokens))
    for phase, stage in enumerate(task.stages, 1):
        yield stage.model, stage.model.denoiser, _denoising(task, stage, guidance, phase)
    last = task.stages[-1]
    for component in _decoders(last.model):
        positions, tiles = tiled(last, tile)
        yield last.model, component, Work(len(task.stages) + 1, tiles * task.count, component.work.at(positions))


def _decoders(model: ModelFootprint) -> Iterator[ComponentFootprint]:
    return (component for component in model.components if component.role == "vae")


def _denoising(task: Task, stage: StageTask, guidance: GuidancePasses, phase: int) -> Work:
    work, positions, batch = stage.model.denoiser.work, _seen_positions(stage), stage.batch
    steps = stage.steps * -(-task.count // batch)
    if not stage.guided:
        return Work(phase, steps, work.at(positions, batch))
    factor = 1.0 if guidance == stage.model.halves[0] else _OTHERWISE
    if guidance == "batched":
        return Work(phase, steps, work.at(positions, 2 * batch) * factor)
    return Work(phase, 2 * steps, work.at(positions, batch) * factor)


def _positions(stage: StageTask) -> float:
    return stage.width * stage.height / stage.model.vae_factor**2


def _seen_positions(stage: StageTask) -> float:
    """Latent pixels of the image and of all reference images, whose tokens the denoiser sees beside its own."""
    shown = sum(width * height for width, height in stage.references)
    return _positions(stage) + shown / stage.model.vae_factor**2


def _encoded_positions(task: Task, tile: int) -> float:
    """Latent pixels of the largest reference image, or of a tile of it."""
    sizes = ((stage.model.vae_factor, *size) for stage in task.stages for size in stage.references)
    return max((min(w, tile or w) * min(h, tile or h) / factor**2 for factor, w, h in sizes), default=0.0)


def tiled(stage: StageTask, tile: int) -> tuple[float, int]:
    """Latent pixels of a tile, and how many tiles make the image; a tile of 0 is the whole."""
    if not tile:
        return _positions(stage), 1
    width, height = min(tile, stage.width), min(tile, stage.height)
    number = _tiles(stage.width, tile) * _tiles(stage.height, tile)
    return width * height / stage.model.vae_factor**2, number


def _tiles(length: int, tile: int) -> int:
    step = tile - tile // _OVERLAP
    return 1 if length <= tile else -(-(length - tile) // step) + 1


def turns(task: Task) -> int:
    """How often the phases follow one another: images that are denoised together pass them together."""
    return -(-task.count // min(stage.batch for stage in task.stages))


def tile_choices(task: Task) -> tuple[int, ...]:
    """Sides of tiles that may be chosen, the whole image first."""
    if task.vae_tile is not None:
        return (task.vae_tile,)
    last = task.stages[-1]
    return (0, *(tile for tile in TILES if tile < max(last.width, last.height)))


def activations(task: Task, guidance: GuidancePasses, tile: int, calibration: Calibration) -> tuple[int, ...]:
    """Bytes beside weights at the peak of each phase."""
    return (
        max((_encoding(task, stage, calibration) for stage in task.stages), default=0),
        *(_stage_bytes(task, stage, guidance, calibration) for stage in task.stages),
        _decoding(task, tile, calibration),
    )


def _encoding(task: Task, stage: StageTask, calibration: Calibration) -> int:
    encoders = [part for part in stage.model.components if part.role == "text"]  # one prompt after another, too
    return max((_live(task, stage, part, stage.model.text_tokens, 1, calibration) for part in encoders), default=0)


def _stage_bytes(task: Task, stage: StageTask, guidance: GuidancePasses, calibration: Calibration) -> int:
    halves, part = 2 if stage.guided and guidance == "batched" else 1, stage.model.denoiser
    live = _live(task, stage, part, _seen_positions(stage), halves * stage.batch, calibration)
    return live + _kept_text(task, stage, part)


def _kept_text(task: Task, stage: StageTask, part: ComponentFootprint) -> int:
    """The words, and what is made of them once for all steps: of both halves, however these take their turns."""
    rows, size = stage.batch * (2 if stage.guided else 1), 4 if is_wide(part, task.dtype) else 2
    return rows * stage.model.text_tokens * part.kept_text * size


def _decoding(task: Task, tile: int, calibration: Calibration) -> int:
    stage = task.stages[-1]
    positions, number = tiled(stage, tile)
    joined = stage.width * stage.height * _ASSEMBLED if number > 1 else 0
    largest = max(positions, _encoded_positions(task, tile))  # encoding takes no more than decoding
    live = (_live(task, stage, part, largest, 1, calibration) for part in _decoders(stage.model))
    return max(live, default=0) + joined


def _live(
    task: Task, stage: StageTask, part: ComponentFootprint, positions: float, batch: int, calibration: Calibration
) -> int:
    wide = 2 if is_wide(part, task.dtype) else 1
    factor = calibration.factor(stage.model.family, part.role, part.class_name)
    return int(part.live.at(positions, batch) * wide * factor)
