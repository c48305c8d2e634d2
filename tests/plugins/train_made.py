"""The Train page's view model without processes, and checks and runs made up for it."""

from pathlib import Path
from typing import Any

from batch_window import FakeAccess, FakeLender, FakeModels
from fake_clock import FakeClock
from fake_engine import model_info
from fake_service import FakeService, InlineBackground

from mezzotint.protocol import ModelRef
from mezzotint.training_protocol import (
    DatasetImage,
    DatasetProblem,
    EpochSaved,
    TrainingCheck,
    TrainingLevers,
    TrainingLoss,
    TrainingPhase,
    TrainingPlan,
    TrainingRequest,
    TrainingRunInfo,
    TrainingSettings,
    TrainingValues,
)
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.batch.turn import GpuTurn
from mezzotint_app.viewmodel.models.choices import ModelChoices
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.viewmodel.train.checks import DatasetChecks
from mezzotint_app.viewmodel.train.live import LiveTraining
from mezzotint_app.viewmodel.train.memory import TrainingMemory
from mezzotint_app.viewmodel.train.runs import TrainingRunsModel
from mezzotint_app.viewmodel.train.state import TrainForm, TrainState
from mezzotint_app.viewmodel.train.train import TrainModel

FOLDER = "/pictures"
USUAL = "/loras"
VALUES = TrainingValues(steps=100, rank=8, rate=2e-3, batch=4, resolution=128, regularization=0)


def image(number=0, *captions: str, **fields: Any) -> DatasetImage:
    usual: dict[str, Any] = {"path": f"{FOLDER}/{number}.png", "width": 200, "height": 100, "captions": captions}
    usual |= {"box": (50.0, 0.0, 150.0, 100.0), "used_width": 64, "used_height": 64}
    return DatasetImage(**usual | fields)


def problem(number=0, message="it is small", **fields: Any) -> DatasetProblem:
    usual: dict[str, Any] = {"path": f"{FOLDER}/{number}.png", "severity": "warning", "message": message}
    return DatasetProblem(**usual | fields)


def check(*images: DatasetImage, **fields: Any) -> TrainingCheck:
    shown = images or (image(0), image(1, "a castle"), image(2, "a house", "a hut"))
    captioned = sum(bool(one.captions) for one in shown)
    usual: dict[str, Any] = {"images": shown, "count": len(shown), "regularization": 0, "captioned": captioned}
    return TrainingCheck(**usual | {"problems": (), "values": VALUES, "disk_bytes": 3 << 20} | fields)


def request(name="castle", **fields: Any) -> TrainingRequest:
    usual: dict[str, Any] = {"dataset": FOLDER, "model": ModelRef(id="base"), "name": name, "output": USUAL}
    return TrainingRequest(**usual | {"prompts": ("a zibble",), "settings": TrainingSettings(batch=4)} | fields)


def epoch(number=1, **fields: Any) -> EpochSaved:
    folder = f"{USUAL}/castle.training"
    usual: dict[str, Any] = {"epoch": number, "step": 10 * number, "path": f"{folder}/epochs/castle-{number}.st"}
    samples = (f"{folder}/samples/epoch-{number:04}-0.png",)
    return EpochSaved(**usual | {"validation": None, "samples": samples} | fields)


def run_info(name="castle", **fields: Any) -> TrainingRunInfo:
    folder = f"{USUAL}/{name}.training"
    losses = tuple(TrainingLoss(step=step, loss=1 / step) for step in range(1, 21))
    usual: dict[str, Any] = {"folder": folder, "request": request(name), "started": "2026-01-02T03:04:05+00:00"}
    usual |= {"step": 20, "steps": 40, "lora": None, "epochs": (epoch(1), epoch(2)), "losses": losses, "seconds": 0.5}
    return TrainingRunInfo(**usual | {"base_samples": (f"{folder}/samples/epoch-0000-0.png",)} | fields)


def plan(need=6 << 30, have=8 << 30, **levers: Any) -> TrainingPlan:
    step = TrainingPhase(
        name="network", parameters=5 << 30, gradients=1 << 20, optimizer=2 << 20, activations=1 << 29, peak=need
    )
    return TrainingPlan(
        fits=need <= have,
        vram_bytes=have,
        peak_bytes=need,
        levers=TrainingLevers(**levers),
        phases=(step,),
        summary="",
        reasons=(),
    )


class TrainWorks:
    """The view model, and the other ends of everything that it talks to."""

    def __init__(self, folder: Path, form: TrainForm | None = None, **state: Any) -> None:
        inline = InlineBackground()
        self.librarian, self.engine, self.clock = FakeService(), FakeService(), FakeClock()
        self.lender = FakeLender()
        turn = GpuTurn(self.lender, FakeModels(), FakeAccess(), self.clock)  # type: ignore[arg-type]
        stored = TrainState(form=form or TrainForm(), **state)
        self.state = Stored(folder / "train.json", stored, inline)
        self.models = ModelChoices(self.librarian)
        self.live = LiveTraining(self.engine, turn)
        self.runs = TrainingRunsModel(self.librarian, self.state, self.live, USUAL)
        self.checks = DatasetChecks(self.librarian, self.clock)  # type: ignore[arg-type]
        self.thumbnails = Thumbnails(self.librarian, inline)
        self.planner = FakeService()  # the engine, for plans
        self.memory = TrainingMemory(self.planner)
        self.model = TrainModel(self.models, self.checks, self.memory, self.runs, self.thumbnails, self.state)
        self.models.use((model_info(id="base"),))

    def check(self, found: TrainingCheck | None = None) -> None:
        """Answer the pending check of the dataset."""
        self.clock.advance(1)
        self.librarian.answer(found or check(), "training_check")

    def list(self, *infos: TrainingRunInfo) -> None:
        """Answer the question for the runs."""
        if not self.librarian.open("training_runs"):
            self.runs.refresh()
        self.librarian.answer(infos, "training_runs")
