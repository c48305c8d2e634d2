"""The Create page: the form on the left, the image on the right."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QSplitter, QVBoxLayout, QWidget

from mezzotint_app.background import Executor
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.engine_state import EngineState
from mezzotint_app.viewmodel.thumbnails import Thumbnails
from mezzotint_app.widgets.collapsible_section import CollapsibleSection
from mezzotint_app.widgets.form_layout import beside, form_side, scrolled
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.windows.create.basics import CreateBasics
from mezzotint_app.windows.create.footer import CreateFooter
from mezzotint_app.windows.create.prompts import CreatePrompts
from mezzotint_app.windows.create.result import CreateResult
from mezzotint_app.windows.create.sections import CreateSections

FORM_WIDTH = 400
_NARROWEST = 320
_SETTLING = 200  # milliseconds in which the form may grow after the focus moved


class CreatePage(QWidget):
    """Shows a CreateModel and forwards input to it."""

    message = Signal(str)  # a message for the user
    open_full_screen = Signal(tuple, int)  # paths, and index of the one to show
    show_settings_of = Signal(str)
    save_wanted = Signal()  # save the current settings as a job file
    styles_wanted = Signal()
    grid_wanted = Signal()  # a grid of the current settings
    copied = Signal(str)  # a message about what was copied to the clipboard

    def __init__(
        self,
        model: CreateModel,
        thumbnails: Thumbnails,
        pool: Executor | None = None,
        parent: QWidget | None = None,
        *,
        engine: EngineState | None = None,
    ) -> None:
        super().__init__(parent)
        self._model = model
        self.prompts = CreatePrompts(model)
        self.basics = CreateBasics(model)
        self.sections = CreateSections(model)
        self.footer = CreateFooter(model)
        self.result = CreateResult(model, thumbnails, pool, engine)
        self._soon = self._timer(self.show_model)
        self._sight = self._timer(self._bring_into_sight)  # after the layout was updated
        self._settling = self._timer(lambda: None, _SETTLING)
        self._build()
        self._connect()
        self.show_model()

    def show_model(self) -> None:
        """Show all current settings; several changes in a row are shown at once."""
        self._soon.stop()
        for part in (self.prompts, self.basics, self.sections, self.footer):
            part.show_model()
        problems = self._model.problems()
        for name, field in self.fields().items():
            message = problems.get(name, "")
            field.set_problem("" if name == "prompt" and not self._model.prompts.prompt() else message)

    def fields(self) -> dict[str, Field]:
        """All fields by the names used in problems."""
        return self.prompts.fields() | self.basics.fields() | self.sections.fields()

    def generate(self, front: bool = False) -> None:
        """Add the images to the queue, or give the focus to the first field with a problem."""
        self.show_model()
        problems = self._model.problems()
        if self._model.generate(front):
            return
        name = next(iter(problems), "")
        self.sections.reveal(name)
        field = self.fields().get(name)
        if field is not None:
            field.focus_control()

    def copy_command(self) -> None:
        """Copy the command line that generates the same images to the clipboard."""

        def copy(text: str) -> None:
            QGuiApplication.clipboard().setText(text)
            self.copied.emit(self.tr("Command copied to the clipboard."))

        self._model.copy_command(copy)

    def focus_first(self) -> None:
        """Give the focus to the prompt."""
        self.prompts.prompt.setFocus()

    def splitter(self) -> QSplitter:
        """The splitter between form and image, whose state can be stored."""
        return self._splitter

    def _timer(self, then: Callable[[], None], interval: int = 0) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(interval)
        timer.timeout.connect(then)
        return timer

    def _build(self) -> None:
        form = self._form = QWidget()
        form.setProperty("role", "form")
        inside = QVBoxLayout(form)
        inside.setContentsMargins(16, 12, 16, 8)
        inside.setSpacing(12)
        for part in (self.prompts, self.basics, self.sections):
            inside.addWidget(part)
        inside.addStretch(1)
        self._scroll = scrolled(form)
        self._scroll.verticalScrollBar().rangeChanged.connect(lambda *_: self._grown())
        left = form_side(self._scroll, self.footer, narrowest=_NARROWEST)
        self._splitter = beside(self, left, self.result, width=FORM_WIDTH, name="create")

    def _connect(self) -> None:
        model = self._model
        model.changed.connect(self._soon.start)
        model.noticed.connect(self.message)
        model.faster.applied.connect(self.message)
        self.prompts.message.connect(self.message)
        self.sections.message.connect(self.message)
        for section in self.sections.sections().values():
            section.toggled.connect(lambda _open: self._look_again())
        self.prompts.generate_wanted.connect(self.generate)
        self.prompts.styles.asked.connect(self.styles_wanted)
        self.footer.generate_wanted.connect(self.generate)
        self.footer.copy_wanted.connect(self.copy_command)
        self.footer.save_wanted.connect(self.save_wanted)
        self.footer.grid_wanted.connect(self.grid_wanted)
        self.result.full_screen_wanted.connect(self.open_full_screen)
        self.result.settings_wanted.connect(self.show_settings_of)
        for keys, front in (("Ctrl+Return", False), ("Ctrl+Shift+Return", True), ("Ctrl+Enter", False)):
            shortcut = QShortcut(QKeySequence(keys), self, context=Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(lambda front=front: self.generate(front))
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._focus_moved)

    def _focus_moved(self, _before: QWidget | None, _now: QWidget | None) -> None:
        self._look_again()

    def _look_again(self) -> None:
        """Bring the focused widget into sight, again if the form grows shortly afterwards."""
        self._sight.start()
        self._settling.start()

    def _grown(self) -> None:
        if self._settling.isActive():
            self._sight.start()

    def _bring_into_sight(self) -> None:
        """Scroll the focused widget into view, and an open section whose heading it is as far as there is room."""
        now = QApplication.focusWidget()
        if now is not None and self._form.isAncestorOf(now):
            section = now.parentWidget()
            if isinstance(section, CollapsibleSection) and section.is_open():
                self._scroll.ensureWidgetVisible(section, 0, 8)
            self._scroll.ensureWidgetVisible(now, 0, 24)
