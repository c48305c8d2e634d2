"""A notice above Generate: the seed is locked and nothing has changed, so the result would be the same."""

from PySide6.QtWidgets import QPushButton

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.widgets.notice_bar import NoticeBar


class RepeatNotice(NoticeBar):
    """Hidden unless Generate would repeat the last image."""

    def __init__(self, model: CreateModel) -> None:
        super().__init__("lock", "text")
        self._model = model
        self.random = self.add_button(QPushButton(icon("unlock"), self.tr("Random seed")))
        self.random.setToolTip(self.tr("Unlock the seed: each image gets another one"))
        self.random.clicked.connect(lambda: model.seed.fix(False))

    def show_model(self) -> None:
        """Show the notice if the result would be the same."""
        words = self.tr("Seed locked and nothing changed: this would generate the same image again.")
        message = words if self._model.would_repeat() else ""
        if message != self.text():
            self.show_text(message)
