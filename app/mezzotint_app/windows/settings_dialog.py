"""The settings of the application: folders, file names, appearance, memory, privacy. Changes are saved at once."""

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QFormLayout,
    QFrame,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from mezzotint.protocol import DeviceInfo
from mezzotint_app.language import LANGUAGES
from mezzotint_app.resources import icon
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.engine_setup.engine_setup import EngineSetup
from mezzotint_app.viewmodel.gallery.output_folders import OutputFolders
from mezzotint_app.widgets.inputs.batch_path import BatchPath
from mezzotint_app.widgets.inputs.decimal_box import DecimalBox
from mezzotint_app.widgets.inputs.form_rows import align_names
from mezzotint_app.widgets.inputs.spin_room import indent
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.windows.engine_setup.panel import EnginePanel
from mezzotint_app.windows.engine_setup.versions import EngineVersions
from mezzotint_app.windows.settings_images import ImageSettings

_GB = 1 << 30
_MOST_GB = 1024.0


class SettingsDialog(QDialog):
    """Tabs of controls that change a Stored[Settings]."""

    def __init__(
        self,
        settings: Stored[Settings],
        places: OutputFolders,
        devices: Sequence[DeviceInfo] = (),
        forget_prompts: Callable[[], None] = lambda: None,
        parent: QWidget | None = None,
        *,
        setup: EngineSetup | None = None,
    ) -> None:
        """`setup` adds the tab Engine, where the program was installed by its installer."""
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self._settings, self._devices, self._forget_prompts = settings, devices, forget_prompts
        self.images = ImageSettings(places)
        self.tabs = QTabWidget()
        self.tabs.setAccessibleName(self.tr("Settings"))
        self.tabs.addTab(_tab(self._with_previews(self.images)), self.tr("Images"))
        self.tabs.addTab(_tab(_filled(self._looks())), self.tr("Window"))
        self.tabs.addTab(_tab(_filled(self._machine())), self.tr("Machine"))
        self.tabs.addTab(_tab(_filled(self._privacy())), self.tr("Privacy"))
        self.tabs.addTab(_tab(_filled(self._prompts())), self.tr("Prompts"))
        self._engine = self._add_engine(setup) if setup is not None and setup.is_available() else -1
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 16)
        column.setSpacing(12)
        column.addWidget(self.tabs, 1)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.button(QDialogButtonBox.StandardButton.Close).setToolTip(self.tr("Changes are saved at once"))
        buttons.rejected.connect(self.reject)
        column.addWidget(buttons)
        self.resize(640, 480)

    def show_engine(self) -> None:
        """Open the tab Engine, if there is one."""
        self.tabs.setCurrentIndex(max(self._engine, 0))

    # ---- tabs

    def _add_engine(self, setup: EngineSetup) -> int:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(8, 16, 8, 8)
        column.setSpacing(16)
        column.addWidget(EngineVersions(setup))
        column.addWidget(plain_label(self.tr("Another engine"), role="heading"))
        column.addWidget(EnginePanel(setup))
        column.addStretch()
        return self.tabs.addTab(_tab(content), self.tr("Engine"))

    def _with_previews(self, images: ImageSettings) -> ImageSettings:
        images.add(
            self._check(
                "previews",
                self.tr("Show previews"),
                self.tr("A small preview at every step; costs little"),
            )
        )
        name = self.tr("Previews by")
        choices = (
            (self.tr("A small decoder, if one is found"), "auto"),
            (self.tr("Colours of the latents"), "linear"),
        )
        images.add(self._choice("preview_decoder", name, choices), name)
        kept = self.tr("Metadata in images")
        amounts = (
            (self.tr("All, to make them again"), "all"),
            (self.tr("What other programs read"), "a1111"),
            (self.tr("None of it"), "none"),
        )
        images.add(self._choice("metadata", kept, amounts), kept)
        return images

    def _prompts(self) -> QFormLayout:
        form = _form()
        tags, tip = self.tr("Tag file"), self.tr("CSV of A1111's tag completion; its tags are offered while you type")
        form.addRow(tags, self._path("tag_file", BatchPath(tags, tip, "file", patterns="*.csv")))
        folder, tip = self.tr("Wildcard folder"), self.tr("NAME.txt has a line for each text that __NAME__ can become")
        form.addRow(folder, self._path("wildcard_folder", BatchPath(folder, tip, "folder")))
        return form

    def _looks(self) -> QFormLayout:
        form = _form()
        languages = [(self.tr("System"), ""), *((name, code) for code, name in LANGUAGES.items())]
        form.addRow(self.tr("Language"), self._choice("language", self.tr("Language"), languages))
        form.addRow("", plain_label(self.tr("A change of language takes effect at the next start."), role="muted"))
        form.addRow(
            self.tr("Theme"),
            self._choice(
                "theme",
                self.tr("Theme"),
                ((self.tr("System"), "system"), (self.tr("Light"), "light"), (self.tr("Dark"), "dark")),
            ),
        )
        form.addRow(
            self.tr("When closed with jobs left"),
            self._choice(
                "when_closed",
                self.tr("When closed with jobs left"),
                (
                    (self.tr("Ask"), "ask"),
                    (self.tr("Continue in background"), "go_on"),
                    (self.tr("Quit and pause"), "stop"),
                ),
            ),
        )
        form.addRow(
            "",
            self._check(
                "notify",
                self.tr("Notify when the queue is done"),
                self.tr("A system notification, if the window is not in front"),
            ),
        )
        form.addRow(
            "",
            self._check(
                "keep_awake",
                self.tr("Keep the computer awake while generating"),
                self.tr("The screen may still turn off"),
            ),
        )
        return form

    def _machine(self) -> QFormLayout:
        form = _form()
        names = [(self.tr("Automatic"), "auto"), (self.tr("CPU"), "cpu")]
        names += [(device.name, device.id) for device in self._devices if device.id != "cpu"]
        form.addRow(self.tr("Generate on"), self._choice("device", self.tr("Generate on"), names))
        form.addRow(
            self.tr("Memory"),
            self._choice(
                "memory",
                self.tr("Memory"),
                (
                    (self.tr("Automatic"), "auto"),
                    (self.tr("Fast: quantize rather than stream"), "fast"),
                    (self.tr("Balanced"), "balanced"),
                    (self.tr("Lowest: as little memory as possible"), "lowest"),
                ),
            ),
        )
        form.addRow(self.tr("VRAM limit"), self._limit("vram_limit_bytes", self.tr("VRAM limit")))
        form.addRow(self.tr("RAM limit"), self._limit("ram_limit_bytes", self.tr("RAM limit")))
        form.addRow(
            self.tr("Attention"),
            self._choice(
                "attention",
                self.tr("Attention"),
                (
                    (self.tr("Automatic"), "auto"),
                    (self.tr("Mezzotint's own kernel"), "flash"),
                    (self.tr("Mezzotint's own kernel, 16-bit sums"), "flash-fp16"),
                    (self.tr("Mezzotint's own kernel, 8 bits"), "int8"),
                    (self.tr("Mezzotint's own kernel, 8 bits throughout"), "int8-all"),
                    (self.tr("Mezzotint's own kernel, 8 bits, values as floats"), "int8-fp8"),
                    (self.tr("torch"), "sdpa"),
                    (self.tr("Reference (slow)"), "reference"),
                ),
            ),
        )
        return form

    def _privacy(self) -> QFormLayout:
        form = _form()
        words = self.tr(
            "Nothing leaves this machine. Mezzotint goes online only when you press “Check”, “Search” or “Download” "
            "for a model, and sends nothing about you or your images."
        )
        form.addRow(plain_label(words, wrap=True))
        form.addRow(
            self._check(
                "remember_prompts",
                self.tr("Keep prompt history"),
                self.tr("For Alt+Up and Alt+Down in the prompt; stays on this machine"),
            )
        )
        forget = QPushButton(icon("trash"), self.tr("Clear prompt history"))
        forget.setToolTip(self.tr("Images keep the prompts in their metadata"))
        forget.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        forget.clicked.connect(lambda: self._forget_prompts())
        form.addRow(forget)
        form.addRow(
            self._check(
                "hub_search",
                self.tr("Allow searching for models online"),
                self.tr("A search field where models are downloaded; only what you type there is sent"),
            )
        )
        endpoint = QLineEdit(self._settings.value().hub_endpoint)
        endpoint.setPlaceholderText("https://huggingface.co")
        endpoint.setAccessibleName(self.tr("Model hub address"))
        endpoint.setToolTip(self.tr("A mirror of the Hugging Face hub; empty: HF_ENDPOINT, or the hub itself"))
        endpoint.editingFinished.connect(lambda: self._settings.change(hub_endpoint=endpoint.text().strip()))
        form.addRow(self.tr("Model hub"), endpoint)
        return form

    # ---- controls

    def _check(self, field: str, text: str, tip: str) -> QCheckBox:
        box = QCheckBox(text)
        box.setToolTip(tip)
        box.setChecked(getattr(self._settings.value(), field))
        box.toggled.connect(lambda on: self._settings.change(**{field: on}))
        box.setObjectName(field)
        return box

    def _path(self, field: str, line: BatchPath) -> BatchPath:
        line.show_path(getattr(self._settings.value(), field), self.tr("none"))
        line.edited.connect(lambda path: self._settings.change(**{field: path}))
        line.setObjectName(field)
        return line

    def _choice(self, field: str, name: str, choices: Sequence[tuple[str, Any]]) -> QComboBox:
        box = QComboBox()
        for text, value in choices:
            box.addItem(text, value)
        box.setCurrentIndex(max(0, box.findData(getattr(self._settings.value(), field))))
        box.setAccessibleName(name)
        box.setToolTip(name)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(20)
        box.currentIndexChanged.connect(lambda _: self._settings.change(**{field: box.currentData()}))
        box.setObjectName(field)
        return box

    def _limit(self, field: str, name: str) -> DecimalBox:
        box = DecimalBox()
        box.setRange(0, _MOST_GB)
        box.setSingleStep(0.5)
        box.setDecimals(1)
        box.setSuffix(" GB")
        box.setSpecialValueText(self.tr("No limit"))
        box.setValue((getattr(self._settings.value(), field) or 0) / _GB)
        box.setAccessibleName(name)
        box.setToolTip(self.tr("0: no limit"))
        box.valueChanged.connect(lambda value: self._settings.change(**{field: int(value * _GB) or None}))
        box.setObjectName(field)
        indent(box)
        return box


def _filled(form: QFormLayout) -> QWidget:
    align_names(form)
    content = QWidget()
    content.setLayout(form)
    return content


def _tab(content: QWidget) -> QScrollArea:
    content.setProperty("role", "form")
    scroll = QScrollArea()
    scroll.setWidgetResizable(True)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidget(content)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return scroll


def _form() -> QFormLayout:
    form = QFormLayout()
    form.setContentsMargins(8, 16, 8, 8)
    form.setHorizontalSpacing(16)
    form.setVerticalSpacing(12)
    form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    return form
