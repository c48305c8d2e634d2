"""Configuration of the recipe for composed scenes: folders, device, and the length of each phase."""

from dataclasses import dataclass, field
from pathlib import Path

from mezzotint_starter.scenes.sources import default_folder


@dataclass(frozen=True, slots=True, kw_only=True)
class ScenePlan:
    """Configuration of a run; `work` holds unfinished weights, `out` gets a folder for each finished model."""

    work: Path
    out: Path
    data: Path = field(default_factory=default_folder)
    device: str = "cpu"
    seed: int = 0
    parts: int = 1
    judge_steps: int = 6000
    autoencoder_steps: int = 30000
    reading_steps: int = 1500
    half_size_images: int = 65536
    half_size_steps: int = 15000
    full_size_images: int = 49152
    full_size_steps: int = 9000
    distilling_steps: int = 1500
    perception_steps: int = 1500
    sharpening_steps: int = 6000
    measured: int = 256
    scored: int = 256  # images that the judge looks at
    shown: int = 48  # images on a sheet
    report_minutes: float = 30.0
