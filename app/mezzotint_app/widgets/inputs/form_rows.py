"""Form labels on one line with their controls."""

from PySide6.QtWidgets import QFormLayout

_LINE = 30  # pixels of a single-line control in the stylesheet
_HIGHEST = 40


def align_names(form: QFormLayout) -> None:
    """Centre each label vertically beside its control; Qt places it higher."""
    for row in range(form.rowCount()):
        name = form.itemAt(row, QFormLayout.ItemRole.LabelRole)
        field = form.itemAt(row, QFormLayout.ItemRole.FieldRole)
        label = None if name is None else name.widget()
        if label is not None and field is not None and field.sizeHint().height() <= _HIGHEST:
            label.setMinimumHeight(_LINE)
