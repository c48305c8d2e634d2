"""The styles on disk: one JSON file each in the settings folder, its picture beside it, and the bundled ones."""

import contextlib
import difflib
import hashlib
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

from mezzotint.atomic import atomic_write
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, is_folder
from mezzotint.checkpoints.strict_json import parse_json_list, read_json_object
from mezzotint.errors import MezzotintError, ModelRefused, UsageError
from mezzotint.images.template import slug
from mezzotint.library.decoding import decode_image, over_white
from mezzotint.library.styles.reading import checked, data_of, read_style
from mezzotint.library_protocol import Style, Styles
from mezzotint.parsed import Parsed
from mezzotint.paths import config_folder
from mezzotint.trouble import storage_error

MOST_STYLES = 5000
MOST_BYTES = 256 << 10  # of a file
_PICTURE_SIDE = 384  # pixels
_PICTURE = ".webp"


def list_styles() -> Styles:
    """All styles by name, the user's first; a file that cannot be read is a problem, and stays as it is.

    So is a key in a file that is not used.
    """
    own: list[Style] = []
    problems: list[str] = []
    for path in _files():
        try:
            own.append(_read(path).take(problems.append))
        except MezzotintError as error:
            problems.append(str(error))
    names = {one.name.casefold() for one in own}
    bundled = (one for one in bundled_styles() if one.name.casefold() not in names)
    ordered = sorted(own, key=lambda one: one.name.casefold())
    return Styles(styles=(*ordered, *bundled), problems=tuple(problems))


def bundled_styles() -> tuple[Style, ...]:
    """Those that come with Mezzotint."""
    file = Path(__file__).with_name("bundled.json")
    found = (_silently(read_style(one, file.name)) for one in parse_json_list(file.read_bytes(), file))
    return tuple(replace(style, own=False) for style in found)


def find_style(name: str) -> Style:
    """The style of a name, whatever its case; raises UsageError, naming what there is."""
    found = list_styles()
    names = {one.name.casefold(): one for one in found.styles}
    if name.casefold() in names:
        return names[name.casefold()]
    near = difflib.get_close_matches(name.casefold(), names, n=1)
    meant = f"did you mean {plain(names[near[0]].name)}?" if near else "`mezzotint styles list` shows all"
    unread = f" (not read: {found.problems[0]})" if found.problems else ""
    raise UsageError(f"there is no style {plain(name)}: {meant}{unread}")


def save_style(style: Style, *, replaces: bool = False) -> Style:
    """Write a style with a small copy of its picture. Raises UsageError if there is one of that name."""
    style = checked(style)
    path = _path_of(style.name)
    if path is not None and not replaces:
        raise _taken(style)
    return _write(style, path or _new_path(style.name), replaces=path is not None)


def add_style(style: Style) -> Style:
    """Write a style whose name is known to be free."""
    return _write(checked(style), _new_path(style.name), replaces=False)


def _write(style: Style, path: Path, *, replaces: bool) -> Style:
    picture = None if style.picture is None else _small(Path(style.picture))
    data = json.dumps(data_of(style), indent=1, ensure_ascii=False).encode()
    if len(data) > MOST_BYTES:
        raise UsageError(f"the style {plain(style.name)} has {len(data)} bytes; at most {MOST_BYTES} are kept")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error("create", path.parent, error) from None
    try:
        atomic_write(path, data, overwrite=replaces)
    except FileExistsError:
        raise _taken(style) from None
    _write_picture(path.with_suffix(_PICTURE), picture)
    return _silently(_read(path))


def _taken(style: Style) -> UsageError:
    return UsageError(f"there is already a style {plain(style.name)}: choose another name, or replace it")


def remove_style(name: str) -> None:
    """Delete one of the user's styles with its picture. Raises UsageError for any other."""
    path = _path_of(name)
    if path is None:
        raise UsageError(f"{plain(find_style(name).name)} is a bundled style, which cannot be removed")
    for file in (path.with_suffix(_PICTURE), path):
        try:
            file.unlink(missing_ok=True)
        except OSError as error:
            raise storage_error("delete", file, error) from None


def styles_folder() -> Path:
    """The folder of the user's styles."""
    return config_folder() / "styles"


def _files() -> Iterator[Path]:
    folder = styles_folder()
    if is_folder(folder):
        yield from sorted(islice(folder.glob("*.json"), MOST_STYLES))


def _path_of(name: str) -> Path | None:
    for path in _files():
        with contextlib.suppress(MezzotintError):
            if _silently(_read(path)).name.casefold() == name.casefold():
                return path
    return None


def _new_path(name: str) -> Path:
    """A file name that no other style can have."""
    digest = hashlib.sha256(name.casefold().encode()).hexdigest()[:8]
    return styles_folder() / f"{slug(name)}-{digest}.json"


def _silently(parsed: Parsed[Style]) -> Style:
    """The style, where `list_styles` says what is not used."""
    return parsed.take(lambda _: None)


def _read(path: Path) -> Parsed[Style]:
    try:
        style = read_style(read_json_object(path, MOST_BYTES), str(path))
    except ModelRefused as error:
        raise UsageError(str(error)) from None
    picture = path.with_suffix(_PICTURE)
    return style.map(lambda one: replace(one, picture=str(picture) if is_file(picture) else None))


def _small(path: Path) -> bytes:
    image, _ = decode_image(path, _PICTURE_SIDE)
    file = io.BytesIO()
    over_white(image).save(file, "WEBP", quality=85)
    return file.getvalue()


def _write_picture(path: Path, picture: bytes | None) -> None:
    if picture is not None:
        atomic_write(path, picture, overwrite=True)
        return
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise storage_error("delete", path, error) from None
