"""Starts the program: stored state, the window, then the background processes."""

import argparse
import sys
from collections.abc import Sequence

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from mezzotint import __version__
from mezzotint_app import language, resources, theme
from mezzotint_app.clock import SystemClock
from mezzotint_app.garbage import Collector
from mezzotint_app.notifications import Notifications
from mezzotint_app.processes.handover import command, start_background_queue, start_detached
from mezzotint_app.processes.setup_process import Bootstrap
from mezzotint_app.program import Program
from mezzotint_app.shutdown_signals import ShutdownSignals
from mezzotint_app.single_instance import SingleInstance
from mezzotint_app.windows.main_window import MainWindow

NAME = "Mezzotint"
_SWITCH = 0.001  # seconds after which a busy thread must release the GIL to the window's thread


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window and return the exit code once it is closed."""
    paths: list[str] = _parser().parse_args(argv).path
    application = make_application(language.stored())
    instance = SingleInstance()
    if not instance.claim(paths):
        return _not_the_first(instance.answered)
    shutdown_signals = ShutdownSignals()
    program = Program(bootstrap=Bootstrap.found())
    window = open_window(program)
    sys.setswitchinterval(_SWITCH)
    collector = Collector(SystemClock(program))
    QTimer.singleShot(0, collector.start)
    shutdown_signals.received.connect(window.leave)
    application.commitDataRequest.connect(lambda _manager: program.keep())
    window.closing.connect(lambda: program.leave(application.quit))
    instance.raised.connect(window.raise_window)
    instance.paths_received.connect(program.dropped.take_paths)
    if paths:
        QTimer.singleShot(0, lambda: program.dropped.take_paths(paths))
    code = application.exec()
    collector.stop()
    program.finish()
    instance.release()
    shutdown_signals.release()
    if program.continue_in_background:
        start_background_queue(command(program.settings.value()))
    if program.start_again and program.bootstrap is not None:
        start_detached(program.setup.restart_line(), "start.log", program.bootstrap.environment())
    return code


def make_application(wanted: str = language.SOURCE) -> QApplication:
    """Create the QApplication, with its name and language; an empty `wanted` means the system's language."""
    application = QApplication(sys.argv[:1])
    language.install(application, wanted)
    application.setApplicationName(NAME)
    application.setApplicationVersion(__version__)
    application.setDesktopFileName("mezzotint")
    resources.preload()
    application.setWindowIcon(resources.icon("mezzotint"))
    application.setQuitOnLastWindowClosed(False)  # whatever is running is requeued first
    return application


def open_window(program: Program) -> MainWindow:
    """Show the window, and start the background work once it is visible."""
    window = MainWindow(program)
    # After the window is built: Qt restyles a whole subtree whenever a widget is reparented.
    theme.apply(_application(), program.settings.value().theme)
    program.settings.changed.connect(lambda: _follow_theme(program))
    for notice in program.notices:
        window.show_notice(notice)
    program.access.open()  # on its own thread; later calls wait for it
    window.show()
    notifications = Notifications(window, program.runner, program.settings)
    program.batch.finished.connect(notifications.batch_ended)
    program.train.finished.connect(notifications.batch_ended)
    QTimer.singleShot(0, program.begin)
    return window


def _not_the_first(answered: bool) -> int:
    """Report that another window is open: it either came to the front or does not respond."""
    if answered:
        return 0
    words = QApplication.translate(
        "main",
        "Mezzotint is already running but does not respond. Close its window or end its process, then start it again.",
    )
    QMessageBox.warning(None, NAME, words)
    return 1


def _follow_theme(program: Program) -> None:
    wanted = program.settings.value().theme
    if wanted != theme.choice():
        theme.apply(_application(), wanted)


def _application() -> QApplication:
    application = QApplication.instance()
    if not isinstance(application, QApplication):
        raise TypeError("the window needs make_application() first")
    return application


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mezzotint-app", description="Open the window.", allow_abbrev=False)
    parser.add_argument("path", nargs="*", help="an image, a model, a job file or a folder to open")
    parser.add_argument("--version", action="version", version=f"{NAME} {__version__}")
    return parser
