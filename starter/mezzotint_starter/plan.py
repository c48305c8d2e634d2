"""Configuration of the recipe: folders, device, and the length of each phase."""

from dataclasses import dataclass
from pathlib import Path

from mezzotint_starter.judge_training import EXAMINED


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Configuration of a run; `work` holds unfinished weights, `out` gets a folder for each finished model."""

    work: Path
    out: Path
    device: str = "cpu"
    seed: int = 0
    parts: int = 1
    precision: str = "float32"
    autoencoder_steps: int = 7000
    sharpening_steps: int = 2600
    perception_steps: int = 400
    perceptual_weight: float = 0.0  # of sharpening; 0: without
    images: int = 14336
    large_images: int = 3072
    reading_steps: int = 400
    denoiser_steps: int = 12000
    base_steps: int = 12000
    refiner_steps: int = 8000
    judge_steps: int = 900
    variant_steps: int | None = None  # as each variant needs
    preview_decoder_steps: int = 14000
    preview_images: int = 2048
    upscaler_steps: int = 1500
    upscaler_images: int = 384
    control_steps: int = 2400
    control_images: int = 4096
    large_control_images: int = 768
    edits: int = 8192
    large_edits: int = 2048
    flow_steps: int = 8000
    flow_large_steps: int = 7000
    examined: int = EXAMINED
    measured: int = 64
    sheet_minutes: float = 6.0


def miniature(work: Path, out: Path, *, steps: int, device: str = "cpu", seed: int = 0) -> Plan:
    """Return a plan with few steps in every phase, as a smoke test."""
    return Plan(
        work=work,
        out=out,
        device=device,
        seed=seed,
        autoencoder_steps=steps,
        sharpening_steps=steps,
        perception_steps=steps,
        images=min(16 * steps, 96),
        large_images=min(4 * steps, 24),
        reading_steps=steps,
        denoiser_steps=steps,
        base_steps=steps,
        refiner_steps=steps,
        judge_steps=steps,
        variant_steps=steps,
        preview_decoder_steps=steps,
        preview_images=min(4 * steps, 24),
        upscaler_steps=steps,
        upscaler_images=4,
        control_steps=steps,
        control_images=min(16 * steps, 96),
        large_control_images=min(4 * steps, 24),
        edits=min(4 * steps, 24),
        large_edits=min(2 * steps, 12),
        flow_steps=steps,
        flow_large_steps=steps,
        examined=8,
        measured=4,
        sheet_minutes=float("inf"),
    )
