"""The Batch page as it is filled in, and the job that it says."""

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QCoreApplication

translate = QCoreApplication.translate

Job = dict[str, Any]  # as a job file in JSON

Source = Literal["folder", "words", "requests"]
Work = Literal["change", "edit", "again"]
Choices = Literal["all", "one"]
ImageFormat = Literal["png", "jpg", "webp"]
Existing = Literal["rename", "skip", "overwrite"]

VERSION = 1  # of job files
STRENGTH = 0.6
MOST_LIMIT = 1_000_000_000
_MOST_VALUES = 1000  # of a setting that is tried with several


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixRow:
    """A setting that every image is made with several values of."""

    setting: str = ""
    values: str = ""  # with commas between


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchForm:
    """Every field has a default, so that a file of an older version is taken. Paths are whole ones."""

    source: Source = "folder"
    folder: str = ""
    work: Work = "change"  # edit: each is a reference image; again: from what each image says of itself
    recursive: bool = False
    glob: str = ""  # patterns with semicolons between
    limit: int = 0  # images, the first ones; 0: all
    masks: str = ""
    sidecars: bool = False
    prompts: str = ""  # one in each line
    prompts_file: str = ""
    table: str = ""
    template: str = ""
    wildcards: str = ""
    choices: Choices = "all"
    strength: float = STRENGTH
    settings: dict[str, object] = field(default_factory=dict)  # as a job says them
    matrix: tuple[MatrixRow, ...] = ()
    requests: tuple[object, ...] = ()  # whole ones of a job that was opened
    title: str = ""
    output: str = ""  # empty: a folder of this name below that of images
    name: str = ""
    format: ImageFormat = "png"
    keep_tree: bool = True
    existing: Existing = "rename"
    watch: bool = False  # wait for new images in the folder; this and what follows is about the run, not the job
    all_cards: bool = False  # a process for each card


def job_of(form: BatchForm, output: str) -> Job:
    """The job; `output` is where its images go."""
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


def run_words(form: BatchForm, cards: int) -> tuple[str, ...]:
    """How it is run, as words of the command."""
    watch = ("--watch",) if form.watch and form.source == "folder" else ()
    devices = ("--devices", ",".join(map(str, range(cards)))) if form.all_cards and cards > 1 else ()
    return (*watch, *devices)


def settings_in(form: BatchForm) -> Job:
    """The settings that hold for every image."""
    found: Job = dict(form.settings)
    if form.source == "folder" and form.work == "change":
        found["strength"] = form.strength
    return found


def lines_of(text: str) -> list[str]:
    """The prompts, without lines that hold nothing."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def patterns_of(text: str) -> list[str]:
    """The patterns of file names."""
    return [part.strip() for part in text.split(";") if part.strip()]


def values_of(row: MatrixRow) -> list[str | int | float | bool]:
    """What is written with commas between, as a job writes it."""
    return [_value(part.strip()) for part in row.values.split(",") if part.strip()][:_MOST_VALUES]


def problems_of(form: BatchForm) -> dict[str, str]:
    """What stands in the way, by field; empty: it can be looked at and begun."""
    found: dict[str, str] = {}
    if form.source == "folder" and not form.folder.strip():
        found["folder"] = translate("Batch", "Choose an image folder.")
    elif form.source == "words" and not _has_words(form):
        found["prompts"] = translate("Batch", "Enter prompts, one per line, or choose a prompt file.")
    elif form.source == "folder" and form.work != "again" and not (form.sidecars or _has_words(form)):
        found["prompts"] = (
            translate("Batch", "Enter an instruction: every image in the folder is edited by it.")
            if form.work == "edit"
            else translate("Batch", "Enter a prompt: it is used for image to image with every image in the folder.")
        )
    if form.template.strip() and not form.table.strip():
        found["template"] = translate("Batch", "The prompt template is filled in from a table: choose the table, too.")
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
    said: Job = {
        "list": lines_of(form.prompts),
        "file": _path(form.prompts_file),
        "table": _path(form.table),
        "template": form.template.strip() if form.table.strip() else "",
        "wildcards": _path(form.wildcards),
        "choices": form.choices if form.choices != "all" else "",
    }
    return {name: value for name, value in said.items() if value}


def _input(form: BatchForm) -> Job:
    said: Job = {
        "folder": _path(form.folder),
        "work": form.work if form.work != "change" else "",
        "recursive": form.recursive,
        "glob": patterns_of(form.glob),
        "limit": form.limit if form.limit > 0 else 0,
        "masks": _path(form.masks) if form.work == "change" else "",
        "sidecars": form.sidecars,
    }
    return {name: value for name, value in said.items() if value}


def _output(form: BatchForm, folder: str) -> Job:
    said: Job = {"folder": folder, "name": form.name.strip()}
    said |= {"format": form.format if form.format != "png" else ""}
    said |= {"existing": form.existing if form.existing != "rename" else ""}
    found = {name: value for name, value in said.items() if value}
    return found if form.keep_tree else found | {"keep-tree": False}


def whole(path: str, base: str) -> str:
    """A whole path; one that is whole already, or begins in the home folder, is that."""
    expanded = os.path.expanduser(path) if path.startswith("~") else path  # noqa: PTH111  somebody's home may be unknown
    return os.path.normpath(Path(base) / expanded)


def _path(text: str) -> str:
    """What was typed there, from the home folder on."""
    return whole(text.strip(), str(Path.home())) if text.strip() else ""


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
