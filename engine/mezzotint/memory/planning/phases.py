"""The phases of a job (encode, stages, decode), the networks that work in each, and their activations."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from mezzotint.memory.footprints.footprint import ComponentFootprint, ModelFootprint
from mezzotint.memory.machine.calibration import Calibration
from mezzotint.memory.planning.costs import runs_in_fp32
from mezzotint.memory.planning.task import StageTask, Task
from mezzotint.protocol import GuidancePasses

TILES = (768, 512, 256)
# Penalty on computing for the guidance mode that is not the model's preferred one: half the batch utilizes a GPU less,
# and a model made for sequential guidance gives its reference image only with it, unless more than this is gained.
_OTHERWISE = 1.03
_OVERLAP = 4  # neighbouring tiles share 1 / _OVERLAP of a tile's side
_LATENT_COPIES = 8  # of whole latents: joined predictions, their weights, what samplers keep and make of them
_ASSEMBLED = 16  # bytes per pixel while tiles are joined: RGB and the sum of blend weights, float32


@dataclass(frozen=True, slots=True)
class Work:
    """Forward passes of a network in a phase."""

    phase: int
    passes: int  # for all images
    operations: float  # per pass


@dataclass(frozen=True, slots=True)
class NetworkUse:
    """A network of the job; a network shared by two models counts once."""

    key: str
    model: ModelFootprint
    component: ComponentFootprint
    works: tuple[Work, ...]

    @property
    def phases(self) -> tuple[int, ...]:
        """Phases in which the network works."""
        return tuple(work.phase for work in self.works)

    @property
    def passes(self) -> int:
        """Forward passes in the job, which is how often streamed weights are copied."""
        return sum(work.passes for work in self.works)


def phase_names(task: Task) -> tuple[str, ...]:
    """Names of the phases, in order."""
    return ("encode", *(f"stage {number}" for number in range(1, len(task.stages) + 1)), "decode")


def guidance_modes(task: Task) -> tuple[GuidancePasses, ...]:
    """Guidance modes that all guided stages allow, in the first one's order of preference."""
    allowed = [stage.model.halves for stage in task.stages if stage.guided]
    if not allowed:
        return ("batched",)
    return tuple(each for each in allowed[0] if all(each in one for one in allowed)) or ("sequential",)


def network_uses(task: Task, guidance: GuidancePasses, tile: int) -> tuple[NetworkUse, ...]:
    """Return the networks of a job: text encoders, denoisers, and the last stage's autoencoder."""
    found: dict[str, NetworkUse] = {}
    for model, component, work in _works(task, guidance, tile):
        key = component.shared or f"{model.id}/{component.name}"
        known = found.get(key)
        if known is None:
            found[key] = NetworkUse(key, model, component, (work,))
        elif component.role != "text":  # the prompt is encoded once
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
        for component in stage.model.controls:
            yield stage.model, component, _controlling(task, stage, component, guidance, phase)
    last = task.stages[-1]
    for component in _decoders(last.model):
        positions, tiles = tiled(last, tile)
        yield last.model, component, Work(len(task.stages) + 1, tiles * task.count, component.work.at(positions))


def _decoders(model: ModelFootprint) -> Iterator[ComponentFootprint]:
    return (component for component in model.components if component.role == "vae")


