"""A menu opens beside its button, which is not pointed at afterwards."""

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QMenu, QPushButton

from mezzotint_app.widgets.button_menu import show_menu


def test_a_menu_opens_beside_its_button_which_the_pointer_has_left(qtbot):
    button = QPushButton("Menu")
    qtbot.addWidget(button)
    button.move(200, 200)
    button.show()
    menu = QMenu(button)
    menu.addAction("One")
    for above in (False, True):
        QCursor.setPos(button.mapToGlobal(QPoint(-90, 5)))
        button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
        show_menu(menu, button, above=above)
        assert (menu.y() < button.mapToGlobal(QPoint()).y()) == above
        menu.close()
        assert not button.underMouse()
    QCursor.setPos(button.mapToGlobal(QPoint(5, 5)))
    button.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)
    show_menu(menu, button)
    menu.close()
    assert button.underMouse()
