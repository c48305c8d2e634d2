"""Make the paths of a request absolute: those of a job are relative to the folder of its file."""

import os
from dataclasses import replace
from pathlib import Path

from mezzotint.images.naming import from_home
from mezzotint.protocol import ControlRef, GenerateRequest, LoraRef, ModelRef, Stage

_MODEL_FILES = (".safetensors", ".gguf", ".ckpt")
_UPSCALER_FILES = (".safetensors", ".pth", ".pt")


def with_absolute_paths(request: GenerateRequest, base: Path) -> GenerateRequest:
    """Return the request with absolute paths, so that it can be run from any folder."""
    return replace(
        request,
        images=tuple(replace(image, path=absolute(image.path, base)) for image in request.images),
        embeddings=tuple(absolute(path, base) for path in request.embeddings),
        loras=_loras(request.loras, base),
        controls=tuple(absolute_control(control, base) for control in request.controls),
        init_upscaler=None if request.init_upscaler is None else absolute_upscaler(request.init_upscaler, base),
        regions=tuple(region.with_mask(lambda path: absolute(path, base)) for region in request.regions),
        details=tuple(detail.with_model(lambda name: absolute_folder(name, base)) for detail in request.details),
        cascade=replace(
            request.cascade,
            stages=tuple(_stage(stage, base) for stage in request.cascade.stages),
            transitions=tuple(
                replace(one, upscaler=absolute_upscaler(one.upscaler, base)) for one in request.cascade.transitions
            ),
        ),
    )


def absolute(path: str, base: Path) -> str:
    """Return an absolute path, relative to `base` unless it is already absolute or begins with ~."""
    return str(from_home(path)) if path.startswith("~") else os.path.abspath(base / path)  # noqa: PTH100


def _loras(loras: tuple[LoraRef, ...], base: Path) -> tuple[LoraRef, ...]:
    return tuple(replace(lora, path=absolute(lora.path, base)) for lora in loras)


def _stage(stage: Stage, base: Path) -> Stage:
    return replace(
        stage,
        model=None if stage.model is None else _model(stage.model, base),
        loras=None if stage.loras is None else _loras(stage.loras, base),
        weights=None if stage.weights is None else absolute(stage.weights, base),
    )


def _model(model: ModelRef, base: Path) -> ModelRef:
    model = model.with_parts(lambda path: absolute(path, base))
    return replace(model, id=absolute_model(model.id, base))


def absolute_model(name: str, base: Path) -> str:
    """Make a model path absolute; a catalog id stays, even if a folder has its name: the engine tries ids first."""
    return _absolute_file(name, base, _MODEL_FILES)


def absolute_upscaler(name: str, base: Path) -> str:
    """Make the path of an upscaler absolute; a name stays."""
    return _absolute_file(name, base, _UPSCALER_FILES)


def absolute_control(control: ControlRef, base: Path) -> ControlRef:
    """Make the paths of a control image absolute; the name of a control network stays."""

    def place_model(name: str) -> str:
        is_path = bool({"/", os.sep} & set(name)) or Path(name).suffix.lower() in _MODEL_FILES
        return absolute(name, base) if is_path or os.path.lexists(base / name) else name

    return control.with_paths(lambda path: absolute(path, base), place_model)


def absolute_folder(name: str, base: Path) -> str:
    """Make the path of a folder absolute; a name stays."""
    return absolute(name, base) if Path(name).name != name and os.path.lexists(base / from_home(name)) else name


def _absolute_file(name: str, base: Path, suffixes: tuple[str, ...]) -> str:
    looks_like_path = name.startswith(".") or Path(name).suffix.lower() in suffixes
    return absolute(name, base) if looks_like_path and os.path.lexists(base / name) else name
