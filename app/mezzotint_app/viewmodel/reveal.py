"""Shows a file in the system's file manager."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QDir, QObject, QProcess, QUrl, Signal

from mezzotint_app.background import Executor

Start = Callable[[str, Sequence[str]], bool]  # program and its arguments; whether it started successfully

_SHOW_ITEMS = (
    "call",
    "--session",
    "--dest=org.freedesktop.FileManager1",
    "--object-path=/org/freedesktop/FileManager1",
    "--method=org.freedesktop.FileManager1.ShowItems",
)


def start(program: str, words: Sequence[str]) -> bool:
    """Start a detached program; returns whether it started."""
    process = QProcess()
    process.setProgram(program)
    if sys.platform == "win32" and words and words[0].startswith("/select,"):
        process.setNativeArguments(words[0])  # Explorer parses quotes in its own way
    else:
        process.setArguments(list(words))
    return bool(process.startDetached()[0])


def finish(program: str, words: Sequence[str]) -> bool:
    """Run a program to completion, for at most a few seconds; returns whether it succeeded."""
    process = QProcess()
    process.start(program, list(words))
    if not process.waitForFinished(5000):
        process.kill()
        process.waitForFinished(1000)
        return False
    return process.exitStatus() == QProcess.ExitStatus.NormalExit and process.exitCode() == 0


def show_file(path: str, *, platform: str = sys.platform, start: Start = start, finish: Start = finish) -> bool:
    """Open the file's folder with the file selected; False if this system does not support it. For worker threads."""
    if platform == "win32":
        return start("explorer.exe", [f'/select,"{path}"'])
    if platform == "darwin":
        return start("open", ["-R", path])
    address = QUrl.fromLocalFile(path).toString(QUrl.ComponentFormattingOption.FullyEncoded).replace("'", "%27")
    return finish("gdbus", [*_SHOW_ITEMS, f"['{address}']", ""])


class Reveal(QObject):
    """Shows files; where the system cannot select one, requests opening its folder instead."""

    open_folder = Signal(str)  # for QDesktopServices, on the UI thread
    failed = Signal(str)

    def __init__(
        self, background: Executor, parent: QObject | None = None, *, show: Callable[[str], bool] = show_file
    ) -> None:
        super().__init__(parent)
        self._background, self._show = background, show

    def show(self, path: str) -> None:
        """Show this file, or its folder if the file is gone."""

        def work() -> str:
            if not Path(path).exists():
                return _nearest(Path(path).parent)
            return "" if self._show(QDir.toNativeSeparators(path)) else str(Path(path).parent)

        self._background.run(work, self._shown, lambda error: self.failed.emit(str(error)))

    def show_folder(self, path: str) -> None:
        """Open a folder, or its nearest existing ancestor."""
        self._background.run(lambda: _nearest(Path(path)), self._shown, lambda error: self.failed.emit(str(error)))

    def _shown(self, folder: str) -> None:
        if folder:
            self.open_folder.emit(folder)


def _nearest(folder: Path) -> str:
    return str(next((one for one in (folder, *folder.parents) if one.is_dir()), folder))
