"""Lets an engine make a few images, and records what the denoiser's layers see and do meanwhile."""

import random
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mezzotint.conversion.auto.layers import Recording
from mezzotint.engine import Engine
from mezzotint.errors import Cancelled
from mezzotint.jobs.calibration.recording import Recorder
from mezzotint.protocol import (
    Cascade,
    Event,
    GenerateRequest,
    IsCancelled,
    ModelRef,
    OnEvent,
    Output,
    Progress,
    Sampling,
    Saved,
    Stage,
    Step,
)

PROMPTS = (
    "a red house by the sea at dusk",
    "portrait of an old fisherman, detailed photograph",
    "a bowl of fruit on a wooden table, oil painting",
)
STEPS = 4  # of each image
MOST_MEASURED = 400  # layers, each by a pass of the network; the others are taken to be like those of their kind


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrationRun:
    """The images to make, and the layers to record."""

    model: ModelRef
    class_name: str  # of the denoiser
    layers: Mapping[str, tuple[int, ...]]  # shapes of weights by name
    others: Sequence[str] = ()  # layers whose work alone is counted
    steps: int = STEPS
    prompts: Sequence[str] = PROMPTS
    device: str = "auto"
    guidance: float = 0.0  # scale, if calls have two halves
    influences: bool = True  # whether those of layers are measured, too

    def record(self, engine: Engine, on_event: OnEvent, cancelled: IsCancelled) -> dict[str, Recording]:
        """Make the images up to their last step, and return what was recorded by layer. Raises MezzotintError."""
        recorder = Recorder(
            class_name=self.class_name,
            layers=self.layers,
            others=self.others,
            calls=self.steps * len(self.prompts),
            replayed=self.steps // 2 if self.influences else -1,
            measured=_some(tuple(self.layers)) if self.influences else (),
            on_layer=lambda done, total: on_event(
                Progress(what="influence of each layer", done=done, total=total, unit="layers")
            ),
            cancelled=cancelled,
            guidance=self.guidance,
        )
        with recorder.recording():
            for number, prompt in enumerate(self.prompts):
                self._denoise(engine, prompt, number, on_event, cancelled)
        return recorder.recordings

    def _denoise(self, engine: Engine, prompt: str, seed: int, on_event: OnEvent, cancelled: IsCancelled) -> None:
        """Run the steps of one image, which is not decoded."""
        done = False

        def told(event: Event) -> None:
            nonlocal done
            done = done or (isinstance(event, Step) and event.step == event.steps)
            if not isinstance(event, Saved):
                on_event(event)

        with tempfile.TemporaryDirectory(prefix="mezzotint-calibration-") as folder:
            try:
                engine.generate(self._request(prompt, seed, Path(folder)), told, lambda: done or cancelled())
            except Cancelled:
                if not done or cancelled():
                    raise

    def _request(self, prompt: str, seed: int, folder: Path) -> GenerateRequest:
        stage = Stage(model=self.model, sampling=Sampling(steps=self.steps))
        return GenerateRequest(
            prompt=prompt,
            seed=seed,
            cascade=Cascade(stages=(stage,)),
            quantization="none",
            device=self.device,
            output=Output(path=str(folder / "image.png")),
        )


def _some(names: Sequence[str]) -> tuple[str, ...]:
    """At most MOST_MEASURED of the layers, always the same ones, in their order."""
    if len(names) <= MOST_MEASURED:
        return tuple(names)
    chosen = set(random.Random(0).sample(range(len(names)), MOST_MEASURED))
    return tuple(name for place, name in enumerate(names) if place in chosen)
