"""What F1 lists is what there is: every key of the window is listed, and every listed key arrives where it says."""

import pytest
from gallery_made import item
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QAction, QImage, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from mezzotint.library_protocol import GalleryPage
from mezzotint.protocol import GenerateRequest
from mezzotint_app.viewmodel.canvas.document import CanvasDocument
from mezzotint_app.viewmodel.canvas.tools import CanvasTools
from mezzotint_app.viewmodel.gallery.viewer import ViewerModel
from mezzotint_app.widgets.canvas.canvas_input import Canvas
from mezzotint_app.widgets.images.image_view import ImageView
from mezzotint_app.windows.gallery.viewer import Viewer
from mezzotint_app.windows.shortcuts_dialog import shortcuts

LISTED = {name: [key for keys, _ in rows for key in keys.split(", ")] for name, rows in shortcuts()}
SAME = {"Ctrl+Enter": "Ctrl+Return", "Ctrl+=": "Ctrl++", "Ctrl+Y": "Ctrl+Shift+Z"}  # other ways to the same
BY_THE_TEXT = ["Ctrl+Up", "Ctrl+Down", "Alt+Up", "Alt+Down", "Ctrl+Z", "Ctrl+Shift+Z"]  # of Create, in the prompt
ARROWS = [f"{held}{arrow}" for held in ("", "Ctrl+") for arrow in ("Left", "Right", "Up", "Down")]
BY_THE_CANVAS = [key for key in LISTED["Canvas"] if key in (*"BELRGMNIVFC[]{}+-01", "Space", "Return", "Esc", *ARROWS)]
BY_THE_LIST = {"Queue": ["Return"], "Gallery": ["Return"], "Models": ["Return"]}  # what a list calls `activated`
BY_THE_BOARDS = ["F2"]  # in their list, and tested there


def image():
    made = QImage(2000, 1500, QImage.Format.Format_RGB32)
    made.fill(0xFF446688)
    return made


def parts(key):
    combined = QKeySequence(key)[0]
    return combined.key(), combined.keyboardModifiers()


def press(widget, key):
    """Whether the widget did something with it."""
    code, modifiers = parts(key)
    event = QKeyEvent(QEvent.Type.KeyPress, code.value, modifiers, key if len(key) == 1 else "")
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def bound(root):
    """What is bound to which key below a widget."""
    found = {}
    for one in [*root.findChildren(QShortcut), *root.findChildren(QAction)]:
        sequences = [one.key()] if isinstance(one, QShortcut) else one.shortcuts()
        for sequence in sequences:
            key = sequence.toString(QKeySequence.SequenceFormat.PortableText)
            if key:
                found.setdefault(key, []).append(one)
    return found


@pytest.fixture
def pages(window, program, asked, qtbot):
    """Each page with something in it, its keys bound to spies alone."""
    program.access.change(lambda store: [store.add([GenerateRequest(prompt=prompt, seed=1)]) for prompt in "ab"])
    program.gallery.begin()
    window.show_page(2)
    qtbot.waitUntil(lambda: bool(asked.open("gallery.query")))
    asked.answer(GalleryPage(total=2, items=(item(0), item(1))), "gallery.query")
    qtbot.waitUntil(lambda: program.queue.model.rowCount() == 2 and program.gallery.model.rowCount() == 2)
    of = {"Create": window.create_page, "Queue": window.queue_page, "Gallery": window.gallery_page}
    of["Canvas"] = window.canvas_page
    keys = {name: bound(page) for name, page in of.items()}
    theirs = {id(one) for page in keys.values() for many in page.values() for one in many}
    everywhere = {key: [one for one in many if id(one) not in theirs] for key, many in bound(window).items()}
    return keys | {"All pages": {key: many for key, many in everywhere.items() if many}}


def test_every_key_of_the_window_is_listed(pages):
    for name, keys in pages.items():
        known = set(LISTED[name]) | set(LISTED["All pages"])
        assert {SAME.get(key, key) for key in keys} <= known, name


@pytest.mark.slow_after(1)
@pytest.mark.parametrize("name", ["All pages", "Create", "Queue", "Gallery", "Canvas"])
def test_every_listed_key_of_the_window_arrives(qtbot, window, pages, name):
    window.activateWindow()
    places = {"Create": window.create_page.prompts.prompt, "Queue": window.queue_page.list}
    place = (places | {"Canvas": window.canvas_page.canvas}).get(name, window.gallery_page.grid)
    window.show_page({"Create": 0, "Queue": 1, "Canvas": 6}.get(name, 2))
    others = BY_THE_LIST.get(name, []) + {"Create": BY_THE_TEXT, "Canvas": BY_THE_CANVAS, "Gallery": BY_THE_BOARDS}.get(
        name, []
    )
    for key in (key for key in LISTED[name] if key not in others):
        heard = []
        for one in pages[name][key]:
            signal = one.activated if isinstance(one, QShortcut) else one.triggered
            signal.disconnect()  # that it arrives is asked here; what it does has tests of its own
            signal.connect(lambda *_, heard=heard: heard.append(True))
            one.setEnabled(True)
        place.setFocus()
        qtbot.waitUntil(place.hasFocus)
        code, modifiers = parts(key)
        QTest.keyClick(place, code, modifiers)
        assert heard, (name, key)


def test_lists_are_opened_with_return(qtbot, window, pages):
    for number, place in ((1, window.queue_page.list), (2, window.gallery_page.grid)):
        window.show_page(number)
        place.setFocus()
        place.activated.disconnect()
        with qtbot.waitSignal(place.activated):
            QTest.keyClick(place, Qt.Key.Key_Return)
    assert LISTED["Models"] == ["Return"]  # tested with its page


def test_keys_of_the_prompt(window, qtbot):
    edit = window.create_page.prompts.prompt
    edit.setFocus()
    QTest.keyClicks(edit, "a red boat")
    heard = []
    edit.older_wanted.connect(lambda: heard.append("older"))
    edit.newer_wanted.connect(lambda: heard.append("newer"))
    edit.weights_unread.connect(lambda: heard.append("weight"))
    texts = [edit.text()]
    for key in BY_THE_TEXT:
        code, modifiers = parts(key)
        QTest.keyClick(edit, code, modifiers)
        texts.append(edit.text())
    assert {"older", "newer"} <= set(heard)
    assert "weight" in heard or len(set(texts)) > 1
    assert set(BY_THE_TEXT) <= set(LISTED["Create"])


def test_keys_of_the_canvas(qtbot):
    document = CanvasDocument()
    canvas = Canvas(document, CanvasTools(document))
    qtbot.addWidget(canvas)
    for key in BY_THE_CANVAS:
        if key == "Esc":
            canvas.tools.set_tool("lasso")
            canvas.tools.press(QPointF(1, 1))
        assert press(canvas, key), key
    assert not press(canvas, "F9")


@pytest.mark.parametrize("key", LISTED["Images"])
def test_keys_of_an_image(qtbot, key):
    view = ImageView()
    qtbot.addWidget(view)
    view.resize(300, 200)
    view.show_image(image())
    view.compare(image())
    view.show()
    view.actual_size()
    assert press(view, key)
    assert not press(view, "F9")


@pytest.mark.parametrize("key", LISTED["Full screen"])
def test_keys_of_the_full_screen(qtbot, service, inline, key):
    model = ViewerModel(service, inline, rating_of=lambda _path: 0)
    viewer = Viewer(model, pool=inline)
    qtbot.addWidget(viewer)
    model.open(["/a.png", "/b.png", "/c.png"], 1)
    assert press(viewer, key)
    assert not press(viewer, "F9")
