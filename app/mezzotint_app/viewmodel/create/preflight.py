"""The memory plan before generating: requirements, reasons, time, and what would make it faster."""

from typing import Literal, Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance

from mezzotint.protocol import EngineInfo, Plan, PlanRequest
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.create.plan_text import Segment, plan_line, plan_segments

PreflightState = Literal["nothing", "waiting", "asking", "planned", "failed"]

DELAY = 250  # milliseconds


class EngineLife(Protocol):
    """The engine's availability, as known to its supervisor."""

    changed: SignalInstance

    def state(self) -> str:
        """starting, ready, restarting, given_up or stopped."""
        ...

    def reason(self) -> str:
        """Why the engine is unavailable, as text."""
        ...

    def info(self) -> EngineInfo | None:
        """The engine's devices, or None until it has reported them."""
        ...


class Preflight(QObject):
    """Requests a plan for the latest request, with at most one query in flight."""

    changed = Signal()

    def __init__(self, engine: Service, life: EngineLife | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._engine, self._life = engine, life
        self._wanted: PlanRequest | None = None
        self._answers_to: PlanRequest | None = None
        self._plan: Plan | None = None
        self._problem = ""
        self._images = 1
        self._learned: float | None = None
        self._open: int | None = None
        self._waiting = QTimer(self)
        self._waiting.setSingleShot(True)
        self._waiting.setInterval(DELAY)
        self._waiting.timeout.connect(self._ask)
        if life is not None:
            life.changed.connect(self._life_changed)

    def set(self, request: PlanRequest | None) -> None:
        """Plan this request after a short delay; None: nothing to plan."""
        if request == self._wanted:
            return
        self._wanted = request
        if request is None:
            self._waiting.stop()
            self._forget()
        else:
            self._waiting.start()

    def state(self) -> PreflightState:
        """Return the state of planning."""
        if self._wanted is None:
            return "nothing"
        if not self._ready():
            return "waiting"
        if self._answers_to != self._wanted:
            return "asking"
        return "failed" if self._plan is None else "planned"

    def plan(self) -> Plan | None:
        """Return the last plan, which stays while a new one is being computed."""
        return self._plan if self._wanted is not None and self._ready() else None

    def fits(self) -> bool:
        """Whether the request fits, as far as known."""
        return self._plan is None or self._plan.fits

    def line(self) -> str:
        """Return the plan as one line."""
        state = self.state()
        if state == "waiting":
            return self._waiting_line()
        if state == "failed":
            return self._problem
        if self._plan is not None and state != "nothing":
            return plan_line(self._plan, card=self.has_card(), seconds=self._seconds(self._plan))
        return self.tr("Planning memory…") if state == "asking" else ""

    def expect(self, images: int, learned: float | None) -> None:
        """Set the number of images and the time that similar earlier ones took, or None without any."""
        if (images, learned) != (self._images, self._learned):
            self._images, self._learned = images, learned
            self.changed.emit()

    def _seconds(self, plan: Plan) -> float:
        return plan.seconds * self._images if self._learned is None else self._learned

    def seconds(self) -> float | None:
        """Return the expected seconds for all images, as shown; None without a plan."""
        plan = self.plan()
        return None if plan is None else self._seconds(plan)

    def segments(self) -> tuple[Segment, ...]:
        """Return the segments of the bar, from the left."""
        plan = self.plan()
        return () if plan is None else plan_segments(plan)

    def reasons(self) -> tuple[str, ...]:
        """Return the reasons for the plan."""
        plan = self.plan()
        return () if plan is None else plan.reasons

    def has_card(self) -> bool:
        """Whether the engine has a GPU; without one, it uses RAM."""
        info = self._life.info() if self._life is not None else None
        if info is not None and info.devices:
            return any(device.id != "cpu" for device in info.devices)
        return self._plan is None or self._plan.vram_bytes != self._plan.ram_bytes

    def _waiting_line(self) -> str:
        reason = self._life.reason() if self._life is not None else ""
        state = self._life.state() if self._life is not None else ""
        if state in ("given_up", "stopped"):
            return reason or self.tr("The engine is not running; images wait in the queue.")
        return reason or self.tr("The engine is starting; the memory plan follows.")

    def _ready(self) -> bool:
        return self._life is None or self._life.state() == "ready"

    def _life_changed(self) -> None:
        if self._wanted is not None and self._ready() and self._answers_to is None and self._open is None:
            self._waiting.start()
        self.changed.emit()

    def _forget(self) -> None:
        self._answers_to, self._plan, self._problem = None, None, ""
        self.changed.emit()

    def _ask(self) -> None:
        wanted = self._wanted
        if wanted is None or self._open is not None:
            return
        if not self._ready():
            self._forget()
            return
        self._open = self._engine.ask(
            "plan",
            wanted,
            answer=Plan,
            then=lambda plan: self._take(wanted, plan, ""),
            failed=lambda failure: self._refused(wanted, failure),
        )
        self.changed.emit()

    def _refused(self, asked: PlanRequest, failure: Failure) -> None:
        self._take(asked, None, failure.message)

    def _take(self, asked: PlanRequest, plan: Plan | None, problem: str) -> None:
        self._open = None
        if asked == self._wanted:
            self._answers_to, self._plan, self._problem = asked, plan, problem
            self.changed.emit()
        elif not self._waiting.isActive():
            self._ask()
