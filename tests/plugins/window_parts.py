"""The whole window without subprocesses: the test answers all calls, or leaves them open."""

import pytest
from fake_service import FakeService

from mezzotint_app.program import Program
from mezzotint_app.windows.main_window import MainWindow

NOWHERE = ("there-is-no-such-program",)


@pytest.fixture
def program(qtbot):
    """Not started: the queue is open, no process runs."""
    made = Program(engine=NOWHERE, librarian=NOWHERE)
    with qtbot.waitSignal(made.access.opened):
        made.access.open()
    yield made
    made.finish()


@pytest.fixture
def asked(program, monkeypatch):
    """Calls to the library service, answered by the test."""
    fake = FakeService()
    monkeypatch.setattr(program.librarian, "ask", fake.ask)
    monkeypatch.setattr(program.librarian, "cancel", fake.cancel)
    return fake


@pytest.fixture
def used(program):
    """Marks the first run as done."""
    program.settings.change(first_run_done=True)


@pytest.fixture
def window(qtbot, program, used):
    """The window on the Create page."""
    made = MainWindow(program)
    qtbot.addWidget(made, before_close_func=lambda one: one.leave())
    made.show()
    qtbot.waitExposed(made)
    return made
