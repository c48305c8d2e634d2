"""The real window with faulty processes, files and disks; the engine is a fake that starts immediately."""

import sys
from contextlib import contextmanager
from pathlib import Path

from mezzotint_app.main import open_window
from mezzotint_app.processes import supervisor
from mezzotint_app.program import Program
from mezzotint_app.settings import Settings, settings_path
from mezzotint_app.stored import write

PLUGINS = Path(__file__).parent
ENGINE = (sys.executable, "-P", str(PLUGINS / "fake_server.py"))
WAIT = 30_000  # timeout in milliseconds; generous, for busy machines


def engine_that(fault):
    return (*ENGINE, "--start", fault)


class Switch:
    """A process whose behaviour at the next start can be set."""

    def __init__(self, path, module="mezzotint.librarian"):
        self._path = path
        self.command = (sys.executable, "-P", str(PLUGINS / "switched_server.py"), str(path), module)
        self.set("real")

    def set(self, how):
        self._path.write_text(how)


class Faulty:
    """An open window, and what a user reads and does there."""

    def __init__(self, qtbot, engine=ENGINE, librarian=None):
        self.bot = qtbot
        self.program = Program(engine=engine) if librarian is None else Program(engine=engine, librarian=librarian)
        self.window = open_window(self.program)
        self.saved = []
        self.program.runner.saved.connect(lambda _task, image: self.saved.append(image))

    def until(self, condition):
        self.bot.waitUntil(condition, timeout=WAIT)

    def notice(self):
        return self.window.notice.text()

    def line(self):
        return self.window.line.message.text()

    def engine_notice(self):
        return self.window.engine_notice.trouble.text()

    def librarian_notice(self):
        return self.window.librarian_notice.trouble.text()

    def type_prompt(self, text):
        """Type through Qt's keyboard events."""
        edit = self.window.create_page.prompts.prompt
        edit.selectAll()
        self.bot.keyClicks(edit, text)

    def generate(self):
        return self.program.create.generate()

    def drop(self, *paths):
        self.program.dropped.take_paths([str(path) for path in paths])

    def ask(self, prompt):
        """Add an image to the queue as Generate does; the engine need not run."""
        program = self.program
        program.create.prompts.set_prompt(prompt)
        rows = []
        before = self.rows()
        program.access.change(lambda store: store.add([program.create.request()]), rows.append)
        self.until(lambda: bool(rows))
        return before

    def rows(self):
        found = []
        self.program.access.ask(lambda store: found.append(store.rows()))
        self.until(lambda: bool(found))
        return found[0]

    def states(self):
        return [row.state for row in self.rows()]

    def works(self, prompt="still works"):
        """Check that another image can be requested and is generated."""
        count = len(self.saved)
        self.ask(prompt)
        self.until(lambda: len(self.saved) > count and self.program.runner.task() is None)

    def close(self):
        left = []
        self.window.leave()
        self.program.leave(lambda: left.append(True))
        self.until(lambda: bool(left))
        self.program.finish()
        self.window.deleteLater()


@contextmanager
def opened(qtbot, monkeypatch, *, patience=(0.02, 0.02, 0.02, 0.02), **commands):
    """Open a window with hardly any delay between restarts, and close it properly."""
    monkeypatch.setattr(supervisor, "BACK_OFF", patience)
    if not settings_path().exists():
        write(settings_path(), Settings(first_run_done=True, previews=False))
    faulty = Faulty(qtbot, **commands)
    try:
        yield faulty
    finally:
        faulty.close()
