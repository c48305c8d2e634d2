"""Weight precision and memory settings on the Create page."""

from typing import get_args

from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from mezzotint.protocol import MemoryPolicy, Quantization
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.widgets.inputs.choice_box import Choice, ChoiceBox
from mezzotint_app.widgets.inputs.field import Field


class CreateMemory(QWidget):
    """Settings that trade quality or speed for memory."""

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._model = model
        self.memory = ChoiceBox(
            self.tr("Memory"), self.tr("How much quality and speed to trade for less memory; for all models")
        )
        self.quantization = ChoiceBox(
            self.tr("Weights"), self.tr("Quantized weights need less memory; images differ slightly")
        )
        self.text_quantization = ChoiceBox(self.tr("Text encoder weights"), self.tr("The same for the text encoders"))
        self.compile = QCheckBox(self.tr("Compile the model"))
        self.compile.setAccessibleName(self.tr("Compile the model"))
        self.compile.setToolTip(self.tr("The first image of a size takes minutes longer, the next ones less time"))
        self.fast = QCheckBox(self.tr("float16 accumulation"))
        self.fast.setToolTip(
            self.tr("Faster on NVIDIA GeForce cards, slightly less accurate; ignored on other devices")
        )
        self.cuda_graphs = ChoiceBox(
            self.tr("CUDA graphs"),
            self.tr("Launches each step as one CUDA graph, on NVIDIA cards that hold the whole model"),
        )
        self._fields = {
            "memory": Field(self.tr("Memory"), self.memory),
            "quantization": Field(self.tr("Weights"), self.quantization),
            "text_quantization": Field(self.tr("Text encoder weights"), self.text_quantization),
            "cuda_graphs": Field(self.tr("CUDA graphs"), self.cuda_graphs),
        }
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for field in self._fields.values():
            layout.addWidget(field)
        layout.addWidget(self.compile)
        layout.addWidget(self.fast)
        self._connect()
        self.show_model()

    def fields(self) -> dict[str, Field]:
        """The fields by the names of the settings."""
        return self._fields

    def show_model(self) -> None:
        """Show the current settings."""
        settings = self._model.chosen.settings()
        self.memory.show_choices(self._policies(), self._model.memory())
        self.quantization.show_choices(self._schemes(), settings.quantization)
        self.text_quantization.show_choices(self._schemes(), settings.text_quantization)
        self.cuda_graphs.show_choices(self._graphs(), settings.cuda_graphs)
        self.compile.setChecked(settings.compile)
        self.fast.setChecked(settings.fast)

    def summary(self) -> str:
        """A short summary of the settings."""
        parts = [self.memory.currentText()]
        if self._model.chosen.settings().quantization is not None:
            parts.append(self.quantization.currentText())
        return ", ".join(parts)

    def _connect(self) -> None:
        change = self._model.chosen.change
        self.memory.chosen.connect(self._model.set_memory)
        self.quantization.chosen.connect(lambda scheme: change(quantization=scheme))
        self.text_quantization.chosen.connect(lambda scheme: change(text_quantization=scheme))
        self.cuda_graphs.chosen.connect(lambda wanted: change(cuda_graphs=wanted))
        self.compile.clicked.connect(lambda on: change(compile=on))
        self.fast.clicked.connect(lambda on: change(fast=on))

    def _policies(self) -> list[Choice]:
        names = {
            "auto": self.tr("Automatic"),
            "fast": self.tr("Fast: shortest time"),
            "balanced": self.tr("Balanced"),
            "lowest": self.tr("Lowest: least memory"),
        }
        return [Choice(value=one, name=names[one]) for one in get_args(MemoryPolicy)]

    def _graphs(self) -> list[Choice]:
        names = ((None, self.tr("Automatic")), ("on", self.tr("On")), ("off", self.tr("Off")))
        return [Choice(value=value, name=name) for value, name in names]

    def _schemes(self) -> list[Choice]:
        names = {
            "none": self.tr("Original"),
            "int8": self.tr("8 bits"),
            "int8-weight": self.tr("8 bits, weights only"),
            "int4": self.tr("4 bits"),
            "int4-lowrank": self.tr("4 bits with low-rank correction"),
            "int4-rot": self.tr("4 bits, inputs too"),
            "int4-codebook": self.tr("4 bits, codebook"),
            "svdquant": self.tr("4 bits, inputs too, with low-rank correction"),
            "fp8": self.tr("8-bit floats"),
            "nvfp4": self.tr("4-bit floats"),
        }
        own = Choice(value=None, name=self.tr("Automatic: original where it fits"))
        return [own, *(Choice(value=one, name=names[one]) for one in get_args(Quantization) if one != "auto")]
