"""After images were moved to the trash the gallery offers to restore them."""

import pytest
from gallery_made import FakeTrash
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from mezzotint_app.viewmodel.gallery.trash import GalleryTrash
from mezzotint_app.windows.gallery.trash_notice import TrashNotice


@pytest.fixture
def trash(qapp, service, inline):
    return GalleryTrash(service, inline, trash=FakeTrash())


@pytest.fixture
def notice(qtbot, trash):
    made = TrashNotice(trash)
    qtbot.addWidget(made)
    return made


def test_it_tells_how_many_were_moved_and_undo_restores_them(qtbot, notice, trash):
    assert notice.isHidden()
    trash.move(["/a.png", "/b.png"])
    assert notice.text() == "Moved to trash: 2 images"
    with qtbot.waitSignal(trash.restored) as restored:
        qtbot.mouseClick(notice.undo, Qt.MouseButton.LeftButton)
    assert restored.args == [("/a.png", "/b.png")]
    assert notice.isHidden()


def test_only_the_open_page_tells(qtbot, trash):
    pages = [QWidget(), QWidget()]
    notices = [TrashNotice(trash) for _ in pages]
    for page, notice in zip(pages, notices, strict=True):
        notice.setParent(page)
        qtbot.addWidget(page)
    pages[0].show()
    trash.move(["/a.png"])
    assert [bool(notice.text()) for notice in notices] == [True, False]
