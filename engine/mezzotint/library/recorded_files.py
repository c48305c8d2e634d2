"""The files that an image's record names, found again: by name and hash, in folders that the user has given.

A record is untrusted: no other path in it is ever opened. Today's records have names alone, older ones whole paths.
"""

import re
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path

from mezzotint import paths
from mezzotint.catalog.catalog import Catalog
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.errors import MezzotintError
from mezzotint.images.published import is_absolute, last_part
from mezzotint.images.used_files import places_of
from mezzotint.library.gallery.named_images import images_called
from mezzotint.protocol import ControlRef, GenerateRequest, ImageInput, LoraRef, ModelRef, Stage
from mezzotint.values.details import DetailRef
from mezzotint.values.regions import RegionRef

_MODEL_SUFFIXES = (".safetensors", ".gguf", ".pth", ".pt", ".onnx")
_LEADS_AWAY = re.compile(r"[A-Za-z]:|~|\.{1,2}$")  # begins a part of a path that may lead out of a folder


@dataclass(slots=True, kw_only=True)
class RecordedFiles:
    """Where the files of one image's record may be; `missing` names those that were not found, and are left out."""

    folders: Sequence[Path]  # with images, such as that of the image itself
    catalog: Callable[[], Catalog] = Catalog.standard
    missing: list[str] = field(default_factory=list)
    _models: dict[str, Path] = field(default_factory=dict)
    _roots: tuple[Path, ...] = ()

    def located(self, request: GenerateRequest) -> GenerateRequest:
        """Return the request with the paths of this machine, without what is not there."""
        names = model_names(request)
        if names:
            catalog = self.catalog()
            self._models, self._roots = catalog.files_called(names), catalog.folders()
        images = tuple(found for image in request.images if (found := self._image_input(image)) is not None)
        has_init = any(image.role == "init" for image in images)
        return replace(
            request,
            images=images if has_init else tuple(image for image in images if image.role != "mask"),
            strength=request.strength if has_init else None,
            inpaint=request.inpaint if has_init else None,
            embeddings=self._each(request.embeddings, "embedding"),
            loras=self._loras(request.loras),
            controls=tuple(control for one in request.controls if (control := self._control(one)) is not None),
            regions=tuple(region for one in request.regions if (region := self._region(one)) is not None),
            details=tuple(map(self._detail, request.details)),
            init_upscaler=self._named(request.init_upscaler, "upscaler"),
            cascade=replace(
                request.cascade,
                stages=tuple(map(self._stage, request.cascade.stages)),
                transitions=tuple(
                    replace(one, upscaler=self._named(one.upscaler, "upscaler") or "")
                    for one in request.cascade.transitions
                ),
            ),
        )

    def _stage(self, stage: Stage) -> Stage:
        weights = None if stage.weights is None else self._model_file(stage.weights, "denoiser weights")
        loras = None if stage.loras is None else self._loras(stage.loras)
        return replace(
            stage, model=None if stage.model is None else self._model(stage.model), weights=weights, loras=loras
        )

    def _model(self, model: ModelRef) -> ModelRef | None:
        identity = self._named(model.id, "model")
        if identity is None:
            return None
        parts = self._each(model.text_encoders, "text encoder")
        vae = None if model.vae is None else self._model_file(model.vae, "VAE")
        return replace(model, id=identity, vae=vae, text_encoders=parts)

    def _loras(self, loras: tuple[LoraRef, ...]) -> tuple[LoraRef, ...]:
        found = ((lora, self._model_file(lora.path, "LoRA", lora.sha256)) for lora in loras)
        return tuple(replace(lora, path=path) for lora, path in found if path is not None)

    def _image_input(self, image: ImageInput) -> ImageInput | None:
        path = self._image(image.path, image.sha256, f"{image.role} image")
        return None if path is None else replace(image, path=path)

    def _control(self, control: ControlRef) -> ControlRef | None:
        image = self._image(control.image, control.image_sha256, "control image")
        mask = None if control.mask is None else self._image(control.mask, control.mask_sha256, "control mask")
        if image is None or (mask is None and control.mask is not None):
            return None
        encoder = (
            None
            if control.encoder is None
            else self._model_file(control.encoder, "image encoder", control.encoder_sha256)
        )
        model = self._named(control.model, "control network") or ""
        return replace(control, image=image, mask=mask, model=model, encoder=encoder)

    def _region(self, region: RegionRef) -> RegionRef | None:
        if region.mask is None:
            return region
        mask = self._image(region.mask, region.mask_sha256, "mask of a region")
        return None if mask is None else replace(region, mask=mask)

    def _detail(self, detail: DetailRef) -> DetailRef:
        return replace(detail, model=self._named(detail.model, "detector"))

    def _each(self, files: tuple[str, ...], what: str) -> tuple[str, ...]:
        return tuple(path for file in files if (path := self._model_file(file, what)) is not None)

    def _named(self, name: str | None, what: str) -> str | None:
        """The path of a file of a model, or its name, which is looked up where it is used, also as a path."""
        if name is None or not is_file_name(name):
            return None if name is None else self._used_before(name)
        last = last_part(name)
        found = self._place(last, None)
        if found is None and not _is_plain(last):
            self.missing.append(f"{what} {plain(name, 80)}, a path that is not followed")
            return None
        return last if found is None else str(found)

    def _used_before(self, name: str) -> str:
        """The place of a folder whose last part an image names, unless a model of the catalog is called so."""
        places = places_of(name)
        if places:
            try:
                self.catalog().where(ModelRef(id=name))
            except MezzotintError:
                return str(places[0])
        return name

    def _place(self, last: str, sha256: str | None) -> Path | None:
        """Where a file of a model was used last, or is in the folders of models; by its hash if it is known."""
        places = [*places_of(last), *([self._models[last]] if last in self._models else [])]
        return next((path for path in places if sha256 is None or _sha256(path) == sha256), None)

    def _model_file(self, name: str, what: str, sha256: str | None = None) -> str | None:
        if self._is_inside(name, self._roots):
            return name
        found = self._place(last_part(name), sha256)
        if found is None:
            self.missing.append(f"{what} {plain(last_part(name), 80)}, which no folder of models has")
        return None if found is None else str(found)

    def _image(self, name: str, sha256: str | None, what: str) -> str | None:
        """The path of an image; with a hash only if it is the same file."""
        last = last_part(name)
        nearby = [folder / last for folder in self.folders if _is_plain(last)]
        recorded = [Path(name)] if self._is_inside(name, tuple(self.folders)) else []
        for path in (*recorded, *nearby, *places_of(last), *images_called(last)):
            if is_file(path) and (sha256 is None or _sha256(path) == sha256):
                return str(path)
        self.missing.append(f"{what} {plain(last, 80)}, which is neither beside it nor in the gallery")
        return None

    @staticmethod
    def _is_inside(name: str, roots: tuple[Path, ...]) -> bool:
        """Whether a recorded path leads to something inside of these folders, also through links."""
        if not is_absolute(name) or name.replace("\\", "/").startswith("//"):
            return False
        path = Path(name).resolve()
        return path.exists() and any(path.is_relative_to(root.resolve()) for root in roots)


