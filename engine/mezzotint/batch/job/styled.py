"""Options with the styles that they name: what a style sets applies where the options set nothing."""

from typing import Any

from mezzotint.batch.job.settings import request_of
from mezzotint.errors import UsageError
from mezzotint.library_protocol import Style
from mezzotint.options import Options, read_settings
from mezzotint.protocol import GenerateRequest
from mezzotint.values.style_text import with_styles

_ADDED = {"lora": "loras", "embedding": "embeddings"}  # a style's precede the others, and replace none


def styled_request(options: Options, base: GenerateRequest | None = None) -> GenerateRequest:
    """The request for these options and their styles, on top of an earlier image's if given."""
    if not options.style:
        return request_of(options, base)
    found, texts = styled(options, base)
    prompt = options.prompt if base is None or options.prompt is not None else base.prompt
    if prompt is None:
        return request_of(options)  # raises for the missing prompt
    return request_of(found.replace(prompt=with_styles(prompt, texts)), base)


def styled(options: Options, base: GenerateRequest | None = None) -> tuple[Options, tuple[str, ...]]:
    """The options with everything that their styles set but prompts, and the texts to put around a prompt.

    Raises UsageError for a style that does not exist.
    """
    if not options.style:
        return options, ()
    styles = tuple(map(_style, options.style))
    values: dict[str, Any] = {}
    for style in styles:
        values |= _added(_values(_options_of(style)), values)
    negative = options.negative if base is None or options.negative is not None else base.negative_prompt
    texts = tuple(style.negative for style in styles if style.negative)
    found = Options(**(values | _added(_values(options), values)))
    return (
        found.replace(negative=with_styles(negative or "", texts) if texts else options.negative),
        tuple(style.prompt for style in styles if style.prompt),
    )


def restyled(request: GenerateRequest, name: str) -> GenerateRequest:
    """The request with everything that a style sets but its texts."""
    values = _values(_options_of(_style(name)))
    present = {option: getattr(request, field) for option, field in _ADDED.items()}
    return request_of(Options(**_added(values, present)), request)


def _style(name: str) -> Style:
    from mezzotint.library.styles.store import find_style  # loads what reads pictures

    return find_style(name)


def _values(options: Options) -> dict[str, Any]:
    return {one.field: value for one, value in options.each()}


def _added(values: dict[str, Any], present: dict[str, Any]) -> dict[str, Any]:
    """The values to set, with what lists hold already."""
    lists = {name: _joined(present.get(name, ()), values[name]) for name in _ADDED if name in values}
    return values | lists


def _joined(first: tuple[Any, ...], then: tuple[Any, ...]) -> tuple[Any, ...]:
    """Both lists; a file in both counts as the second says."""
    again = {_path(one) for one in then}
    return (*(one for one in first if _path(one) not in again), *then)


def _path(one: Any) -> str:  # noqa: ANN401  a file, or one with a weight
    return one if isinstance(one, str) else str(one.path)


def _options_of(style: Style) -> Options:
    def problem(name: str, message: str) -> UsageError:
        return UsageError(f"style {style.name}: {name}: {message or 'there is no such option'}")

    return read_settings(style.settings, problem)
