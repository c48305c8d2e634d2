"""The collapsible sections of the Create page, for less common settings."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.create.checks import follows_regions, honours_clip_skip, takes_controls
from mezzotint_app.viewmodel.create.controls import controls_in_use
from mezzotint_app.viewmodel.create.create import CreateModel
from mezzotint_app.viewmodel.create.regions import details_in_use, regions_in_use
from mezzotint_app.viewmodel.create.state import KEPT_FROM_IMAGES, loras_in_use, names_of_settings
from mezzotint_app.widgets.collapsible_section import CollapsibleSection
from mezzotint_app.widgets.icon_button import icon_button
from mezzotint_app.widgets.inputs.choice_box import Choice
from mezzotint_app.widgets.inputs.control_list import ControlList
from mezzotint_app.widgets.inputs.field import Field
from mezzotint_app.widgets.inputs.lora_list import LoraList
from mezzotint_app.widgets.inputs.path_list import PathList
from mezzotint_app.widgets.inputs.refiner_hires_box import RefinerHiresBox
from mezzotint_app.widgets.labels import plain_label
from mezzotint_app.windows.create.details import DetailList
from mezzotint_app.windows.create.image_input_panel import ImageInputPanel
from mezzotint_app.windows.create.memory import CreateMemory
from mezzotint_app.windows.create.references_panel import ReferencesPanel
from mezzotint_app.windows.create.regions import RegionList
from mezzotint_app.windows.create.sampling import CreateSampling
from mezzotint_app.windows.create.speed import CreateSpeed

_OF_FIELD = {
    "image": "image",
    "references": "references",
    "loras": "lora",
    "embeddings": "lora",
    "controls": "control",
    "regions": "regions",
    "details": "details",
    "refiner": "cascade",
    "refiner_at": "cascade",
    "refine_with": "cascade",
    "second_scale": "cascade",
    "second_upscaler": "cascade",
    "init_upscaler": "cascade",
    "steps": "sampling",
    "clip_skip": "sampling",
    "step_cache": "speed",
}


class CreateSections(QWidget):
    """The sections remember whether they are expanded."""

    message = Signal(str)

    def __init__(self, model: CreateModel) -> None:
        super().__init__()
        self._model = model
        self.image_input = ImageInputPanel(model.images)
        self.image_input.message.connect(self.message)
        self.references = ReferencesPanel(model.references)
        self.references.message.connect(self.message)
        self._references_field = Field(self.tr("Images"), self.references)
        self.sampling = CreateSampling(model)
        self.cascade = RefinerHiresBox()
        self.cascade.edited.connect(lambda name, value: model.chosen.change(**{name: value}))
        self.loras = LoraList()
        self.loras.edited.connect(lambda loras: model.chosen.change(loras=loras))
        self.embeddings = PathList(
            self.tr("Add embeddings…"), self.tr("Textual inversion files, used by their names in the prompt")
        )
        self.embeddings.edited.connect(lambda paths: model.chosen.change(embeddings=paths))
        self.controls = ControlList(model.control_previews)
        self.controls.edited.connect(lambda controls: model.chosen.change(controls=controls))
        self._controls_field = Field(self.tr("Control images"), self.controls)
        self.regions = RegionList()
        self.regions.edited.connect(lambda regions: model.chosen.change(regions=regions))
        self._regions_field = Field(self.tr("Regions"), self.regions)
        self.details = DetailList()
        self.details.edited.connect(lambda details: model.chosen.change(details=details))
        self._details_field = Field(self.tr("Find and make anew"), self.details)
        self.memory = CreateMemory(model)
        self.speed = CreateSpeed(model)
        self._adapters = self._build_adapters()
        self._sections = {
            "image": CollapsibleSection(
                self.tr("Init image"), self.tr("Image to image, inpaint and outpaint"), self.image_input
            ),
            "references": CollapsibleSection(
                self.tr("Reference images"), self.tr("Edit or combine images by an instruction"), self._references_field
            ),
            "sampling": CollapsibleSection(
                self.tr("Sampling"), self.tr("Steps, CFG scale, sampler and schedule"), self.sampling
            ),
            "cascade": CollapsibleSection(
                self.tr("Refiner and hires fix"), self.tr("More than one stage per image"), self.cascade
            ),
            "lora": CollapsibleSection(
                self.tr("LoRA"), self.tr("Small files that add a style or a subject"), self._adapters
            ),
            "control": CollapsibleSection(
                self.tr("Control"), self.tr("Images whose layout is followed, by a ControlNet"), self._controls_field
            ),
            "regions": CollapsibleSection(
                self.tr("Regional prompts"),
                self.tr("Parts of the image with prompts of their own"),
                self._regions_field,
            ),
            "details": CollapsibleSection(
                self.tr("Detail passes"),
                self.tr("Faces, people and others, inpainted at full size"),
                self._details_field,
            ),
            "memory": CollapsibleSection(self.tr("Memory"), self.tr("Weight precision and memory use"), self.memory),
            "speed": CollapsibleSection(
                self.tr("Speed"), self.tr("Less computing, at some loss of fidelity"), self.speed
            ),
        }
        self._kept = plain_label(role="muted", wrap=True)
        self._forget = icon_button("undo", self.tr("Reset to model default"))
        self._all_own = QPushButton(icon("undo"), self.tr("Reset to model defaults"))
        self._build()
        self.show_model()

    def fields(self) -> dict[str, Field]:
        """The fields by the names used in problems."""
        own = self._adapter_fields | {"references": self._references_field, "controls": self._controls_field}
        own |= {"regions": self._regions_field, "details": self._details_field}
        return self.sampling.fields() | self.cascade.fields() | self.memory.fields() | self.speed.fields() | own

    def sections(self) -> dict[str, CollapsibleSection]:
        """The sections by name."""
        return self._sections

    def reveal(self, field: str) -> None:
        """Expand the section that contains a field."""
        section = self._sections.get(_OF_FIELD.get(field, ""))
        if section is not None:
            section.set_open(True)

    def all_own_button(self) -> QPushButton:
        """The button that resets all settings."""
        return self._all_own

    def show_model(self) -> None:
        """Show the current settings."""
        model = self._model
        settings, info = model.chosen.settings(), model.chosen.info()
        self.sampling.show_model()
        self.memory.show_model()
        self.speed.show_model()
        refiners = [Choice(value=one.id, name=one.id) for one in model.models.refiners_for(info)]
        conditional = [Choice(value=one.id, name=one.id) for one in model.models.conditional_refiners_for(info)]
        self.controls.show_networks(model.models.controlnets())
        self.cascade.show_settings(settings, refiners, conditional, model.models.upscalers())
        self.cascade.show_init_upscaler(settings, model.models.upscalers(), has_init=bool(model.images.path()))
        self.loras.show_loras(settings.loras)
        self.controls.show_controls(settings.controls)
        self.regions.show_regions(settings.regions)
        self.details.show_details(settings.details)
        self._sections["regions"].setVisible(follows_regions(info) or bool(settings.regions))
        self.embeddings.show_paths(settings.embeddings)
        self._adapter_fields["embeddings"].setVisible(honours_clip_skip(info) or bool(settings.embeddings))
        takes = info is not None and info.references > 0
        self._sections["control"].setVisible(takes_controls(info) or bool(settings.controls))
        self._sections["references"].setVisible(takes or bool(model.references.items()))
        self._show_kept()
        self._all_own.setEnabled(model.chosen.is_set(*names_of_settings()))
        for name, summary in self._summaries().items():
            self._sections[name].set_summary(summary)

    def _build_adapters(self) -> QWidget:
        self._adapter_fields = {
            "loras": Field(self.tr("LoRA files"), self.loras),
            "embeddings": Field(self.tr("Embeddings (textual inversion)"), self.embeddings),
        }
        adapters = QWidget()
        layout = QVBoxLayout(adapters)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        for field in self._adapter_fields.values():
            layout.addWidget(field)
        return adapters

    def _build(self) -> None:
        kept = QHBoxLayout()
        kept.setSpacing(8)
        kept.addWidget(self._kept, 1)
        kept.addWidget(self._forget)
        self._forget.clicked.connect(lambda: self._model.chosen.reset(KEPT_FROM_IMAGES))
        self._all_own.setProperty("role", "quiet")
        self._all_own.setAccessibleName(self._all_own.text())
        self._all_own.setToolTip(self.tr("Reset all settings of this model; the prompt stays"))
        self._all_own.clicked.connect(self._model.chosen.reset_all)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        for name, section in self._sections.items():
            section.set_open(name in self._model.open_sections())
            section.toggled.connect(lambda on, name=name: self._model.remember_section(name, on))
            layout.addWidget(section)
        self._model.images.image_changed.connect(lambda: self._sections["image"].set_open(True))
        self._model.references.added.connect(lambda: self._sections["references"].set_open(True))
        layout.addLayout(kept)
        layout.addWidget(self._all_own, 0, Qt.AlignmentFlag.AlignLeft)

    def _show_kept(self) -> None:
        settings = self._model.chosen.settings()
        names = {
            "variation_seed": self.tr("variation seed {value}"),
            "variation_strength": self.tr("variation strength {value}"),
            "prediction_type": self.tr("prediction type {value}"),
            "zero_terminal_snr": self.tr("zero terminal SNR {value}"),
            "weights": self.tr("{value} weights"),
            "vae": self.tr("VAE {value}"),
            "text_encoders": self.tr("text encoders {value}"),
            "dtype": self.tr("{value} precision"),
            "vae_tile": self.tr("{value}-pixel tiles"),
            "strict": self.tr("strict"),
        }
        kept = [
            names[name].format(value=_shown(getattr(settings, name)))
            for name in KEPT_FROM_IMAGES
            if self._model.chosen.is_set(name)
        ]
        self._kept.setText(self.tr("From an image: {names}").format(names=", ".join(kept)) if kept else "")
        self._kept.setVisible(bool(kept))
        self._forget.setVisible(bool(kept))

    def _summaries(self) -> dict[str, str]:
        settings = self._model.chosen.settings()
        stages = [settings.refiner] if settings.refiner is not None else []
        if settings.second_pass:
            stages.append(self.tr("hires fix"))
        if settings.refine_with is not None:
            stages.append(settings.refine_with)
        used, references = len(loras_in_use(settings)), len(self._model.references.items())
        controls, regions = len(controls_in_use(settings.controls)), len(regions_in_use(settings.regions))
        details = len(details_in_use(settings.details))
        return {
            "image": self.tr("1 in use") if self._model.images.path() else "",
            "references": self.tr("{count} in use").format(count=references) if references else "",
            "sampling": self.sampling.summary(),
            "cascade": ", ".join(stages),
            "lora": self.tr("{count} in use").format(count=used) if used else "",
            "control": self.tr("{count} in use").format(count=controls) if controls else "",
            "regions": self.tr("{count} in use").format(count=regions) if regions else "",
            "details": self.tr("{count} in use").format(count=details) if details else "",
            "memory": self.memory.summary(),
            "speed": self.speed.summary(),
        }


def _shown(value: object) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)
