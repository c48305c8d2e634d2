"""The whole window without processes: whatever is asked of them is answered by the test, or not at all."""

import pytest
from fake_service import FakeService

from mezzotint_app.program import Program
from mezzotint_app.windows.main_window import MainWindow

NOWHERE = ("there-is-no-such-program",)


@pytest.fixture
def program(qtbot):
    """Not begun: the queue is open, no process runs."""
    made = Program(engine=NOWHERE, librarian=NOWHERE)
    with qtbot.waitSignal(made.access.opened):
        made.access.open()
    yield made
    made.finish()


@pytest.fixture
def asked(program, monkeypatch):
    """What the window asks of the librarian, answered by the test."""
    fake = FakeService()
    monkeypatch.setattr(program.librarian, "ask", fake.ask)
    monkeypatch.setattr(program.librarian, "cancel", fake.cancel)
    return fake


@pytest.fixture
def used(program):
    """The first run is over."""
    program.settings.change(first_run_done=True)


@pytest.fixture
def window(qtbot, program, used):
    """On the Create page."""
    made = MainWindow(program)
    qtbot.addWidget(made, before_close_func=lambda one: one.leave())
    made.show()
    qtbot.waitExposed(made)
    return made
