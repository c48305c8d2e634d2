"""One-line summary of the queue: what is running, how long it takes, or why nothing runs."""

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QObject, Signal

from mezzotint.jobs.store import EntryRow, JobStore, Task, TaskState
from mezzotint_app.amounts import left_text
from mezzotint_app.errors import is_for_want_of_space
from mezzotint_app.plurals import Plurals
from mezzotint_app.processes.service import Failure
from mezzotint_app.viewmodel.queue.access import QueueAccess
from mezzotint_app.viewmodel.queue.running import QueueRunning, Runner
from mezzotint_app.viewmodel.queue.texts import done_of, entries_count
from mezzotint_app.viewmodel.queue.watch import QueueWatch

translate = QCoreApplication.translate

_RUNNING: tuple[TaskState, ...] = ("running",)
_WAITING: tuple[TaskState, ...] = ("waiting",)
_TROUBLE: tuple[TaskState, ...] = ("failed", "set_aside", "interrupted")


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Data of the summary line."""

    waiting: int = 0  # waiting entries, without the running one
    trouble: int = 0  # entries that failed, were set aside or interrupted
    paused: bool = False
    stops: bool = False  # pauses after the current task
    running: EntryRow | None = None


class QueueSummary(QObject):
    """The summary for the status bar and the page's header."""

    changed = Signal()

    def __init__(
        self,
        access: QueueAccess,
        watch: QueueWatch,
        running: QueueRunning,
        runner: Runner,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._access, self._running, self._runner = access, running, runner
        self._counts = Counts()
        self._why_paused = self._unusable = ""
        access.unusable.connect(self._held_up)
        access.opened.connect(lambda _notice: self._held_up(""))
        watch.changed.connect(self._ask)
        running.changed.connect(self._ran)
        runner.changed.connect(self.changed)
        runner.ended.connect(self._ended)
        self._entry = running.entry()

    def counts(self) -> Counts:
        """Return the current counts."""
        return self._counts

    def work_left(self) -> bool:
        """Whether this program still has work to do; a paused queue, or one held by another program, does not count."""
        elsewhere = self._runner.state == "elsewhere" and not self._runner.is_lent()
        if self._counts.paused or elsewhere:
            return False
        return self._counts.waiting > 0 or self._running.entry() is not None

    def why_paused(self) -> str:
        """Return what paused the queue, or "" if it was the user or it is not paused."""
        return self._why_paused if self._counts.paused else ""

    def text(self) -> str:
        """Return the summary as one line."""
        counts = self._counts
        if self._runner.state == "elsewhere":
            return self._elsewhere()
        if self._running.entry() is not None:
            return self._working()
        if problem := self._runner.problem() or self._unusable:
            held = translate("QueueSummary", "Blocked: {why}").format(why=problem.rstrip("."))
            return _joined(held, _waiting(counts.waiting) if counts.waiting else "")
        if counts.paused and counts.waiting:
            return self._paused()
        if counts.waiting:
            return _joined(_waiting(counts.waiting), left_text(self._running.queue_seconds_left()))
        return self._nothing()

    def fraction(self) -> float | None:
        """Return the fraction of the running entry that is done, for a small progress bar; None: no bar."""
        row = self._counts.running
        elsewhere = self._runner.state == "elsewhere"
        if row is None or not row.images_asked or (self._running.entry() is None and not elsewhere):
            return self._running.fraction()
        return min(1.0, (row.images + self._running.images_under_way()) / row.images_asked)

    def _working(self) -> str:
        counts, row = self._counts, self._counts.running
        done = self._running.words() if row is None else done_of(row.images, row.images_asked)
        line = _joined(done, left_text(self._running.entry_seconds_left()))
        if counts.waiting:
            more = translate("QueueSummary", "then {entries}").format(entries=entries_count(counts.waiting))
            whole = self._running.queue_seconds_left()
            if whole is not None:
                more = translate("QueueSummary", "{more}, {time} in total").format(more=more, time=left_text(whole))
            line = f"{line}; {more}"
        if counts.paused:
            line = translate("QueueSummary", "{line}. Pausing").format(line=line)
        elif counts.stops or self._runner.state == "stopping":
            line = translate("QueueSummary", "{line}. Pauses after this job").format(line=line)
        return line

    def _paused(self) -> str:
        entries = _waiting(self._counts.waiting)
        if self._why_paused:
            why = self._why_paused.rstrip(".")
            return translate("QueueSummary", "Paused: {why}; {entries}").format(why=why, entries=entries)
        return translate("QueueSummary", "Paused; {entries}").format(entries=entries)

    def _elsewhere(self) -> str:
        if self._runner.is_lent():
            waiting = self._counts.waiting
            line = translate("QueueSummary", "{who} is running; the queue continues after it").format(
                who=self._runner.held_by()
            )
            return _joined(line, _waiting(waiting) if waiting else "")
        who = self._runner.held_by() or translate("QueueSummary", "another program")
        line = translate("QueueSummary", "{who} is processing this queue").format(who=who)
        counts, row = self._counts, self._counts.running
        if row is not None:
            line = f"{line}: {done_of(row.images, row.images_asked)}"
        left = self._running.queue_seconds_left() if row is not None or counts.waiting else None
        return _joined(line, _waiting(counts.waiting) if counts.waiting else "", left_text(left))

    def _nothing(self) -> str:
        if self._counts.trouble:
            return translate("QueueSummary", "Queue empty; {entries}").format(entries=_troubled(self._counts.trouble))
        return translate("QueueSummary", "Queue empty")

    def _held_up(self, why: str) -> None:
        self._unusable = why
        self.changed.emit()

    def _ran(self) -> None:
        if self._running.entry() != self._entry:
            self._entry = self._running.entry()
            self._ask()
        self.changed.emit()

    def _ask(self) -> None:
        entry = self._running.entry()

        def read(store: JobStore) -> Counts:
            # By state, not by id: a removed entry has no row. If we run none, another program may run it.
            rows = store.rows(limit=8, states=_RUNNING)
            running = next((row for row in rows if entry in (None, row.id)), None)
            return Counts(
                waiting=store.count(_WAITING),
                trouble=store.count(_TROUBLE),
                paused=store.paused(),
                stops=store.stops_after_current(),
                running=running,
            )

        self._access.ask(read, self._read, lambda _error: None)

    def _ended(self, _task: Task, _result: object, failure: Failure | None) -> None:
        if failure is not None and is_for_want_of_space(failure):  # the runner pauses then
            self._why_paused = failure.message
            self.changed.emit()

    def _read(self, counts: Counts) -> None:
        if not counts.paused and self._counts.paused:
            self._why_paused = ""
        if counts != self._counts:
            self._counts = counts
            self.changed.emit()


class WaitingCounts(Plurals):
    """Translated plurals of waiting entries."""


def _waiting(number: int) -> str:
    return WaitingCounts.tr("%Ln jobs waiting", "", number)


def _troubled(number: int) -> str:
    return WaitingCounts.tr("%Ln jobs need attention", "", number)


def _joined(*parts: str) -> str:
    return ", ".join(part for part in parts if part)
