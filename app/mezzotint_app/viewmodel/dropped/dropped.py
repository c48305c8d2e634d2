"""Classifies what was dropped on the window, through the library service, and signals what to do with it."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import Dropped
from mezzotint_app.background import Executor
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.dropped.data import MOST_PATHS, DropData
from mezzotint_app.viewmodel.dropped.described_request import file_name
from mezzotint_app.viewmodel.dropped.folder_of_images import Images, checked, images_in
from mezzotint_app.viewmodel.foreign_text import in_one_line

_MAX_MESSAGES = 3  # messages about individual files


class DropHandler(QObject):
    """Dispatches drops asynchronously; a newer drop replaces one in progress."""

    show_differences = Signal(str)  # path of an image
    add_model = Signal(object)  # Dropped: a model or folder of models
    add_lora = Signal(object)  # Dropped
    job = Signal(str)  # path of a job file
    batch = Signal(object)  # Images: a folder or several images
    pasted = Signal(object)  # QImage: pixels without a file
    message = Signal(str)  # plain text for the user
    busy = Signal(bool)  # whether a drop is being examined

    def __init__(self, librarian: Service, pool: Executor, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._librarian, self._pool = librarian, pool
        self._newest = 0

    def take(self, what: DropData) -> None:
        """Process dropped or pasted data."""
        self._newest += 1
        if what.left_out:
            self.message.emit(
                self.tr("{0} files are too many at once: only the first {1} are used.").format(
                    len(what.paths) + what.left_out, len(what.paths)
                )
            )
        if what.paths:
            self._examine(what.paths)
        elif what.image is not None:
            self.pasted.emit(what.image)
        elif what.elsewhere:
            self.message.emit(
                self.tr(
                    "That is a web address, not a file: dropping it downloads nothing. Save the file first, then "
                    "drop it."
                )
            )
        else:
            self.message.emit(
                self.tr("Nothing in it can be used. Drop or paste images, models, LoRAs, job files or folders.")
            )

    def take_paths(self, paths: Sequence[str]) -> None:
        """Like `take`, for paths from elsewhere, such as a command line."""
        self.take(DropData(paths=tuple(paths[:MOST_PATHS]), left_out=max(len(paths) - MOST_PATHS, 0)))

    def _examine(self, paths: tuple[str, ...]) -> None:
        number = self._newest
        self.busy.emit(True)

        def examined(found: tuple[Dropped, ...]) -> None:
            if number == self._newest:
                self.busy.emit(False)
                self._sort(found)

        def failed(failure: Failure) -> None:
            if number == self._newest:
                self.busy.emit(False)
                self.message.emit(failure.message)

        params = {"paths": paths}
        self._librarian.ask("examine", params, answer=tuple[Dropped, ...], then=examined, failed=failed)

    def _sort(self, found: tuple[Dropped, ...]) -> None:
        images = [one.path for one in found if one.kind == "image"]
        if len(images) == 1:
            self.show_differences.emit(images[0])
        elif images:
            self.batch.emit(Images(folder="", paths=tuple(images)))
        for one in found:
            if one.kind in ("model", "model_folder"):
                self.add_model.emit(one)
            elif one.kind == "lora":
                self.add_lora.emit(one)
            elif one.kind == "job":
                self.job.emit(one.path)
            elif one.kind == "image_folder":
                self._list(one.path)
        self._report_rest([one for one in found if one.kind == "unknown"])

    def _list(self, folder: str) -> None:
        number = self._newest

        def listed(images: Images) -> None:
            if number == self._newest:
                self.batch.emit(images)

        def failed(error: Exception) -> None:
            if number == self._newest:
                self.message.emit(str(error))

        self._pool.run(lambda: checked(images_in(folder)), listed, failed)

    def _report_rest(self, rest: list[Dropped]) -> None:
        for one in rest[:_MAX_MESSAGES]:
            self.message.emit(self._words(one))
        left = len(rest) - _MAX_MESSAGES
        if left > 0:
            self.message.emit(self.tr("%n more cannot be used.", "", left))

    def _words(self, one: Dropped) -> str:
        name, detail = in_one_line(file_name(one.path), 80), in_one_line(one.detail)
        return self.tr("{0}: {1}").format(name, detail)
