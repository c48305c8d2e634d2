"""The installed models and operations on them, all of which run in the library service."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import GetRequest, ModelPlace, QuantizeRequest, Verified
from mezzotint.protocol import (
    Event,
    ModelInfo,
    ModelRef,
    PartChoice,
    PartFiles,
    Plan,
    PlanRequest,
    Progress,
)
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.settings import Settings

JobKind = Literal["get", "quantize", "verify"]
JobState = Literal["running", "done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryJob:
    """A long-running operation on a model."""

    call: int
    kind: JobKind
    subject: str  # model id or source
    state: JobState = "running"
    progress: Progress | None = None
    outcome: str = ""  # result, or reason of the failure


class ModelLibrary(QObject):
    """Lists models, adds and removes folders, and tracks the download, quantize and verify jobs."""

    changed = Signal()  # models, places or notices
    memory_plan_changed = Signal(str)  # model id whose memory plan has arrived
    details_changed = Signal(str)
    part_files_changed = Signal(str)  # model id
    job_changed = Signal(int)
    message = Signal(str)  # error message
    added = Signal(str)  # id of a model that was downloaded or converted
    found = Signal(tuple)  # tuple of ModelInfo from an added place; empty if none was new
    hidden_changed = Signal()
    memory_plans_discarded = Signal()

    def __init__(
        self,
        librarian: Service,
        engine: Service,
        parent: QObject | None = None,
        *,
        settings: Callable[[], Settings] = Settings,
    ) -> None:
        super().__init__(parent)
        self._librarian, self._engine, self._settings = librarian, engine, settings
        self._limits = limits_of(settings())
        self.models: tuple[ModelInfo, ...] = ()
        self.places: tuple[ModelPlace, ...] = ()
        self.notices: tuple[str, ...] = ()
        self.hidden: tuple[ModelInfo, ...] = ()  # removed from the list; known after `ask_hidden` is answered
        self.loading = False
        self.listed = False  # whether the list has been received
        self.unlisted = ""  # why the last request for the list failed
        self._details: dict[str, ModelInfo] = {}
        self._part_files: dict[str, tuple[PartFiles, ...]] = {}
        self._memory_plans: dict[str, Plan | Failure] = {}
        self._jobs: dict[int, LibraryJob] = {}
        self._begun: dict[int, Callable[[], int]] = {}  # restarts each job
        self._asked: set[tuple[str, str]] = set()
        self._again = False
        self._before_place: frozenset[str] | None = None  # ids, until the models of a new place are listed

    # ---- queries

    def refresh(self) -> None:
        """List everything again; a call during a refresh queues one more."""
        if self.loading:
            self._again = True
            return
        self.loading = True
        self._librarian.ask("models", answer=tuple[ModelInfo, ...], then=self._listed, failed=self._not_listed)
        self._librarian.ask("places", answer=tuple[ModelPlace, ...], then=self._placed, failed=self._emit_failure)
        self._librarian.ask("notices", answer=tuple[str, ...], then=self._noticed, failed=self._emit_failure)

    def model(self, identity: str) -> ModelInfo | None:
        """Return the model with this id, or None."""
        return next((model for model in self.models if model.id == identity), None)

    def details(self, identity: str) -> ModelInfo | None:
        """Return the model with its components, requesting them if not yet known (then None)."""
        if identity not in self._details and self._first("inspect", identity):
            self._librarian.ask(
                "inspect",
                ModelRef(id=identity),
                answer=ModelInfo,
                then=lambda info: self._inspected(identity, info),
                failed=lambda failure: self._not_inspected(identity, failure),
            )
        return self._details.get(identity)

    def part_files(self, identity: str) -> tuple[PartFiles, ...] | None:
        """Return the model's components that can be read from other files, requesting them if not yet known."""
        if identity not in self._part_files and self._first("part_files", identity):
            self._librarian.ask(
                "part_files",
                ModelRef(id=identity),
                answer=tuple[PartFiles, ...],
                then=lambda files: self._have_part_files(identity, files),
                failed=lambda _: self._asked.discard(("part_files", identity)),  # the list says what is wrong with it
            )
        return self._part_files.get(identity)

    def choose_part(self, identity: str, component: str, file: str | None) -> None:
        """Use another file for a component; None: the one that is found automatically."""

        def done(files: Iterable[PartFiles]) -> None:
            self._memory_plans.pop(identity, None)
            self._have_part_files(identity, files)
            self.refresh()

        def failed(failure: Failure) -> None:
            self._emit_failure(failure)
            self.part_files_changed.emit(identity)  # shows the file that is still in use

        self._librarian.ask(
            "choose_part",
            PartChoice(model=identity, component=component, file=file),
            answer=tuple[PartFiles, ...],
            then=done,
            failed=failed,
        )

    def memory_plan(self, identity: str) -> Plan | Failure | None:
        """Return the model's memory plan for this machine, requesting it if not yet known (then None)."""
        limits = self._limits
        if identity not in self._memory_plans and self._first("plan", identity):
            self._engine.ask(
                "plan",
                replace(limits, models=(identity,)),
                answer=Plan,
                then=lambda plan: self._planned(limits, identity, plan),
                failed=lambda failure: self._planned(limits, identity, failure),
            )
        return self._memory_plans.get(identity)

    # ---- places

    def add_folder(self, path: str) -> None:
        """Add a folder of models, a ComfyUI or A1111 tree, or a single file, without copying anything."""
        self._change_places("add_place", path, self._expect_more)

    def remove_folder(self, path: str) -> None:
        """Remove a folder from the search; nothing is deleted."""
        self._change_places("remove_place", path)

    def forget(self, identity: str) -> None:
        """Remove a model from the list; its files stay."""

        def done(_: object) -> None:
            self.message.emit(
                self.tr("{model} was removed from the list; use “Folders…” to show it again.").format(model=identity)
            )
            self._look_all_over()

        self._librarian.ask("forget_model", {"id": identity}, then=done, failed=self._emit_failure)

    def remember(self, identity: str) -> None:
        """Put a model back on the list."""
        self._librarian.ask(
            "remember_model", {"id": identity}, then=lambda _: self._look_all_over(), failed=self._emit_failure
        )

    def ask_hidden(self) -> None:
        """Request the models that were removed from the list."""
        self._librarian.ask(
            "hidden_models", answer=tuple[ModelInfo, ...], then=self._have_hidden, failed=self._emit_failure
        )

    def _look_all_over(self) -> None:
        self.refresh()
        self.ask_hidden()

    def _have_hidden(self, models: Iterable[ModelInfo]) -> None:
        self.hidden = tuple(models)
        self.hidden_changed.emit()

    # ---- jobs

    def jobs(self) -> tuple[LibraryJob, ...]:
        """Return all jobs of this session, the newest last."""
        return tuple(self._jobs.values())

    def job(self, call: int) -> LibraryJob:
        """Return the job with this call id."""
        return self._jobs[call]

    def get(self, request: GetRequest) -> int:
        """Download a model; the only operation here that uses the network."""
        return self._begin("get", "get", request, request.source, ModelInfo)

    def quantize(self, request: QuantizeRequest) -> int:
        """Create a quantized copy."""
        return self._begin("quantize", "quantize", request, f"{request.model} ({request.scheme})", ModelInfo)

    def verify(self, identity: str) -> int:
        """Read all files of the model and compare them with their checksums."""
        return self._begin("verify", "verify", ModelRef(id=identity), identity, Verified)

    def cancel(self, call: int) -> None:
        """Cancel a job; a retry resumes from what was downloaded or converted."""
        self._librarian.cancel(call)

    def retry(self, call: int) -> int | None:
        """Retry a failed or cancelled job, resuming what was downloaded or converted; None if it has not failed."""
        if self._jobs[call].state not in ("failed", "cancelled"):
            return None
        begin = self._begun[call]
        self.dismiss(call)
        return begin()

    def dismiss(self, call: int) -> None:
        """Remove a finished job from the list."""
        if self._jobs[call].state != "running":
            del self._jobs[call], self._begun[call]
            self.job_changed.emit(call)

    # ---- replies

    def _listed(self, models: Iterable[ModelInfo]) -> None:
        self.loading, self.listed, self.unlisted = False, True, ""
        self.models = tuple(models)
        self._details.clear()
        self._part_files.clear()
        self.changed.emit()
        if self._again:
            self._again = False
            self.refresh()
        elif self._before_place is not None:
            before, self._before_place = self._before_place, None
            self.found.emit(tuple(model for model in self.models if model.id not in before))

    def _not_listed(self, failure: Failure) -> None:
        self.loading, self.unlisted = False, failure.message
        self._emit_failure(failure)
        self.changed.emit()

    def _placed(self, places: Iterable[ModelPlace]) -> None:
        self.places = tuple(places)
        self.changed.emit()

    def _noticed(self, notices: Iterable[str]) -> None:
        self.notices = tuple(notices)
        self.changed.emit()

    def _first(self, question: str, identity: str) -> bool:
        """Whether this request is not already in flight; marks it as in flight."""
        new = (question, identity) not in self._asked
        self._asked.add((question, identity))
        return new

    def _have_part_files(self, identity: str, files: Iterable[PartFiles]) -> None:
        self._asked.discard(("part_files", identity))
        self._part_files[identity] = tuple(files)
        self.part_files_changed.emit(identity)

    def _not_inspected(self, identity: str, failure: Failure) -> None:
        self._asked.discard(("inspect", identity))
        self._emit_failure(failure)

    def _inspected(self, identity: str, info: ModelInfo) -> None:
        self._asked.discard(("inspect", identity))
        self._details[identity] = info
        self.details_changed.emit(identity)

    def _planned(self, limits: PlanRequest, identity: str, found: Plan | Failure) -> None:
        self._asked.discard(("plan", identity))
        if limits != self._limits:
            self.memory_plans_discarded.emit()
            return
        self._memory_plans[identity] = found
        self.memory_plan_changed.emit(identity)

    def invalidate_plans(self) -> None:
        """Discard failed memory plans, and all plans if the limits changed, so that they are requested again."""
        limits, before = limits_of(self._settings()), self._limits
        self._limits = limits
        kept: dict[str, Plan | Failure] = {
            name: need for name, need in self._memory_plans.items() if limits == before and isinstance(need, Plan)
        }
        if len(kept) < len(self._memory_plans):
            self._memory_plans = kept
            self.memory_plans_discarded.emit()

    def _expect_more(self) -> None:
        self._before_place = frozenset(model.id for model in self.models)

    def _change_places(self, method: str, path: str, first: Callable[[], None] = lambda: None) -> None:
        def done(places: tuple[ModelPlace, ...]) -> None:
            first()
            self._placed(places)
            self.refresh()

        self._librarian.ask(method, {"path": path}, answer=tuple[ModelPlace, ...], then=done, failed=self._emit_failure)

    def _begin(self, method: str, kind: JobKind, params: object, subject: str, answer: object) -> int:
        started: list[int] = []
        call = self._librarian.ask(
            method,
            params,
            answer=answer,
            then=lambda result: self._done(started[0], result),
            failed=lambda failure: self._failed(started[0], failure),
            on_event=lambda event: self._advanced(started[0], event),
        )
        started.append(call)
        self._jobs[call] = LibraryJob(call=call, kind=kind, subject=subject)
        self._begun[call] = lambda: self._begin(method, kind, params, subject, answer)
        self.job_changed.emit(call)
        return call

    def _advanced(self, call: int, event: Event) -> None:
        if isinstance(event, Progress):
            self._update(replace(self._jobs[call], progress=event))

    def _done(self, call: int, result: object) -> None:
        job = self._jobs[call]
        if isinstance(result, Verified):
            self._update(replace(job, state="done" if result.ok else "failed", outcome=self._verdict(result)))
            return
        self._update(replace(job, state="done"))
        self.refresh()
        if isinstance(result, ModelInfo):
            self.added.emit(result.id)

    def _verdict(self, found: Verified) -> str:
        if not found.ok:
            return "\n".join(found.problems)
        if found.checked_against == "checksums":
            return self.tr("All %n files match their checksums.", "", len(found.files))
        return self.tr("All %n files are complete; there are no checksums to compare with.", "", len(found.files))

    def _failed(self, call: int, failure: Failure) -> None:
        state: JobState = "cancelled" if failure.kind == "cancelled" else "failed"
        self._update(replace(self._jobs[call], state=state, outcome=failure.message))

    def _update(self, job: LibraryJob) -> None:
        self._jobs[job.call] = job
        self.job_changed.emit(job.call)

    def _emit_failure(self, failure: Failure) -> None:
        self.message.emit(failure.message)


def limits_of(settings: Settings) -> PlanRequest:
    """Return a PlanRequest with the settings that affect a model's memory use."""
    return PlanRequest(
        models=(),
        memory=settings.memory,
        vram_bytes=settings.vram_limit_bytes,
        ram_bytes=settings.ram_limit_bytes,
    )
