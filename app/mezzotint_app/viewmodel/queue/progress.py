"""Progress of the running task and its remaining time, estimated per phase from earlier runs and from this one."""

from dataclasses import dataclass, replace

from PySide6.QtCore import QCoreApplication

from mezzotint.jobs.store import PhaseSeconds
from mezzotint.protocol import PLANNING, Decoding, Encoding, Event, Loading, Saved, Step
from mezzotint_app.amounts import bytes_of

translate = QCoreApplication.translate

_MIN_SECONDS = 1.0  # seconds of loading before an estimate is shown
_ENOUGH = 3  # steps after which this run's own pace is used


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskProgress:
    """Progress after the events so far; immutable, each event yields a new one."""

    phase: str = "starting"  # starting, loading, encoding, steps, decoding, saved
    model: str = ""
    bytes_done: int = 0
    bytes_total: int = 0
    load_from: tuple[float, int] | None = None  # when loading was first reported, and the bytes loaded by then
    load_left: float | None = None  # seconds until the model is loaded, at the rate so far
    image: int = 0  # index within this task, from 0
    images: int = 1
    before: int = 0  # images of the entry that existed when the task began
    whole: int = 0  # images requested by the entry; 0: not yet known
    stage: int = 0  # from 0
    stages: int = 1
    step: int = 0  # of the current stage
    steps: int = 0
    denoised: float = 0.0  # 0..1, of this image over all of its stages
    saved: int = 0
    paced_from: float | None = None  # when timing of this image's steps began
    paced_steps: int = 0
    pace: float | None = None  # seconds per step in this run

    def after(self, event: Event, now: float) -> "TaskProgress":
        """Return the progress after this event."""
        match event:
            case Loading():
                return self._loaded(event, now)
            case Encoding():
                return replace(self, phase="encoding")
            case Step():
                return self._stepped(event, now)
            case Decoding():
                return replace(self, phase="decoding", image=event.image, images=event.images, denoised=1.0)
            case Saved():
                return replace(self, phase="saved", saved=self.saved + 1, images=event.images, paced_from=None)
        return self

    def _loaded(self, event: Loading, now: float) -> "TaskProgress":
        goes_on = self.phase == "loading" and (self.model == PLANNING) == (event.model == PLANNING)
        begun = self.load_from if goes_on and self.load_from is not None else (now, event.bytes_done)
        seconds, done = now - begun[0], event.bytes_done - begun[1]
        sure = seconds >= _MIN_SECONDS and done > 0
        return replace(
            self,
            phase="loading",
            model=event.model,
            bytes_done=event.bytes_done,
            bytes_total=event.bytes_total,
            load_from=begun,
            load_left=max(0.0, (event.bytes_total - event.bytes_done) * seconds / done) if sure else None,
        )

    def _stepped(self, event: Step, now: float) -> "TaskProgress":
        denoised = (event.stage + event.step / max(1, event.steps)) / max(1, event.stages)
        counted = replace(
            self,
            phase="steps",
            image=event.image,
            images=event.images,
            stage=event.stage,
            stages=event.stages,
            step=event.step,
            steps=event.steps,
            denoised=min(1.0, denoised),
        )
        if self.paced_from is None or event.image != self.image:
            return replace(counted, paced_from=now, paced_steps=0)
        paced = self.paced_steps + 1
        pace = (now - self.paced_from) / paced if paced >= _ENOUGH else self.pace
        return replace(counted, paced_steps=paced, pace=pace)

    def fraction(self, expected: PhaseSeconds | None = None) -> float | None:
        """Return the fraction done, 0..1: of the time if known, otherwise of the images; None if not yet known."""
        if self.phase in ("starting", "encoding"):
            return None
        if self.phase == "loading":
            return self.bytes_done / self.bytes_total if self.bytes_total else None
        left = self.seconds_left(expected)
        if left is None or expected is None:
            return min(1.0, (self.saved + (self.denoised if self.phase != "saved" else 0.0)) / max(1, self.images))
        whole = self.images * self._one_image(expected)
        return min(1.0, max(0.0, 1 - left / whole)) if whole > 0 else None

    def seconds_left(self, expected: PhaseSeconds | None = None) -> float | None:
        """Return the seconds until the task is done, or None if neither earlier runs nor this one allow an estimate."""
        if expected is None:
            return self._left_by_pace()
        left = max(0, self.images - self.saved) * self._one_image(expected)
        if self.phase == "loading" and self.bytes_total:
            return left + expected.encode + expected.load * (1 - self.bytes_done / self.bytes_total)
        if self.phase in ("starting", "loading"):
            return left + expected.encode + expected.load
        if self.phase == "encoding":
            return left + expected.encode
        if self.phase == "saved":
            return left
        done = self.denoised * expected.steps * self._step(expected)
        return max(0.0, left - done)

    def _left_by_pace(self) -> float | None:
        if self.pace is None or not self.steps or self.phase not in ("steps", "decoding", "saved"):
            return None
        done = 0.0 if self.phase == "saved" else self.denoised
        return max(0.0, (self.images - self.saved - done)) * self.steps * self.pace

    def _step(self, expected: PhaseSeconds) -> float:
        return expected.step if self.pace is None else self.pace

    def _one_image(self, expected: PhaseSeconds) -> float:
        return expected.steps * self._step(expected) + expected.decode + expected.save

    def words(self) -> str:
        """Return the current activity as a short text."""
        match self.phase:
            case "loading" if self.model == PLANNING:
                return translate("QueueProgress", "Analyzing new model: {percent} %").format(percent=self.bytes_done)
            case "loading":
                amount = bytes_of(self.bytes_done, self.bytes_total)
                return translate("QueueProgress", "Loading {model}: {amount}").format(model=self.model, amount=amount)
            case "encoding":
                return translate("QueueProgress", "Encoding the prompt")
            case "steps" if self.stages > 1:
                message = translate(
                    "QueueProgress",
                    "Image {image} of {images}, stage {stage} of {stages}: step {step} of {steps}",
                )
                return message.format(
                    image=self.before + self.image + 1,
                    images=max(self.whole, self.images),
                    stage=self.stage + 1,
                    stages=self.stages,
                    step=self.step,
                    steps=self.steps,
                )
            case "steps":
                return translate("QueueProgress", "Image {image} of {images}: step {step} of {steps}").format(
                    image=self.before + self.image + 1,
                    images=max(self.whole, self.images),
                    step=self.step,
                    steps=self.steps,
                )
            case "decoding":
                return translate("QueueProgress", "Decoding image {image} of {images}").format(
                    image=self.before + self.image + 1, images=max(self.whole, self.images)
                )
            case "saved":
                return translate("QueueProgress", "{done} of {images} images saved").format(
                    done=self.before + self.saved, images=max(self.whole, self.images)
                )
        return translate("QueueProgress", "Starting")
