"""The Batch page's form, and the job it describes."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication

from mezzotint_app.viewmodel.create.state import DEFAULT_STRENGTH

translate = QCoreApplication.translate

Job = dict[str, Any]  # a job file as JSON

Source = Literal["folder", "words", "requests"]
Work = Literal["change", "edit", "again"]
Choices = Literal["all", "one"]
ImageFormat = Literal["png", "jpg", "webp"]
Existing = Literal["rename", "skip", "overwrite"]

VERSION = 1  # of the job file format
MOST_LIMIT = 1_000_000_000
_MOST_VALUES = 1000  # per row of the matrix


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A setting with several values; each image is generated with every one of them."""

    setting: str = ""
    values: str = ""  # comma-separated


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchForm:
    """Every field has a default, so that files of older versions can be read. Paths are absolute."""

    source: Source = "folder"
    folder: str = ""
    work: Work = "change"  # change: img2img; edit: as reference image; again: from each image's metadata
    recursive: bool = False
    glob: str = ""  # patterns, separated by semicolons
    limit: int = 0  # maximum number of images; 0: all
    masks: str = ""
    sidecars: bool = False
    prompts: str = ""  # one per line
    prompts_file: str = ""
    table: str = ""
    template: str = ""
    wildcards: str = ""
    choices: Choices = "all"
    strength: float = DEFAULT_STRENGTH
    settings: dict[str, object] = field(default_factory=dict)  # as in a job file
    matrix: tuple[MatrixRow, ...] = ()
    requests: tuple[object, ...] = ()  # complete requests of an opened job
    title: str = ""
    output: str = ""  # empty: a folder with the batch's title in the output folder
    name: str = ""
    format: ImageFormat = "png"
    keep_tree: bool = True
    existing: Existing = "rename"
    grid: bool = False  # also one labelled image of all, by the matrix
    watch: bool = False  # wait for new images in the folder; from here on: run options, not part of the job
    all_cards: bool = False  # one process per GPU


def job_of(form: BatchForm, output: str) -> Job:
    """Return the form as a job; `output` is the output folder."""
    parts: Job = {
        "version": VERSION,
        "title": form.title,
        "settings": settings_in(form),
        "prompts": {} if form.source == "requests" else _prompts(form),
        "input": _input(form) if form.source == "folder" else {},
        "matrix": {row.setting: values_of(row) for row in form.matrix if row.setting and row.values.strip()},
        "output": _output(form, output),
        "request": list(form.requests) if form.source == "requests" else [],
    }
    return {name: value for name, value in parts.items() if value}


def run_arguments(form: BatchForm, cards: int) -> tuple[str, ...]:
    """Return the run options as command line arguments."""
    watch = ("--watch",) if form.watch and form.source == "folder" else ()
    devices = ("--devices", ",".join(map(str, range(cards)))) if form.all_cards and cards > 1 else ()
    return (*watch, *devices)


def settings_in(form: BatchForm) -> Job:
    """Return the settings shared by all images."""
    found: Job = dict(form.settings)
    if form.source == "folder" and form.work == "change":
        found["strength"] = form.strength
    return found


def lines_of(text: str) -> list[str]:
    """Return the non-empty lines of `text`, stripped."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def patterns_of(text: str) -> list[str]:
    """Return the file name patterns."""
    return [part.strip() for part in text.split(";") if part.strip()]


def values_of(row: MatrixRow) -> list[str | int | float | bool]:
    """Parse the comma-separated values into the types a job file uses."""
    return [_value(part.strip()) for part in row.values.split(",") if part.strip()][:_MOST_VALUES]


def problems_of(form: BatchForm) -> dict[str, str]:
    """Return the problems that prevent a start, by field; empty if there are none."""
    found: dict[str, str] = {}
    if form.source == "folder" and not form.folder.strip():
        found["folder"] = translate("Batch", "Choose an image folder.")
    elif form.source == "words" and not _has_words(form):
        found["prompts"] = translate("Batch", "Enter prompts, one per line, or choose a prompt file.")
    elif form.source == "folder" and form.work != "again" and not (form.sidecars or _has_words(form)):
        found["prompts"] = (
            translate("Batch", "Enter an instruction; it is applied to every image in the folder.")
            if form.work == "edit"
            else translate("Batch", "Enter a prompt: it is used for image to image with every image in the folder.")
        )
    if form.template.strip() and not form.table.strip():
        found["template"] = translate("Batch", "The prompt template needs a table: choose one.")
    settings = [row.setting for row in form.matrix if row.values.strip()]
    if len(set(settings)) < len(settings):
        found["matrix"] = translate("Batch", "A setting is listed twice: put all its values in one row.")
    elif "seed" in settings and "seed" in form.settings:
        found["matrix"] = translate(
            "Batch", "The seed is locked: set it to Random on the Create page and copy the settings again."
        )
    return found


def _has_words(form: BatchForm) -> bool:
    return bool(lines_of(form.prompts) or form.prompts_file.strip() or form.table.strip())


def _prompts(form: BatchForm) -> Job:
    values: Job = {
        "list": lines_of(form.prompts),
        "file": _path(form.prompts_file),
        "table": _path(form.table),
        "template": form.template.strip() if form.table.strip() else "",
        "wildcards": _path(form.wildcards),
        "choices": form.choices if form.choices != "all" else "",
    }
    return {name: value for name, value in values.items() if value}


def _input(form: BatchForm) -> Job:
    values: Job = {
        "folder": _path(form.folder),
        "work": form.work if form.work != "change" else "",
        "recursive": form.recursive,
        "glob": patterns_of(form.glob),
        "limit": form.limit if form.limit > 0 else 0,
        "masks": _path(form.masks) if form.work == "change" else "",
        "sidecars": form.sidecars,
    }
    return {name: value for name, value in values.items() if value}


def _output(form: BatchForm, folder: str) -> Job:
    values: Job = {"folder": folder, "name": form.name.strip()}
    values |= {"format": form.format if form.format != "png" else ""}
    values |= {"existing": form.existing if form.existing != "rename" else ""}
    values |= {"grid": form.grid and can_be_grid(form)}
    found = {name: value for name, value in values.items() if value}
    return found if form.keep_tree else found | {"keep-tree": False}


def can_be_grid(form: BatchForm) -> bool:
    """Whether the images are those of prompts and a matrix."""
    return form.source == "words" and not (form.prompts_file.strip() or form.table.strip())


def absolute_path(path: str, base: str) -> str:
    """Return an absolute path: relative paths are resolved against `base`, `~` is expanded."""
    expanded = os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111  the home may be unknown
    return os.path.normpath(Path(base) / expanded)


def _path(text: str) -> str:
    """Return the entered path as an absolute one, relative to the home folder; "" if empty."""
    return absolute_path(text.strip(), str(Path.home())) if text.strip() else ""


def _value(text: str) -> str | int | float | bool:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        if value == value and abs(value) != float("inf"):
            return value
    return text
