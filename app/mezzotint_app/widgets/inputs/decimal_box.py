"""A field for a number with decimals."""

from typing import Any

from PySide6.QtWidgets import QDoubleSpinBox


class DecimalBox(QDoubleSpinBox):
    """Takes 7.5 also where people write 7,5: settings are copied from pages that write a point."""

    def validate(self, text: str, position: int) -> Any:  # noqa: ANN401  a tuple, which Qt's own stubs call an object
        """Whether it is a number, and the text with the decimal sign of the language."""
        return super().validate(self._with_own_sign(text), position)

    def valueFromText(self, text: str) -> float:  # noqa: N802
        """The number that the text stands for."""
        return super().valueFromText(self._with_own_sign(text))

    def _with_own_sign(self, text: str) -> str:
        return text.replace(".", self.locale().decimalPoint())
