"""The Batch page: inputs, output and settings of a batch, its preview and its start."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QObject, Signal

from mezzotint.batch_protocol import BatchJob, BatchWrite, BatchWritten
from mezzotint.protocol import GenerateRequest
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.settings import Settings, output_folder
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.batch.batches import Batches
from mezzotint_app.viewmodel.batch.dry_run import DryRun
from mezzotint_app.viewmodel.batch.form import (
    BatchForm,
    Job,
    absolute_path,
    job_of,
    lines_of,
    problems_of,
    run_arguments,
    settings_in,
)
from mezzotint_app.viewmodel.batch.opened import form_of
from mezzotint_app.viewmodel.batch.settings import job_of_request, settings_of_request, words_of
from mezzotint_app.viewmodel.batch.state import BatchesState
from mezzotint_app.viewmodel.batch.texts import state_words

_LONGEST_NAME = 48  # characters of a folder named after a prompt
_NOT_IN_NAMES = re.compile(r"[^\w\- ]+")
_JOBS = (".toml", ".json")
_TABLES = (".csv", ".tsv", ".jsonl")


class HasRequest(Protocol):
    """The source of the settings for one image, as implemented by `CreateModel`."""

    def request(self, *, styled: bool = True) -> GenerateRequest:
        """Return the current settings as a request; `styled`: with the texts of the styles in use."""
        ...


class BatchModel(QObject):
    """State of the page; the batches themselves are in `batches`, the dry run in `dry_run`."""

    changed = Signal()
    noticed = Signal(str)  # message for the user
    begun = Signal(str)  # id of a batch
    finished = Signal(str, str)  # title and state text, when a run has ended by itself

    def __init__(
        self,
        create: HasRequest,
        librarian: Service,
        batches: Batches,
        state: Stored[BatchesState],
        settings: Stored[Settings],
        parent: QObject | None = None,
        *,
        cards: Callable[[], int] = lambda: 0,
    ) -> None:
        super().__init__(parent)
        self.cards = cards  # number of known GPUs
        self._create, self.librarian = create, librarian
        self._state, self._window = state, settings
        self.batches = batches
        self.dry_run = DryRun(librarian, parent=self)
        self._beginning = False
        self._ended: set[str] = set()  # runs that have ended and whose folder status is pending
        batches.ended.connect(self._run_ended)
        batches.batch_changed.connect(self._notify_end)
        batches.added.connect(self._added)
        batches.refused.connect(self._refused)
        settings.changed.connect(self.changed)

    # ---- the form

    def form(self) -> BatchForm:
        """Return the form as filled in."""
        return self._state.value().form

    def change(self, **fields: Any) -> None:  # noqa: ANN401
        """Change fields of the form; this discards the dry run."""
        before = self.form()
        self._state.change(form=replace(before, **fields))
        if self.form() != before:
            self.dry_run.discard()
            self.changed.emit()

    def problems(self) -> dict[str, str]:
        """Return the problems that prevent a start, by field."""
        return problems_of(self.form())

    def job(self) -> Job:
        """Return the form as a job."""
        return job_of(self.form(), self.output())

    def output(self) -> str:
        """Return the output folder."""
        form = self.form()
        if form.output.strip():
            return absolute_path(form.output.strip(), str(Path.home()))
        folder = output_folder(self._window.value()) / self.title()
        if form.source == "folder" and folder == Path(absolute_path(form.folder.strip(), str(Path.home()))):
            folder = folder.with_name(self.tr("{name}, new").format(name=folder.name))  # never into the input folder
        return str(folder)

    def title(self) -> str:
        """Return the batch's title: as entered, or from the input folder or first prompt."""
        form = self.form()
        if form.title.strip():
            return _as_name(form.title)
        if form.source == "folder":
            return _as_name(Path(form.folder).name)
        lines = lines_of(form.prompts)
        first = lines[0] if lines else Path(form.prompts_file or form.table).stem
        more = f" +{len(lines) - 1}" if len(lines) > 1 else ""
        return _as_name(first) + more

    def words_of_settings(self) -> str:
        """Return the generation settings as one line."""
        form = self.form()
        settings = settings_in(form)
        return words_of(settings, form.strength if "strength" in settings else None)

    # ---- user actions

    def take_settings(self) -> None:
        """Copy the settings from the Create page, and its prompt if none has been entered here."""
        request = self._create.request(styled=False)
        copied = settings_of_request(request)
        styles: dict[str, Any] = {"style": list(request.styles)} if request.styles else {}
        fields: dict[str, Any] = {"settings": copied.settings | styles}
        if not self.form().prompts.strip():
            fields["prompts"] = " ".join(request.prompt.splitlines())
        self.change(**fields)
        if copied.left_out:
            self.noticed.emit(self.tr("Not copied: {names}.").format(names=", ".join(copied.left_out)))

    def use_folder(self, folder: str) -> None:
        """Use the images in this folder as input."""
        self.change(source="folder", folder=folder, output="", title="")

    def use_paths(self, paths: Sequence[str]) -> None:
        """Use the first dropped path: a job, a table, a list of prompts, or a folder."""
        for path in paths[:1]:
            low = path.lower()
            if low.endswith(_JOBS):
                self.open_job(path)
            elif low.endswith(_TABLES):
                self.change(source="words", table=path)
            elif low.endswith(".txt"):
                self.change(source="words", prompts_file=path)
            else:
                self.use_folder(path)

    def start_dry_run(self) -> bool:
        """Start a dry run; returns False if the form has problems."""
        if self.problems():
            return False
        self.dry_run.start(self.job(), str(Path.home()))
        return True

    def begin(self) -> bool:
        """Start the batch; returns False if the form has problems."""
        if self.problems():
            return False
        self.dry_run.stop()
        self._beginning = True
        self.batches.add(self.job(), self.title(), self.output(), run_arguments(self.form(), self.cards()))
        return True

    def begin_grid(self, job: Job, title: str) -> None:
        """Start a job as a grid, in a folder of its own."""
        name = f"{_as_name(title)} {time.strftime('%Y-%m-%d %H.%M.%S')}"
        folder = str(output_folder(self._window.value()) / name)
        self._beginning = True
        self.batches.add(job | {"output": {"folder": folder, "grid": True}}, title, folder)

    def open_job(self, path: str) -> None:
        """Fill in the form from a job file."""

        def opened(found: BatchJob) -> None:
            form, message = form_of(dict(found.job), found.base)
            self.change(**{name: getattr(form, name) for name in form.__dataclass_fields__})
            if message:
                self.noticed.emit(message)

        self.librarian.ask("batch_read", {"path": path}, answer=BatchJob, then=opened, failed=self._failed)

    def save_job(self, path: str) -> None:
        """Save the form as a job file, which `mezzotint run` also accepts."""
        if not self.problems():
            self._save(self.job(), path)

    def save_request(self, request: GenerateRequest, path: str) -> None:
        """Save one request of the Create page as a job file."""
        folder = str(output_folder(self._window.value()))
        self._save(job_of_request(request, folder), path)

    # ---- gallery

    def is_in_gallery(self, folder: str) -> bool:
        """Whether the gallery shows images in this folder."""
        window = self._window.value()
        places = (str(output_folder(window)), *window.gallery_folders)
        return any(Path(folder).is_relative_to(place) for place in places)

    def show_in_gallery(self, folder: str) -> None:
        """Add the output folder to the gallery."""
        if not self.is_in_gallery(folder):
            self._window.change(gallery_folders=(*self._window.value().gallery_folders, folder))

    # ---- internals

    def _save(self, job: Job, path: str) -> None:
        target = path if path.lower().endswith(_JOBS) else f"{path}.toml"

        def written(found: BatchWritten) -> None:
            self.noticed.emit(self.tr("Job file saved: {path}").format(path=found.path))

        # The dialog has already asked whether to overwrite an existing file.
        wanted = BatchWrite(job=job, path=target, overwrite=True, base=str(Path.home()))
        self.librarian.ask("batch_write", wanted, answer=BatchWritten, then=written, failed=self._failed)

    def _added(self, identity: str) -> None:
        if self._beginning:
            self._beginning = False
            self.begun.emit(identity)

    def _run_ended(self, identity: str) -> None:
        batch = self.batches.get(identity)
        if batch is not None and batch.problem:
            self.finished.emit(batch.known.title, batch.problem)
        else:
            self._ended.add(identity)

    def _notify_end(self, identity: str) -> None:
        """Report the end once the folder's status is known, except if the user stopped the batch."""
        batch = self.batches.get(identity)
        if identity in self._ended and batch is not None and batch.stage == "resting" and batch.status is not None:
            self._ended.discard(identity)
            if batch.status.is_ended:
                self.finished.emit(batch.known.title, state_words(batch, ""))

    def _refused(self, why: str) -> None:
        self._beginning = False
        self.noticed.emit(why)

    def _failed(self, failure: Failure) -> None:
        self.noticed.emit(failure.message)


def _as_name(text: str) -> str:
    """Return `text` as a folder name that is valid on every system."""
    plain = " ".join(_NOT_IN_NAMES.sub(" ", text).split())[:_LONGEST_NAME].strip()
    return plain or "batch"
