"""The footer of the Create page: memory plan, problems and Generate."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QHBoxLayout, QMenu, QPushButton, QSizePolicy, QToolButton, QVBoxLayout, QWidget

from mezzotint_app.amounts import with_whole_amounts
from mezzotint_app.resources import icon, icon_in
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.foreign_text import plain_tooltip
from mezzotint_app.widgets.button_menu import show_menu
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.widgets.memory_bar import MemoryBar
from mezzotint_app.windows.create.faster import FasterButton
from mezzotint_app.windows.create.repeat_notice import RepeatNotice


class CreateFooter(QFrame):
    """Always visible, below the scrolling form."""

    generate_wanted = Signal(bool)  # whether at the front of the queue
    copy_wanted = Signal()
    save_wanted = Signal()  # as a job file
    grid_wanted = Signal()

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._model = model
        self._bar = MemoryBar()
        self._line = plain_label(wrap=True, role="muted", selectable=True)
        self._refused = plain_label(wrap=True, role="warning", selectable=True)
        self._reasons = plain_label(wrap=True, role="muted", selectable=True)
        self._reasons.hide()
        self._why = icon_button("info", self.tr("Why this plan"), checkable=True)
        self._why.toggled.connect(self._show_plan)
        self.faster = FasterButton(model.faster)
        self._problem = plain_label(wrap=True, role="error")
        self._hint = plain_label(wrap=True, role="muted")  # an empty prompt is not yet an error
        self._generate = QPushButton(icon_in("play", "accent_text"), "")
        self._generate.setProperty("role", "primary")
        self._generate.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._generate.clicked.connect(lambda: self.generate_wanted.emit(False))
        self._more = self._build_more()
        self.repeats = RepeatNotice(model)
        row = self._row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(self._generate, 1)
        row.addWidget(self._more)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(16, 8, 16, 12)
        layout.setSpacing(6)
        plan = QHBoxLayout()
        plan.setSpacing(8)
        plan.addWidget(self._line, 1)
        plan.addWidget(self._refused, 1)
        plan.addWidget(self.faster, 0, Qt.AlignmentFlag.AlignTop)
        plan.addWidget(self._why, 0, Qt.AlignmentFlag.AlignTop)
        layout.addWidget(self._bar)
        layout.addLayout(plan)
        for widget in (self._reasons, self._problem, self._hint, self.repeats):
            layout.addWidget(widget)
        layout.addLayout(row)
        model.preflight.changed.connect(self._show_plan)
        self.show_model()
        self._show_plan()

    def show_model(self) -> None:
        """Show what Generate will do, or what prevents it."""
        problems = self._model.problems()
        message = next(iter(problems.values()), "")
        is_new = "prompt" in problems and not self._model.prompts.prompt()
        for label, is_shown in ((self._problem, not is_new), (self._hint, is_new)):
            label.setText(message)
            label.setVisible(is_shown and bool(message))
        self.repeats.show_model()
        count = self._model.image_count()
        words = self.tr("Generate") if count == 1 else self.tr("Generate {count} images").format(count=count)
        self._generate.setText(words)
        self._generate.setAccessibleName(words)
        self._generate.setAccessibleDescription(message)
        self._generate.setToolTip(
            plain_tooltip(self.tr("Add to the queue (Ctrl+Enter), or to its front (Ctrl+Shift+Enter)"))
        )

    def put_over_generate(self, widget: QWidget) -> None:
        """Insert a widget above the Generate button."""
        self._column.insertWidget(self._column.indexOf(self._row), widget)

    def generate_button(self) -> QPushButton:
        """The Generate button."""
        return self._generate

    def actions_of_more(self) -> list[QAction]:
        """The actions: generate next, grid, copy as command line, save as job file."""
        return self._ways.actions()

    def plan_text(self) -> str:
        """The text about memory and time."""
        label = self._line if self._refused.isHidden() else self._refused
        return label.text().replace("\u00a0", " ")

    def why_button(self) -> QToolButton:
        """The button that shows the reasons for the plan."""
        return self._why

    def reasons(self) -> str:
        """The reasons; empty if they are hidden."""
        return "" if self._reasons.isHidden() else self._reasons.text()

    def problem(self) -> str:
        """The problem that prevents generating."""
        return self._problem.text()

    def _show_plan(self) -> None:
        preflight = self._model.preflight
        bad = preflight.state() == "failed" or not preflight.fits()
        reasons = plain_tooltip("\n".join(preflight.reasons())) if preflight.reasons() else ""
        for label, is_shown in ((self._line, not bad), (self._refused, bad)):
            label.setText(with_whole_amounts(preflight.line()))
            label.setToolTip(reasons)
            label.setVisible(is_shown and bool(preflight.line()))
        self._bar.show_segments(preflight.segments())
        self._why.setVisible(bool(preflight.reasons()))
        self._reasons.setText("\n".join(preflight.reasons()))
        self._reasons.setVisible(self._why.isChecked() and bool(preflight.reasons()))

    def _build_more(self) -> QToolButton:
        more = icon_button("more", self.tr("More ways to generate"))
        menu = self._ways = QMenu(more)
        front = menu.addAction(icon("up"), self.tr("Generate next"))
        front.triggered.connect(lambda: self.generate_wanted.emit(True))
        grid = menu.addAction(icon("gallery"), self.tr("Grid…"))
        grid.triggered.connect(self.grid_wanted)
        copy = menu.addAction(icon("command"), self.tr("Copy as command line"))
        copy.triggered.connect(self.copy_wanted)
        save = menu.addAction(icon("save"), self.tr("Save job file…"))
        save.triggered.connect(self.save_wanted)
        more.clicked.connect(lambda: show_menu(menu, more, above=True))
        return more
