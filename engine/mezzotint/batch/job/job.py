"""A job file: one format for the window, `mezzotint run` and `mezzotint batch`. What was asked, nothing looked up."""

from dataclasses import dataclass, field
from typing import Literal

from mezzotint.options import Options
from mezzotint.protocol import GenerateRequest

SCHEMA_VERSION = 1
MAX_CELLS = 10_000  # combinations of a matrix
MOST_TOGETHER = 64  # images that the engine takes at once

Existing = Literal["skip", "rename", "overwrite"]
ImageFormat = Literal["png", "jpg", "webp"]
Choices = Literal["all", "one"]
Work = Literal["change", "edit", "again"]

MatrixValue = str | int | float | bool  # as it is written, such as "512x512"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Where words come from: the list first, then the file, then the table."""

    list: tuple[str, ...] = ()
    file: str | None = None  # a prompt in each line
    table: str | None = None  # CSV, TSV or JSON lines; columns are fields of the template, or settings by their name
    template: str | None = None  # a prompt with {column} for the table; None: the column "prompt"
    wildcards: str | None = None  # the folder with NAME.txt for every __NAME__
    choices: Choices = "all"  # of {a|b} and __NAME__: every one, or for each image one that its seed draws


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFolder:
    """Images that are given: to start from, to edit, or to be made again."""

    folder: str
    work: Work = "change"  # edit: each is a reference image; again: from what each says about itself
    recursive: bool = False
    glob: tuple[str, ...] = ()  # of the name, or with / of the path in the folder; empty: every image
    limit: int | None = None  # images, the first ones
    masks: str | None = None  # a folder with a mask of the same stem for each image
    sidecars: bool = False  # NAME.txt beside NAME.png holds its prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutput:
    """Where the images of a job go."""

    folder: str = "out"
    name: str | None = None  # a template with [tokens]; None: after the input, or the row and its prompt
    format: ImageFormat = "png"
    keep_tree: bool = True  # folders below the output folder as below the input folder
    existing: Existing = "rename"  # what happens where a file of that name is there already
    batch_size: int | None = None  # images that are made together; None: as is usual for the device


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """All that a job says. Paths are as they were written: relative ones are to the folder that the file is in."""

    schema_version: int = SCHEMA_VERSION
    title: str = ""
    settings: Options = field(default_factory=Options)  # words of the command line; without a seed, each row has one
    prompts: Prompts = field(default_factory=Prompts)
    input: InputFolder | None = None
    requests: tuple[GenerateRequest, ...] = ()  # instead of prompts and input: whole requests, word for word
    matrix: tuple[tuple[str, tuple[MatrixValue, ...]], ...] = ()  # settings and their values; the last changes first
    output: JobOutput = field(default_factory=JobOutput)
