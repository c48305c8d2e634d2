"""A spin box for decimal numbers."""

from typing import Any

from PySide6.QtWidgets import QDoubleSpinBox


class DecimalBox(QDoubleSpinBox):
    """Accepts a decimal point in every locale, as settings are copied from pages that use a point."""

    def validate(self, text: str, position: int) -> Any:  # noqa: ANN401  a tuple, which Qt's own stubs call an object
        """Validate the text with the locale's decimal separator."""
        return super().validate(self._with_own_sign(text), position)

    def valueFromText(self, text: str) -> float:  # noqa: N802
        """The number that the text represents."""
        return super().valueFromText(self._with_own_sign(text))

    def _with_own_sign(self, text: str) -> str:
        return text.replace(".", self.locale().decimalPoint())