def is_file_name(name: str) -> bool:
    """Whether a model is given by a path, and not by the id of a catalog."""
    leads_away = any(_LEADS_AWAY.match(part) for part in re.split(r"[\\/]", name))
    return is_absolute(name) or leads_away or Path(name).suffix.lower() in _MODEL_SUFFIXES


def _is_plain(last: str) -> bool:
    """Whether the last part of a path is nothing but a name: not a share, a device or a parent folder."""
    return not re.search(r"[\\/]", last) and _LEADS_AWAY.match(last) is None


def model_names(request: GenerateRequest) -> Set[str]:
    """The last parts of the paths of all model files in a request."""
    stages = request.cascade.stages
    loras = (request.loras, *(stage.loras or () for stage in stages))
    exact = [lora.path for each in loras for lora in each] + list(request.embeddings)
    exact += [path for stage in stages if stage.model is not None for path in stage.model.parts]
    exact += [stage.weights for stage in stages if stage.weights is not None]
    exact += [control.encoder for control in request.controls if control.encoder is not None]
    named = [stage.model.id for stage in stages if stage.model is not None]
    named += [control.model for control in request.controls]
    named += [detail.model for detail in request.details if detail.model is not None]
    named += [one.upscaler for one in request.cascade.transitions] + [request.init_upscaler or ""]
    return {last_part(path) for path in (*exact, *(name for name in named if is_file_name(name)))}


def _sha256(path: Path) -> str | None:
    try:
        return fingerprint(path, paths.cache_folder() / "fingerprints.json").sha256
    except MezzotintError:
        return None
