"""The bar under the canvas while there are candidates: step, compare, accept, discard."""

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton

from mezzotint_app.resources import icon, icon_in
from mezzotint_app.viewmodel.canvas.canvas import CanvasModel
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import ElidedLabel


class CandidatesBar(QFrame):
    """Hidden without candidates."""

    def __init__(self, model: CanvasModel) -> None:
        super().__init__()
        self._model = candidates = model.candidates
        self.setProperty("role", "bar")
        previous = icon_button("left", self.tr("Previous candidate"), shortcut="PgUp")
        previous.clicked.connect(lambda: candidates.step(-1))
        following = icon_button("right", self.tr("Next candidate"), shortcut="PgDown")
        following.clicked.connect(lambda: candidates.step(1))
        self._words = ElidedLabel()
        self._before = icon_button("compare", self.tr("Show what was there before"), shortcut="X", checkable=True)
        self._before.clicked.connect(candidates.show_before)
        self.accept = QPushButton(icon_in("done", "accent_text"), self.tr("Accept"))
        self.accept.setProperty("role", "primary")
        self.accept.setToolTip(_with_keys(self.tr("Put it on a new layer"), "Shift+Return"))
        self.accept.clicked.connect(model.accept)
        self.discard = QPushButton(icon("trash"), self.tr("Discard"))
        self.discard.setToolTip(_with_keys(self.tr("Drop it; the file stays in the gallery"), "Del"))
        self.discard.clicked.connect(candidates.discard)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 6, 12, 6)
        row.setSpacing(6)
        for widget in (previous, following, self._before):
            row.addWidget(widget)
        row.addWidget(self._words, 1)
        row.addWidget(self.discard)
        row.addWidget(self.accept)
        candidates.changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        found = self._model.current()
        self.setVisible(found is not None)
        if found is not None:
            words = self.tr("Candidate {number} of {count}, seed {seed}")
            self._words.setText(
                words.format(number=self._model.index() + 1, count=len(self._model.all()), seed=found.seed)
            )
            self._before.setChecked(self._model.shown() is None)


def _with_keys(words: str, keys: str) -> str:
    return f"{words} ({QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)})"