def _denoising(task: Task, stage: StageTask, guidance: GuidancePasses, phase: int) -> Work:
    work, positions, batch = stage.model.denoiser.work, seen_positions(stage), stage.batch
    steps = stage.steps * -(-task.count // batch) * tiled(stage, stage.tile)[1]
    if not stage.guided:
        return Work(phase, steps, stage.savings.operations(work, positions, batch))
    factor = 1.0 if guidance == stage.model.halves[0] else _OTHERWISE
    if guidance == "batched":
        return Work(phase, steps, stage.savings.operations(work, positions, 2 * batch) * factor)
    return Work(phase, 2 * steps, stage.savings.operations(work, positions, batch) * factor)


def _controlling(task: Task, stage: StageTask, part: ComponentFootprint, guidance: GuidancePasses, phase: int) -> Work:
    """Passes of a ControlNet, one before each of the denoiser in the steps that use it.

    A T2I-Adapter sees an image once, but each tile in each step.
    """
    if part.class_name == "T2IAdapter" and not stage.tile:
        return Work(phase, -(-task.count // stage.batch), part.work.at(seen_positions(stage), stage.batch))
    rows = 2 if stage.guided and guidance == "batched" else 1
    operations = part.work.at(seen_positions(stage), rows * stage.batch)
    passes = _denoising(task, stage, guidance, phase).passes * stage.control_shares.get(part.name, 1.0)
    return Work(phase, max(1, round(passes)), operations)


def _positions(stage: StageTask) -> float:
    return stage.width * stage.height / stage.model.vae_factor**2


def seen_positions(stage: StageTask) -> float:
    """Latent pixels that the denoiser sees at once, with reference images and further text: of the image or a tile."""
    shown = sum(width * height for width, height in stage.references)
    return tiled(stage, stage.tile)[0] + shown / stage.model.vae_factor**2 + stage.more_positions


def _encoded_positions(task: Task, tile: int) -> float:
    """Latent pixels of the largest reference image, or of a tile of it."""
    sizes = ((stage.model.vae_factor, *size) for stage in task.stages for size in stage.references)
    return max((min(w, tile or w) * min(h, tile or h) / factor**2 for factor, w, h in sizes), default=0.0)


def tiled(stage: StageTask, tile: int) -> tuple[float, int]:
    """Latent pixels of a tile, and the number of tiles; a tile of 0 is the whole image."""
    if not tile:
        return _positions(stage), 1
    width, height = min(tile, stage.width), min(tile, stage.height)
    number = tiles_along(stage.width, tile) * tiles_along(stage.height, tile)
    return width * height / stage.model.vae_factor**2, number


def tiles_along(length: int, tile: int) -> int:
    """Number of overlapping tiles along a side."""
    step = tile - tile // _OVERLAP
    return 1 if length <= tile else -(-(length - tile) // step) + 1


def phase_runs(task: Task) -> int:
    """How often the job runs through the phases, once per batch of images."""
    return -(-task.count // min(stage.batch for stage in task.stages))


def tile_choices(task: Task) -> tuple[int, ...]:
    """Candidate tile sizes, the whole image (0) first."""
    if task.vae_tile is not None:
        return (task.vae_tile,)
    last = task.stages[-1]
    return (0, *(tile for tile in TILES if tile < max(last.width, last.height)))


def activations(task: Task, guidance: GuidancePasses, tile: int, calibration: Calibration) -> tuple[int, ...]:
    """Bytes of activations at the peak of each phase."""
    return (
        max((_encoding(task, stage, calibration) for stage in task.stages), default=0),
        *(_stage_bytes(task, stage, guidance, calibration) for stage in task.stages),
        max(_decoding(task, tile, calibration), task.upscaling),
    )


def _encoding(task: Task, stage: StageTask, calibration: Calibration) -> int:
    encoders = [part for part in stage.model.components if part.role == "text"]  # prompts are encoded one at a time
    return max((_live(task, stage, part, stage.model.text_tokens, 1, calibration) for part in encoders), default=0)


def _stage_bytes(task: Task, stage: StageTask, guidance: GuidancePasses, calibration: Calibration) -> int:
    halves, part = 2 if stage.guided and guidance == "batched" else 1, stage.model.denoiser
    live = _live(task, stage, part, seen_positions(stage), halves * stage.batch, calibration)
    rows = (2 if stage.guided else 1) * stage.batch
    kept = stage.savings.kept_bytes(_live(task, stage, part, seen_positions(stage), rows, calibration))
    controls = stage.model.controls
    alone = (_live(task, stage, each, seen_positions(stage), halves * stage.batch, calibration) for each in controls)
    text = sum(_kept_text(task, stage, each) for each in (part, *controls))
    controlled = _control_bytes(task, stage, halves * stage.batch, rows)
    return max(live, *alone, 0) + kept + text + controlled + _whole_latents(stage)


def _control_bytes(task: Task, stage: StageTask, rows: int, all_rows: int) -> int:
    """Bytes of what ControlNets give to the denoiser, twice while it is being added, and of their images."""
    size = 4 if task.dtype == "float32" else 2
    given = max((part.given for part in stage.model.controls), default=0.0) * seen_positions(stage)
    width, height = (min(side, stage.tile or side) for side in (stage.width, stage.height))  # others wait in RAM
    images = len(stage.model.controls) * 3 * width * height
    return int((2 * rows * given + all_rows * images) * size)


def _whole_latents(stage: StageTask) -> int:
    """Bytes of the latents of an image, float32, whose tiles are much smaller: otherwise they are negligible."""
    return int(stage.batch * _positions(stage) * stage.latent_channels * 4 * _LATENT_COPIES) if stage.tile else 0


def _kept_text(task: Task, stage: StageTask, part: ComponentFootprint) -> int:
    """Bytes of prompt embeddings and what is precomputed from them, for both guidance halves in either mode."""
    rows, size = stage.batch * (2 if stage.guided else 1), 4 if runs_in_fp32(part, task.dtype) else 2
    return rows * (stage.model.text_tokens + stage.more_text) * part.kept_text * size


def _decoding(task: Task, tile: int, calibration: Calibration) -> int:
    stage = task.stages[-1]
    positions, number = tiled(stage, tile)
    joined = stage.width * stage.height * _ASSEMBLED if number > 1 else 0
    largest = max(positions, _encoded_positions(task, tile))  # encoding needs no more than decoding
    live = (_live(task, stage, part, largest, 1, calibration) for part in _decoders(stage.model))
    return max(live, default=0) + joined


def _live(
    task: Task, stage: StageTask, part: ComponentFootprint, positions: float, batch: int, calibration: Calibration
) -> int:
    wide = 2 if runs_in_fp32(part, task.dtype) else 1
    factor = calibration.factor(stage.model.family, part.role, part.class_name)
    return int(part.live.at(positions, batch) * wide * factor)
