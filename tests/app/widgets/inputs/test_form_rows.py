"""Names stand in the middle of the control beside them."""

from PySide6.QtWidgets import QApplication, QComboBox, QFormLayout, QLabel, QPlainTextEdit, QWidget

from mezzotint_app import theme
from mezzotint_app.widgets.inputs.form_rows import align_names


def test_a_name_is_in_line_with_a_control_of_one_line(qapp, qtbot):
    theme.apply(qapp, "light")
    holder = QWidget()
    qtbot.addWidget(holder)
    form = QFormLayout(holder)
    box, text, name, above = QComboBox(), QPlainTextEdit(), QLabel("Memory"), QLabel("Prompt")
    box.addItem("Automatic")
    form.addRow(name, box)
    form.addRow(above, text)
    form.addRow(QLabel("Over both columns"))
    align_names(form)
    holder.resize(400, 300)
    holder.show()
    QApplication.processEvents()
    assert abs(name.geometry().center().y() - box.geometry().center().y()) <= 1
    assert above.geometry().top() <= text.geometry().top() + 8
