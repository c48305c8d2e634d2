"""Settings for the output folder, file names and further gallery folders, validated before they are stored."""

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

_REFUSALS = ("usage", "storage")  # errors caused by the name or folder; others are not its fault


class OutputFolders(QObject):
    """Input is validated by the library service, as the engine would do it, and stored if valid."""

    changed = Signal()  # stored values, or what is wrong with the input

    def __init__(self, settings: Stored[Settings], librarian: Service, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings, self._librarian = settings, librarian
        self._problems: dict[Line, str] = {}
        self._asked: dict[Line, int] = {}

    def problem(self, line: Line) -> str:
        """Return why the last input was not stored, or ""."""
        return self._problems.get(line, "")

    def folder(self) -> str:
        """Return the stored folder; "": the default one."""
        return self._settings.value().output_folder

    def usual_folder(self) -> str:
        """Return the default output folder."""
        return str(output_folder(Settings()))

    def template(self) -> str:
        """The file name template in use."""
        return self._settings.value().name_template

    def set_folder(self, text: str) -> None:
        """Set the folder for new images; existing ones stay in the gallery."""
        try:
            folder = str(Path(text.strip()).expanduser()) if text.strip() else ""
        except RuntimeError:  # ~user for an unknown user
            folder = text.strip()
        if folder and not Path(folder).is_absolute():
            problem = self.tr(
                "{folder} is not an absolute path: enter a full path, starting at the root or drive letter."
            )
            self._refuse("folder", problem.format(folder=folder))
            return
        self._check("folder", folder, self.template(), lambda: self._keep_folder(folder))

    def set_template(self, text: str) -> None:
        """Set the file name template; "": the default one."""
        template = text.strip() or DEFAULT_TEMPLATE
        self._check("template", self.folder(), template, lambda: self._settings.change(name_template=template))

    def gallery_folders(self) -> tuple[str, ...]:
        """Return the folders shown in the gallery besides the output folder."""
        return self._settings.value().gallery_folders

    def set_gallery_folders(self, folders: tuple[str, ...]) -> None:
        """Set the further folders; no files are touched."""
        self._settings.change(gallery_folders=folders)
        self.changed.emit()

    def _keep_folder(self, folder: str) -> None:
        """Keep the previous folder in the gallery, so that its images stay visible."""
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
                kept()  # it cannot be validated now; Generate will report errors

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
