"""The program starts without torch, says what it is, and is there once."""

import json
import subprocess
import sys

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMessageBox
from window_parts import NOWHERE

from mezzotint import __version__
from mezzotint.errors import NoPySide6
from mezzotint_app import main as started
from mezzotint_app import theme
from mezzotint_app.__main__ import main as entry_point
from mezzotint_app.program import Program


def test_the_version_is_told(capsys):
    with pytest.raises(SystemExit) as stop:
        started.main(["--version"])
    assert stop.value.code == 0
    assert __version__ in capsys.readouterr().out


def test_a_window_with_everything_in_it_loads_no_torch():
    code = """if True:
        import json, sys
        from mezzotint_app import main
        from mezzotint_app.program import Program

        application = main.make_application()
        window = main.open_window(Program(engine=("nothing",), librarian=("nothing",)))
        for page in range(5):
            window.show_page(page)
            application.processEvents()
        window.dialogs.settings()
        window.dialogs.keys()
        application.processEvents()
        sys.stdout.write(json.dumps([one for one in ("torch", "diffusers", "transformers") if one in sys.modules]))
        sys.stdout.flush()
        import os
        os._exit(0)
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == []


@pytest.mark.slow
def test_the_theme_follows_the_settings(qapp, qtbot):
    program = Program(engine=NOWHERE, librarian=NOWHERE)
    window = started.open_window(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    program.settings.change(theme="dark")
    assert theme.is_dark()
    program.settings.change(theme="light")
    assert not theme.is_dark()
    program.finish()


def test_what_could_not_be_read_is_told_in_the_window(qapp, qtbot, monkeypatch):
    from mezzotint_app.settings import settings_path

    settings_path().parent.mkdir(parents=True)
    settings_path().write_text("{")
    program = Program(engine=NOWHERE, librarian=NOWHERE)
    window = started.open_window(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    assert "window.json" in window.notice.text()
    program.finish()


@pytest.mark.parametrize(("answered", "code", "boxes"), [(True, 0, 0), (False, 1, 1)])
def test_a_second_start_goes_away(qapp, monkeypatch, answered, code, boxes):
    shown = []
    monkeypatch.setattr(QMessageBox, "warning", lambda *words: shown.append(words[-1]))
    assert started._not_the_first(answered) == code
    assert len(shown) == boxes
    assert all("already running" in words for words in shown)


def test_work_begins_once_the_window_is_there(qapp, qtbot, monkeypatch):
    begun = []
    program = Program(engine=NOWHERE, librarian=NOWHERE)
    monkeypatch.setattr(program, "begin", lambda: begun.append(True))
    window = started.open_window(program)
    qtbot.addWidget(window, before_close_func=lambda one: one.leave())
    assert window.isVisible()
    assert begun == []
    QTimer.singleShot(0, lambda: None)
    qtbot.waitUntil(lambda: begun == [True])
    program.finish()


def test_without_pyside6_it_ends_with_the_words_of_mezzotint_app(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert entry_point() == f"mezzotint: error: {NoPySide6()}"
