"""Chooses and installs a build of the engine: the machine, the choice, the folder, and the progress."""

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QFormLayout, QProgressBar, QPushButton, QVBoxLayout, QWidget

from mezzotint_app.amounts import bytes_of, bytes_text
from mezzotint_app.resources import icon_in
from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.viewmodel.engine_setup.facts import Facts
from mezzotint_app.viewmodel.engine_setup.reasons import advice_text, why_text
from mezzotint_app.viewmodel.engine_setup.texts import build_text, cards_text, needs_text
from mezzotint_app.widgets.flow_layout import FlowLayout
from mezzotint_app.widgets.icon_button import text_button
from mezzotint_app.widgets.inputs.batch_path import BatchPath
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.form_rows import align_names
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.widgets.notice_bar import NoticeBar

_DRIVERS = QUrl("https://www.nvidia.com/drivers")


class EnginePanel(QWidget):
    """Shows an EngineSetup; the folder can only be chosen before the first engine is installed."""

    def __init__(self, model: EngineSetup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._focus_later = False
        self._make_parts()
        self._make_buttons()
        self._build()
        model.changed.connect(self._show)
        self._show()

    def focus_first(self) -> None:
        """Give the focus to what is to be done next, once that is known."""
        buttons = (self.start_button, self.pause_button, self.install_button)
        wanted = next((one for one in buttons if one.isVisibleTo(self) and one.isEnabled()), None)
        self._focus_later = wanted is None
        if wanted is not None:
            wanted.setFocus()

    # ---- setup

    def _make_parts(self) -> None:
        self.cards = plain_label(wrap=True, selectable=True)
        self.driver = plain_label(selectable=True)
        self.builds = ChoiceBox(self.tr("Engine"), self.tr("The build of PyTorch that makes images on this machine"))
        self.why = plain_label(role="muted", wrap=True)
        self.disk = plain_label(wrap=True)
        self.folder = BatchPath(
            self.tr("Folder"), self.tr("Where the engine is kept, also on another drive; models stay where they are"),
            "folder",
        )  # fmt: skip
        self.advice = NoticeBar("warning", "warning")
        self.trouble = NoticeBar("error", "danger")
        self.ready = NoticeBar("done", "good")
        self.bar = QProgressBar()
        self.bar.setTextVisible(False)
        self.bar.setMaximumHeight(8)
        self.bar.setAccessibleName(self.tr("Progress of the installation"))
        self.work = plain_label(wrap=True)
        self.builds.chosen.connect(self._model.choose)
        self.folder.edited.connect(self._model.set_root)

    def _make_buttons(self) -> None:
        model = self._model
        self.install_button = text_button("download", "", self.tr("Download and install it, then try it out"))
        self.install_button.setProperty("role", "primary")
        self.install_button.setIcon(icon_in("download", "accent_text"))
        self.pause_button = text_button(
            "pause", self.tr("Pause"), self.tr("It goes on later from here, also after Mezzotint was closed")
        )
        self.wheels_button = text_button(
            "folder", self.tr("From a folder of packages…"),
            self.tr("Install without a network, from wheels that another computer has downloaded"),
        )  # fmt: skip
        self.look_button = text_button("retry", self.tr("Look again"), self.tr("Look at this machine again"))
        self.retry_button = _button(self.tr("Try again"), self.tr("What was downloaded is kept"))
        self.driver_button = _button(self.tr("Open NVIDIA's page"), self.tr("Drivers, in the browser"))
        self.start_button = _button(
            self.tr("Start now"), self.tr("Close this window and open it with the new version; jobs wait in the queue")
        )
        self.start_button.setProperty("role", "primary")
        self.trouble.add_button(self.retry_button)
        self.advice.add_button(self.driver_button)
        self.ready.add_button(self.start_button)
        self.install_button.clicked.connect(model.install_or_resume)
        self.pause_button.clicked.connect(model.command.pause)
        self.wheels_button.clicked.connect(self.choose_wheels)
        self.look_button.clicked.connect(model.machine.ask)
        self.retry_button.clicked.connect(model.retry)
        self.driver_button.clicked.connect(lambda: QDesktopServices.openUrl(_DRIVERS))
        self.start_button.clicked.connect(model.restart)

    def _build(self) -> None:
        form = QFormLayout()
        form.setHorizontalSpacing(16)
        form.setVerticalSpacing(8)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.addRow(self.tr("Graphics card"), self.cards)
        form.addRow(self.tr("NVIDIA driver"), self.driver)
        form.addRow(self.tr("Engine"), self.builds)
        form.addRow("", self.why)
        form.addRow(self.tr("Folder"), self.folder)
        form.addRow(self.tr("Disk"), self.disk)
        self._form = form
        align_names(form)
        buttons = FlowLayout()
        for button in (self.install_button, self.pause_button, self.wheels_button, self.look_button):
            buttons.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self.ready)
        column.addWidget(self.advice)
        column.addLayout(form)
        column.addWidget(self.trouble)
        column.addWidget(self.work)
        column.addWidget(self.bar)
        column.addLayout(buttons)

    def choose_wheels(self) -> QFileDialog:
        """Choose the folder of packages, and install from it."""
        dialog = QFileDialog(self, self.tr("Folder of packages"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.fileSelected.connect(self._model.install)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    # ---- display

    def _show(self) -> None:
        model, facts = self._model, self._model.facts()
        focused = self.window().focusWidget()
        looking = self.tr("Looking…") if model.machine.is_asking() else self.tr("unknown")
        self.cards.setText(cards_text(facts) if facts is not None else looking)
        self.driver.setText((facts.driver if facts is not None else "") or "")
        self._form.setRowVisible(self.driver, bool(self.driver.text()))
        self._form.setRowVisible(self.folder, model.lacks_engine())
        self.folder.show_path(model.root())
        self.folder.setEnabled(not model.command.is_busy() and not model.ready_version())
        self._show_builds(facts)
        self._show_notices(facts)
        self._show_work()
        self._keep_focus(focused)

    def _show_builds(self, facts: Facts | None) -> None:
        model = self._model
        choices = [
            Choice(value=name, name=self.tr("{build}: {needs}").format(build=build_text(name), needs=needs_text(needs)))
            for name, needs in model.builds().items()
        ]
        self.builds.show_choices(choices, model.build())
        self.builds.setEnabled(model.can_install())
        self.why.setText(self._why(facts))
        self._form.setRowVisible(self.why, bool(self.why.text()))
        self.disk.setText(self._disk(facts))
        self.disk.setProperty("role", "" if model.has_room() else "error")
        self.disk.style().polish(self.disk)
        self._form.setRowVisible(self.disk, bool(self.disk.text()))

    def _why(self, facts: Facts | None) -> str:
        if facts is None:
            return ""
        return self.tr("Advised here: {build}. {why}").format(build=build_text(facts.backend), why=why_text(facts))

    def _disk(self, facts: Facts | None) -> str:
        needs = self._model.needs()
        if needs is None or facts is None:
            return ""
        free = self.tr("{bytes} are free").format(bytes=bytes_text(facts.free))
        if not self._model.has_room():
            return self.tr("{free}: not enough. Choose a folder on another disk, or free some space.").format(free=free)
        here = needs.download - needs.missing
        if self._model.is_begun() and here > 0:
            amount = bytes_of(here, needs.download)
            return self.tr("{free}; downloaded so far: {amount}").format(free=free, amount=amount)
        return free

    def _show_notices(self, facts: Facts | None) -> None:
        model = self._model
        self.advice.show_text(advice_text(facts) if facts is not None and not model.ready_version() else "")
        self.trouble.show_text(model.trouble_text())
        ready = self.tr("Version {version} is installed and works.").format(version=model.ready_version())
        self.ready.show_text("\n".join((ready, *model.command.notes)) if model.ready_version() else "")

    def _show_work(self) -> None:
        model, command = self._model, self._model.command
        percent = command.percent()
        self.bar.setRange(0, 0 if percent is None else 100)
        self.bar.setValue(percent or 0)
        self.bar.setVisible(command.is_busy())
        paused = model.is_begun() and model.trouble() is None
        self.work.setText(self.tr("The installation is paused.") if paused else command.text())
        self.work.setVisible(bool(self.work.text()))
        text = self.tr("Resume") if model.is_begun() else self.tr("Install")
        self.install_button.setText(text)
        self.install_button.setAccessibleName(text)
        for button in (self.install_button, self.wheels_button):
            button.setVisible(not command.is_busy() and not model.ready_version())
            button.setEnabled(model.can_install() and model.has_room())
        self.pause_button.setVisible(command.pauses())
        self.look_button.setVisible(self.install_button.isVisibleTo(self))

    def _keep_focus(self, before: QWidget | None) -> None:
        """Move the focus to what is to be done next, where the part that had it cannot have it any longer."""
        lost = (
            before is not None and self.isAncestorOf(before) and not (before.isVisibleTo(self) and before.isEnabled())
        )
        if lost or (self._focus_later and self._is_undecided()):
            self.focus_first()

    def _is_undecided(self) -> bool:
        """Whether the user has not moved the focus out of here."""
        now = self.window().focusWidget()
        return now is None or self.isAncestorOf(now)


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setAccessibleName(text)
    return button
