"""Names beside their controls, on one line with them."""

from PySide6.QtWidgets import QFormLayout

_LINE = 30  # pixels of a control of one line, as the stylesheet makes it
_HIGHEST = 40


def align_names(form: QFormLayout) -> None:
    """Put each name in the middle of its control's height; Qt puts it nearer to the top."""
    for row in range(form.rowCount()):
        name = form.itemAt(row, QFormLayout.ItemRole.LabelRole)
        field = form.itemAt(row, QFormLayout.ItemRole.FieldRole)
        label = None if name is None else name.widget()
        if label is not None and field is not None and field.sizeHint().height() <= _HIGHEST:
            label.setMinimumHeight(_LINE)
