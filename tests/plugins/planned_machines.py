"""Fictitious machines and models for planning tests: numbers only."""

import math

from hypothesis import strategies as st

from mezzotint.memory.footprints.footprint import BlockFootprint, ComponentFootprint, ModelFootprint, ScalingLaw, Scheme
from mezzotint.memory.machine.facts import MachineFacts
from mezzotint.memory.planning.task import StageTask, Task

MB, GB = 2**20, 2**30
SHARES: dict[Scheme, float] = {
    "none": 1.0,
    "int8": 0.51,
    "int8-weight": 0.51,
    "int4-lowrank": 0.31,
    "int4-rot": 0.26,
    "int4-codebook": 0.29,
    "svdquant": 0.31,
    "fp8": 0.51,
    "nvfp4": 0.29,
    "int4": 0.27,
}


def card(vram, ram, **changes) -> MachineFacts:
    """Return a machine with an ordinary GPU; sizes in bytes."""
    values = {
        "device": "cuda:0",
        "device_name": "made up",
        "architecture": "sm_86",
        "vram_bytes": vram,
        "free_vram_bytes": vram,
        "context_bytes": 64 * MB,
        "ram_bytes": ram,
        "free_ram_bytes": ram,
        "pin_bytes": ram * 2 // 5,
        "copy_rate": 24e9,
        "pageable_rate": 9e9,
        "disk_rate": 2e9,
        "speed": 13e12,
        "int8_speedup": 1.5,
        "process_bytes": 64 * MB,
    }
    return MachineFacts(**values | changes)


def processor(ram, **changes) -> MachineFacts:
    """Return a machine without a GPU."""
    slow = {"context_bytes": 0, "pin_bytes": 0, "speed": 5e10, "int8_speedup": 0.6, "architecture": ""}
    return card(ram, ram, **{"device": "cpu", "copy_rate": 8e9, "pageable_rate": 8e9, **slow, **changes})


def component_of(model: ModelFootprint, name: str) -> ComponentFootprint:
    """A model's component, by name."""
    return next(part for part in model.components if part.name == name)


def component(
    name, role, sizes, *, outside=MB, live=1e5, work=1e8, schemes=tuple(SHARES), **changes
) -> ComponentFootprint:
    """Return a network with blocks of these sizes in bytes."""
    kept: tuple[Scheme, ...] = ("none",) if role == "vae" else schemes
    values = {
        "name": name,
        "role": role,
        "class_name": {"text": "CLIPTextModel", "denoiser": "UNet2DConditionModel", "vae": "AutoencoderKL"}[role],
        "blocks": tuple(
            BlockFootprint(name=f"blocks.{i}", bytes={s: int(size * SHARES[s]) for s in kept})
            for i, size in enumerate(sizes)
        ),
        "outside": {"none": outside},
        "live": ScalingLaw(per_position=live),
        "work": ScalingLaw(per_position=work),
    }
    return ComponentFootprint(**values | changes)


def model(*components, **changes) -> ModelFootprint:
    """Return a model of these networks."""
    values = {
        "id": "made-up",
        "family": "sdxl",
        "components": components,
        "vae_factor": 8,
        "text_tokens": 77,
        "width": 1024,
        "height": 1024,
        "steps": 20,
        "guided": True,
    }
    return ModelFootprint(**values | changes)


def usual_model(**changes) -> ModelFootprint:
    """Return two text encoders, a denoiser too large for small GPUs, and an autoencoder."""
    return model(
        component("text_encoder", "text", [10 * MB] * 4, live=1e4),
        component("text_encoder_2", "text", [50 * MB] * 8, live=1e4),
        component("unet", "denoiser", [60 * MB, 90 * MB, 120 * MB, 90 * MB] * 5, live=1e4, work=4e8),
        component("vae", "vae", [], outside=80 * MB, live=5e4, work=6e8),
        **changes,
    )


def task(*models, size=1024, steps=10, **changes) -> Task:
    """Return a task with a stage per model, all of one size."""
    stages = tuple(StageTask(model=one, width=size, height=size, steps=steps, guided=one.guided) for one in models)
    return Task(stages=stages, **changes)


@st.composite
def components(draw, name, role, most=5):
    """Draw any small network."""
    blocks = draw(st.lists(st.integers(1, 60), max_size=most)) if role != "vae" else []
    return component(
        name,
        role,
        [size * MB for size in blocks],
        outside=draw(st.integers(1, 40)) * MB,
        live=draw(st.sampled_from([1e3, 5e3, 2e4])),
        work=draw(st.sampled_from([1e6, 1e8, 2e9])),
        schemes=draw(st.sampled_from([tuple(SHARES), ("none", "int8", "int8-weight"), ("none",)])),
        float32=draw(st.booleans()),
        shared=draw(st.sampled_from(["", f"one {name}"])),
    )


@st.composite
def models(draw, identity="made-up", most=5):
    """Draw any small model."""
    parts = [draw(components("text_encoder", "text", most))] if draw(st.booleans()) else []
    parts.append(draw(components("unet", "denoiser", most)))
    parts.append(draw(components("vae", "vae")))
    return model(*parts, id=identity, guided=draw(st.booleans()), family=draw(st.sampled_from(["sdxl", "flux"])))


@st.composite
def tasks(draw, most=5):
    """Draw any small task."""
    chosen = [draw(models(f"model {number}", most)) for number in range(draw(st.integers(1, 2)))]
    if draw(st.booleans()):
        chosen.append(chosen[0])
    return task(
        *chosen[:2],
        size=draw(st.sampled_from([256, 512, 1024])),
        steps=draw(st.sampled_from([1, 4, 25])),
        count=draw(st.sampled_from([1, 3])),
        quantization=draw(st.sampled_from(["auto", "auto", "none", "int8"])),
        dtype=draw(st.sampled_from(["bfloat16", "float16", "float32"])),
    )


@st.composite
def machines(draw):
    """Draw any machine, possibly with memory held by others."""
    vram, ram = (draw(st.integers(16, 1500)) * MB for _ in range(2))
    make = draw(st.sampled_from([card, card, processor]))
    changes = {
        "disk_rate": draw(st.sampled_from([1e8, 2e9])),
        "int8_speedup": draw(st.sampled_from([0.6, 1.0, 1.5, 2.5])),
        "bandwidth": draw(st.sampled_from([3e11, math.inf])),
        "launch_seconds": draw(st.sampled_from([0.0, 1e-3])),
    }
    if make is card:
        return card(vram, ram, pin_bytes=draw(st.sampled_from([0, ram // 4, ram])), **changes)
    limit = draw(st.sampled_from([None, min(vram, ram)]))
    found = processor(ram, **changes)
    return found if limit is None else processor(ram, vram_bytes=limit, simulated=True, **changes)
