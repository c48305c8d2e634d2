"""Drive the Models page of the real window: `python window_models_driver.py all`; results go to stdout as JSON.

The test's server stands in for the hub: `HUB` is its URL, and a file called `go` in the home tells when to continue.
"""

import os
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QTableView
from window_driver import tell
from window_queue_driver import Driven, run

from mezzotint_app.settings import Settings, settings_path
from mezzotint_app.stored import write
from mezzotint_app.viewmodel.models.table import NEED
from mezzotint_app.windows.main_window import MODELS

HOME = Path(os.environ["HOME"])


class Models(Driven):
    """A driver of the Models page."""

    def __init__(self, program, window):
        super().__init__(program, window)
        self.models, self.library = window.models_page, program.library

    def listed(self):
        return [model.id for model in self.library.models]

    def row(self, identity):
        """Return the row's cells as displayed."""
        table = self.models.findChild(QTableView).model()
        names = [table.index(row, 0).data() for row in range(table.rowCount())]
        at = names.index(identity)
        return [table.index(at, column).data() for column in range(table.columnCount())]

    def look(self, source):
        """Open the dialog and look up the offer for a source."""
        self.click(self.models.get_button)
        dialog: Any = self.window.dialogs._open["get"]
        self.wait("the list", lambda: dialog.list.count() > 3)
        QTest.keyClick(dialog.source, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
        QTest.keyClicks(dialog.source, source)
        self.click(dialog.look_button)
        self.wait("the offer", lambda: dialog._get.offer is not None or dialog._get.problem)
        assert not dialog._get.problem, dialog._get.problem
        return dialog

    def get(self, source):
        dialog = self.look(source)
        self.click(dialog.get_button)
        return self.line()

    def line(self):
        """Return the last job and its line."""
        job = self.library.jobs()[-1].call
        self.wait("its line", lambda: job in self.models._lines)
        return job, self.models._lines[job]

    def outcome(self, job):
        self.wait("the end of the job", lambda: self.library.job(job).state != "running")
        return self.library.job(job)

    def image_with(self, identity):
        """Generate with that model, using the page's button."""
        self.wait("the model in the list", lambda: identity in self.listed())
        self.models.select(identity)
        self.wait("that it is looked at", lambda: self.models.current() == identity)
        self.click(self.models.details.use_button)
        self.saved.clear()
        self.program.create.chosen.change(steps=2, count=1)
        self.type_prompt("a boat")
        self.press_generate()
        self.wait("the image", lambda: self.saved and self.program.runner.task() is None)
        self.window.show_page(MODELS)
        task, failure = self.ended[-1]
        return {
            "path": self.saved[0].path,
            "model": task.request.cascade.stages[0].model.id,
            "failure": failure and failure.message,
        }


def everything(driven):
    library, page = driven.library, driven.models
    driven.window.show_page(MODELS)
    driven.wait("the bundled models", lambda: "starter-dit" in driven.listed())
    driven.wait("what it needs", lambda: driven.row("starter-dit")[NEED] not in ("…", "unknown"))
    tell(part="listed", row=driven.row("starter-dit"))

    dialog = driven.look("owner/small")
    tell(
        part="offered",
        problem=dialog._get.offer.problem,
        bytes=dialog._get.offer.bytes,
        licence=dialog._get.offer.licence,
    )
    dialog.close()
    job, line = driven.get("owner/small")
    driven.wait("half of it", lambda: (HOME / "half").exists())
    driven.click(line.cancel)
    tell(part="stopped", state=driven.outcome(job).state, again=line.retry.isVisible())
    driven.wait("the server", lambda: (HOME / "go").exists())
    driven.click(line.retry)
    job, line = driven.line()
    ended = driven.outcome(job)
    driven.wait("it in the list", lambda: any(model.source == "models" for model in library.models))
    fetched = next(model.id for model in library.models if model.source == "models")
    driven.wait("that it is looked at", lambda: page.current() == fetched)
    tell(part="fetched", state=ended.state, outcome=ended.outcome, id=fetched)
    driven.click(line.dismiss)

    job, _line = driven.get("owner/bad")
    ended = driven.outcome(job)
    tell(part="wrong checksum", state=ended.state, outcome=ended.outcome, listed=driven.listed())
    tell(part="made with it", **driven.image_with(fetched))

    page.select(fetched)
    driven.wait("that it is looked at", lambda: page.current() == fetched)
    driven.click(page.details.quantize_button)
    dialog = driven.window.dialogs._open["quantize"]
    told = []
    library.job_changed.connect(lambda call: told.append(call))
    driven.click(driven.button("Quantize", dialog))
    job, _line = driven.line()
    before = set(driven.listed())
    ended = driven.outcome(job)
    driven.wait("the copy in the list", lambda: set(driven.listed()) - before)
    (copy,) = set(driven.listed()) - before
    tell(part="quantized", state=ended.state, outcome=ended.outcome, progress=told.count(job), row=driven.row(copy))
    tell(part="made with the copy", **driven.image_with(copy))

    page.select(copy)
    driven.wait("that it is looked at", lambda: page.current() == copy)
    driven.click(page.details.verify_button)
    job, _line = driven.line()
    ended = driven.outcome(job)
    tell(part="verified", state=ended.state, outcome=ended.outcome)

    driven.click(page.details.remove_button)
    driven.wait("that it is off", lambda: copy not in driven.listed())
    driven.click(page.places_button)
    places = driven.window.dialogs._open["places"]

    def row_of_copy() -> int:
        names = [places.hidden.item(row).text() for row in range(places.hidden.count())]
        return next((row for row, name in enumerate(names) if copy in name), -1)

    driven.wait("it among those off the list", lambda: row_of_copy() >= 0)
    places.hidden.setCurrentRow(row_of_copy())
    driven.click(places.list_again_button)
    driven.wait("it in the list again", lambda: copy in driven.listed())
    QFileDialog.getExistingDirectory = lambda *_: str(HOME / "programs" / "ComfyUI")
    driven.click(places.add_button)
    driven.wait("the model of ComfyUI", lambda: any(model.source == "comfyui" for model in library.models))
    other = next(model for model in library.models if model.source == "comfyui")
    lines = [places.list.item(row).text() for row in range(places.list.count())]
    QTest.keyClick(places, Qt.Key.Key_Escape)
    tell(part="places", lines=lines, path=other.path, again=copy in driven.listed())
    driven.window.close()


if __name__ == "__main__":
    write(settings_path(), Settings(first_run_done=True, hub_endpoint=os.environ["HUB"]))
    run(everything, Models)
