"""Run the real `main` in a separate process: `python ending_driver.py [PATH...]`; reports as JSON on stdout.

The engine is a fake. If `PROMPT` is in the environment, it is generated once the window is open; `HANG` blocks the
window's thread forever once it is open.
"""

import json
import os
import signal
import sys
import threading
import time
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QMessageBox

from mezzotint_app import main, program
from mezzotint_app.settings import Settings, settings_path
from mezzotint_app.stored import write

for one in ("SIGINT", "SIGHUP"):  # ignored signals would be inherited from whoever started the tests
    if hasattr(signal, one):
        signal.signal(getattr(signal, one), signal.SIG_DFL)

READY = threading.Event()
ENGINE = (sys.executable, "-P", str(Path(__file__).with_name("fake_server.py")))


def tell(**facts):
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def watched(real, made):
    """Call `open_window`, and report the signals that the tests need."""
    window = real(made)
    made.runner.started.connect(lambda task: tell(part="started", prompt=task.request.prompt))
    made.runner.saved.connect(lambda _task, image: tell(part="saved", path=image.path))
    made.dropped.message.connect(lambda words: tell(part="told", words=words))
    made.queue.interrupted.changed.connect(lambda: tell(part="interrupted", words=made.queue.interrupted.text()))
    raise_window = window.raise_window
    window.raise_window = lambda: (raise_window(), tell(part="raised"))
    QTimer.singleShot(0, partial(begun, made))
    return window


def begun(made):
    made.engine.changed.connect(lambda: ready(made))


def warned(_parent, _title, words):
    tell(part="warned", words=words)


def ready(made):
    if made.engine.state() != "ready" or READY.is_set():
        return
    READY.set()
    prompt = os.environ.get("PROMPT")
    if prompt:
        made.create.prompts.set_prompt(prompt)
        made.create.generate()
    QTimer.singleShot(0, lambda: tell(part="ready", engine=made.engine.process_id(), kept=made.create.prompts.prompt()))
    if os.environ.get("HANG"):
        QTimer.singleShot(100, lambda: (tell(part="hangs"), time.sleep(3600)))


if __name__ == "__main__":
    if not settings_path().exists():
        write(settings_path(), Settings(first_run_done=True, previews=False))
    QMessageBox.warning = warned
    program.Program.__init__.__defaults__ = (ENGINE, ENGINE, *program.Program.__init__.__defaults__[2:])
    main.open_window = partial(watched, main.open_window)
    code = main.main(sys.argv[1:])
    tell(part="ended", code=code)
    sys.exit(code)
