"""The engine's installation in the window, with a bootstrap that says hostile things."""

from fake_service import InlineBackground
from fake_setup import CARD, INSTALLED, LOOK, made_setup
from settled import settle

from mezzotint_app.windows.first_run import FirstRun


def _setup(windows, hostile, look, *, first):
    advice = {"code": "driver_old", "what": hostile, "next": hostile}
    said = {**look, "gpus": [{**CARD, "name": hostile}], "driver": hostile, "why": hostile, "advice": advice}
    made = made_setup(windows.program.settings._path.parent, InlineBackground(), first=first, look=said)
    made.model.install()
    made.runs.open("install").say("failed", what=hostile, next=hostile, code="new")
    made.runs.open("install").end(1)
    made.runs.look(said)
    return made.model


def first_run_without_engine(windows, hostile):
    """Return what installs the engine."""
    page = windows._first = FirstRun(_setup(windows, hostile, LOOK, first=True))
    page.resize(1024, 680)
    page.show()
    settle()
    return page


def settings_engine(windows, hostile):
    """Return the versions, and another build."""
    windows.program.setup = _setup(windows, hostile, INSTALLED, first=False)
    return windows._settings(5)
