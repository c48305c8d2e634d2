"""The window opens, says what it is, and closes; it never loads torch."""

import os
import subprocess
import sys

import pytest
from skip_rules import skip_module_without

skip_module_without("PySide6")

from PySide6.QtCore import Qt  # noqa: E402
from PySide6.QtWidgets import QApplication, QLabel  # noqa: E402

from mezzotint import __version__  # noqa: E402
from mezzotint_app.main import EXPLANATION, MainWindow  # noqa: E402


@pytest.fixture
def application():
    return QApplication.instance() or QApplication([])


def test_the_window_says_what_it_is_in_plain_text(application):
    window = MainWindow()
    labels = window.findChildren(QLabel)
    text = "\n".join(label.text() for label in labels)
    assert EXPLANATION in text
    assert __version__ in text
    assert "mezzotint generate" in text
    assert {label.textFormat() for label in labels} == {Qt.TextFormat.PlainText}


def test_the_window_opens_and_closes(application):
    window = MainWindow()
    window.show()
    application.processEvents()
    assert window.isVisible()
    assert window.width() >= 320
    window.close()
    application.processEvents()
    assert not window.isVisible()


def _run(code):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "QT_QPA_PLATFORM": "offscreen"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment)


def test_main_runs_until_the_window_is_closed():
    code = (
        "import sys\n"
        "from PySide6.QtCore import QTimer\n"
        "from PySide6.QtWidgets import QApplication\n"
        "from mezzotint_app.main import MainWindow, main\n"
        "shown = []\n"
        "def close():\n"
        "    for window in QApplication.topLevelWidgets():\n"
        "        shown.append((type(window) is MainWindow, window.isVisible()))\n"
        "        window.close()\n"
        "class Application(QApplication):\n"
        "    def exec(self):\n"
        "        QTimer.singleShot(0, close)\n"
        "        return QApplication.exec()\n"
        "import mezzotint_app.main\n"
        "mezzotint_app.main.QApplication = Application\n"
        "code = main()\n"
        "assert shown == [(True, True)], shown\n"
        "sys.exit(code)\n"
    )
    done = _run(code)
    assert done.returncode == 0, done.stderr


def test_the_app_loads_without_torch():
    code = "import sys, mezzotint_app.main; assert not {'torch', 'diffusers', 'transformers', 'PIL'} & set(sys.modules)"
    done = _run(code)
    assert done.returncode == 0, done.stderr
