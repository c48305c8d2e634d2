"""Names beside their controls, on one line with them."""

from PySide6.QtWidgets import QFormLayout

_HIGHEST = 40  # pixels of a control of one line


def align_names(form: QFormLayout) -> None:
    """Put each name in the middle of its control's height; Qt puts it nearer to the top."""
    for row in range(form.rowCount()):
        name = form.itemAt(row, QFormLayout.ItemRole.LabelRole)
        field = form.itemAt(row, QFormLayout.ItemRole.FieldRole)
        if name is None or field is None or name.widget() is None:
            continue
        height = field.sizeHint().height()
        if height <= _HIGHEST:
            name.widget().setMinimumHeight(height)
