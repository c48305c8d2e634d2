"""A training plan in words."""

from collections.abc import Iterator

from mezzotint.checkpoints.plain_text import size, size_at_least
from mezzotint.memory.footprints.footprint import Scheme
from mezzotint.training.planning.task import TrainingTask
from mezzotint.training_protocol import TrainingPhase, TrainingPlan

_CHECKPOINTING = {
    "selective": "attention and feed-forward of transformers, or the high-resolution blocks of a U-Net, are computed "
    "again in the backward pass",
    "blocks": "every block keeps only its inputs and is computed again in the backward pass, about half as much more "
    "to compute",
    "sqrt": "only about every sqrt(L)-th block keeps its inputs, and blocks are computed twice again in the backward "
    "pass, about twice as much to compute",
}
_SCHEMES: dict[Scheme, str] = {
    "int8": "8 bits",
    "int8-weight": "8 bits",
    "int4": "4 bits",
    "int4-lowrank": "4 bits with a low-rank part",
    "int4-rot": "4 bits, inputs too",
    "int4-codebook": "4 bits with a codebook",
    "svdquant": "4 bits, inputs too, with a low-rank part",
    "fp8": "8-bit floats",
    "nvfp4": "4-bit floats",
}
_PHASES = {
    "text": "while captions are encoded",
    "images": "while images are encoded",
    "network": "in each step",
    "samples": "while a sample image is decoded",
}


def summary_of(plan: TrainingPlan, fixed: int) -> str:
    """The plan in one line."""
    need, have = size(plan.peak_bytes), size(plan.vram_bytes)
    begun = f"needs {need} of {have}" if plan.fits else f"does not fit: needs {need}, of {have}"
    top = max(plan.phases, key=lambda phase: phase.peak)
    if top.name != "network":
        begun += f" {_PHASES[top.name]}, {size(_network(plan).peak)} {_PHASES['network']}"
    phase, levers = _network(plan), plan.levers
    scheme = "" if levers.quantization == "none" else f" in {levers.quantization}"
    scheme += f" with {levers.stream_blocks} blocks streamed" if levers.stream_blocks else ""
    again = "" if levers.checkpointing == "none" else f" with checkpointing ({levers.checkpointing})"
    again += ", offloaded" if levers.offload_activations else ""
    others = f", driver and margin {size(fixed)}" if fixed else ""
    return (
        f"{begun}: weights {size(phase.parameters)}{scheme}, gradients {size(phase.gradients)}, "
        f"optimizer {size(phase.optimizer)}, activations {size(phase.activations)}{again}{others}"
    )


def reasons_of(task: TrainingTask, plan: TrainingPlan, plain: TrainingPhase | None) -> tuple[str, ...]:
    """Why each lever is used; `plain`: the network's phase without any."""
    return (*_levers(task, plan, plain), *_others(task, plan), *_refusal(task, plan))


def _network(plan: TrainingPlan) -> TrainingPhase:
    return next(phase for phase in plan.phases if phase.name == "network")


def _levers(task: TrainingTask, plan: TrainingPlan, plain: TrainingPhase | None) -> Iterator[str]:
    levers, now = plan.levers, _network(plan)
    if plain is not None and plain.peak > plan.vram_bytes:
        yield f"as it is, a step would need {size(plain.peak)}, {size(plain.activations)} of that for activations"
    if levers.checkpointing != "none":
        yield (
            f"checkpointing {levers.checkpointing}{_asked(task.checkpointing)}: {_CHECKPOINTING[levers.checkpointing]}"
            f"; activations need {size(now.activations)}; no result changes"
        )
    if levers.offload_activations:
        yield (
            f"what these blocks keep is kept in RAM{_asked(task.offload_activations)}, and copied back when it is "
            "needed; no result changes"
        )
    if levers.batch < task.batch:
        yield f"a batch of {task.batch} is computed in {task.batch // levers.batch} passes of {levers.batch}"
    if levers.optimizer == "adamw-8bit":
        yield f"the optimizer's state is kept in 8 bits{_asked(task.optimizer)}: {size(now.optimizer)}"
    if levers.quantization != "none":
        whole = task.model.denoiser.weights("none") or 0
        reduced = task.model.denoiser.weights(levers.quantization) or 0
        yield (
            f"{_SCHEMES[levers.quantization]} for the frozen network{_asked(task.quantization)}: {size(reduced)} "
            f"instead of {size(whole)}; what is trained keeps 32 bits"
        )
    if levers.stream_blocks:
        yield from _streaming(task, plan)


def _streaming(task: TrainingTask, plan: TrainingPlan) -> Iterator[str]:
    denoiser, count = task.model.denoiser, plan.levers.stream_blocks
    whole = denoiser.weights(plan.levers.quantization) or 0
    left = denoiser.weights(plan.levers.quantization, count) or 0
    yield (
        f"{count} of {denoiser.blocks} blocks of the frozen network are streamed{_asked(task.stream_blocks)}: they are "
        f"in RAM, {size(whole)} with the others, and each is copied to the GPU while the one before computes; on the "
        f"GPU they need {size(left)}; no result changes"
    )


def _others(task: TrainingTask, plan: TrainingPlan) -> Iterator[str]:
    weights, live = task.model.text()
    if plan.levers.text_on_cpu:
        yield f"captions are encoded on the CPU, once: the text encoders would need {size(weights + live)}"
    if plan.levers.vae_tile:
        yield f"images are encoded and decoded in tiles of {plan.levers.vae_tile} pixels"
    yield "text encoders and VAE are in memory only while captions and images are encoded, before the first step"


def _refusal(task: TrainingTask, plan: TrainingPlan) -> Iterator[str]:
    if plan.fits:
        return
    worst = max(plan.phases, key=lambda phase: phase.peak)
    yield f"does not fit {_PHASES[worst.name]}: at least {size_at_least(worst.peak)} are needed"
    asked = (task.checkpointing, task.optimizer, task.quantization, task.offload_activations, task.stream_blocks)
    if any(each is not None for each in asked):
        yield (
            "leave --checkpointing, --optimizer, --quantization, --offload-activations and --stream-blocks open, so "
            "that the plan can choose them"
        )
    if worst.name == "network":
        half = task.resolution // 2
        yield f"a smaller --resolution, such as {half}, or a smaller --batch or --rank needs less"


def _asked(wanted: object) -> str:
    return "" if wanted is None else " (as asked)"
