"""Where images go and how they are named, and which other folders the gallery shows: checked before they are kept."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from PySide6.QtCore import QObject, Signal

from mezzotint.protocol import Output
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.settings import DEFAULT_TEMPLATE, Settings, output_folder
from mezzotint_app.stored import Stored

Line = Literal["folder", "template"]

_REFUSALS = ("usage", "storage")  # of the name or the folder; of anything else it is not to blame


class ImagePlaces(QObject):
    """What is written is shown to the librarian, which says what the engine would say, and is kept if it is good."""

    changed = Signal()  # what is kept, or what is wrong with what was written

    def __init__(self, settings: Stored[Settings], librarian: Service, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings, self._librarian = settings, librarian
        self._problems: dict[Line, str] = {}
        self._asked: dict[Line, int] = {}

    def problem(self, line: Line) -> str:
        """Why the last that was written there is not kept; empty: it is."""
        return self._problems.get(line, "")

    def folder(self) -> str:
        """As it is kept; empty: the usual one."""
        return self._settings.value().output_folder

    def usual_folder(self) -> str:
        """Where images go when no folder is named."""
        return str(output_folder(Settings()))

    def template(self) -> str:
        """As it is kept."""
        return self._settings.value().name_template

    def set_folder(self, text: str) -> None:
        """Another folder for new images; those that are there stay in the gallery."""
        try:
            folder = str(Path(text.strip()).expanduser()) if text.strip() else ""
        except RuntimeError:  # somebody's home that nobody knows
            folder = text.strip()
        if folder and not Path(folder).is_absolute():
            problem = self.tr("{folder} is not an absolute path: enter it from the root or the drive letter.")
            self._refuse("folder", problem.format(folder=folder))
            return
        self._check("folder", folder, self.template(), lambda: self._keep_folder(folder))

    def set_template(self, text: str) -> None:
        """Another pattern for names; empty: the first one."""
        template = text.strip() or DEFAULT_TEMPLATE
        self._check("template", self.folder(), template, lambda: self._settings.change(name_template=template))

    def gallery_folders(self) -> tuple[str, ...]:
        """Shown in the gallery beside the folder of new images."""
        return self._settings.value().gallery_folders

    def set_gallery_folders(self, folders: tuple[str, ...]) -> None:
        """Others; nothing in any of them is touched."""
        self._settings.change(gallery_folders=folders)
        self.changed.emit()

    def _keep_folder(self, folder: str) -> None:
        """The images in the folder before stay in sight."""
        before = self.folder() or self.usual_folder()
        others = self.gallery_folders()
        if before not in (folder or self.usual_folder(), *others):
            others = (*others, before)
        self._settings.change(output_folder=folder, gallery_folders=others)

    def _check(self, line: Line, folder: str, template: str, keep: Callable[[], None]) -> None:
        if line in self._asked:
            self._librarian.cancel(self._asked.pop(line))
        asked: list[int] = []

        def kept() -> None:
            self._asked.pop(line, None)
            self._problems.pop(line, None)
            keep()
            self.changed.emit()

        def is_last() -> bool:
            return self._asked.get(line) == asked[0]

        def refused(failure: Failure) -> None:
            if not is_last():
                return
            if failure.kind in _REFUSALS:
                self._asked.pop(line, None)
                self._refuse(line, failure.message)
            else:
                kept()  # nobody can say what is wrong with it now; Generate will

        path = (folder or self.usual_folder()).replace("[", "[[") + os.sep + template
        asked.append(
            self._librarian.ask(
                "check_output", Output(path=path), then=lambda _: kept() if is_last() else None, failed=refused
            )
        )
        self._asked[line] = asked[0]

    def _refuse(self, line: Line, why: str) -> None:
        self._problems[line] = why
        self.changed.emit()
