"""Methods of the library service for styles."""

from pathlib import Path

from mezzotint.library.params import PathParams
from mezzotint.library_protocol import SaveStyle, Style, StyleName, Styles, StylesImported
from mezzotint.options import OPTIONS, options_of, to_settings
from mezzotint.protocol import GenerateRequest, IsCancelled, OnEvent
from mezzotint.rpc.server import Method

# Of single images, and what a model or a machine decides: images record all of it.
_OF_IMAGES = ("negative", "init", "mask", "reference", "control", "strength", "outpaint")
_OF_MODELS = ("dtype", "attention", "quant", "quant-text", "prediction-type", "zero-terminal-snr")
_LEFT_OUT = (*_OF_IMAGES, *_OF_MODELS, "device")
_OFF = {"clip-skip": 0, "guidance-rescale": 0.0, "schedule": "default"}


def style_methods() -> dict[str, Method]:
    """Return the methods by name; all but `apply_style`, which is with the batches."""
    return {
        "styles": Method(params=None, run=_styles),
        "style_of": Method(params=GenerateRequest, run=lambda request, *_: style_of(request)),
        "save_style": Method(params=SaveStyle, run=_save),
        "remove_style": Method(params=StyleName, run=_remove),
        "import_styles": Method(params=PathParams, run=_import),
    }


def style_of(request: GenerateRequest) -> Style:
    """A style without a name, of everything that a request sets."""
    settings = to_settings(options_of(request))
    return Style(
        name="",
        prompt=request.prompt,
        negative=request.negative_prompt,
        settings={name: value for name, value in settings.items() if _says_something(name, value)},
    )


def _says_something(name: str, value: object) -> bool:
    return name not in _LEFT_OUT and OPTIONS[name].group != "memory" and _OFF.get(name) != value


def _styles(_params: None, _tell: OnEvent, _cancelled: IsCancelled) -> Styles:
    from mezzotint.library.styles.store import list_styles

    return list_styles()


def _save(asked: SaveStyle, _tell: OnEvent, _cancelled: IsCancelled) -> Style:
    from mezzotint.library.styles.store import save_style

    return save_style(asked.style, replaces=asked.replaces)


def _remove(asked: StyleName, _tell: OnEvent, _cancelled: IsCancelled) -> None:
    from mezzotint.library.styles.store import remove_style

    remove_style(asked.name)


def _import(asked: PathParams, _tell: OnEvent, _cancelled: IsCancelled) -> StylesImported:
    from mezzotint.library.styles.importing import import_styles

    return import_styles(Path(asked.path))
