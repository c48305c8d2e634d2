"""Numbers with decimals are taken with a point and with the decimal sign of the language."""

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtTest import QTest

from mezzotint_app.widgets.inputs.decimal_box import DecimalBox


@pytest.mark.parametrize(
    ("language", "typed", "value"),
    [("de", "7.5", 7.5), ("de", "7,5", 7.5), ("de", "0.25 GB", 0.25), ("en", "7.5", 7.5), ("en", "7", 7.0)],
)
def test_what_is_typed_is_taken(qtbot, language, typed, value):
    box = DecimalBox()
    qtbot.addWidget(box)
    box.setLocale(QLocale(language))
    box.setSuffix(" GB")
    box.lineEdit().selectAll()
    QTest.keyClicks(box.lineEdit(), typed)
    assert box.value() == value
    assert box.cleanText().replace(",", ".") == f"{value:g}"
