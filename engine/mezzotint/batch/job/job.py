"""Job files: one format for the window, `mezzotint run` and `mezzotint batch`. Holds the input as written."""

from dataclasses import dataclass, field
from typing import Literal

from mezzotint.options import Options
from mezzotint.protocol import GenerateRequest

SCHEMA_VERSION = 1
MAX_CELLS = 10_000  # combinations of a matrix
BATCH_SIZE_LIMIT = 64  # the largest batch size of the engine

Existing = Literal["skip", "rename", "overwrite"]
ImageFormat = Literal["png", "jpg", "webp"]
Choices = Literal["all", "one"]
Work = Literal["change", "edit", "again"]

MatrixValue = str | int | float | bool  # as written, such as "512x512"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """The sources of prompts: the list first, then the file, then the table."""

    list: tuple[str, ...] = ()
    file: str | None = None  # one prompt per line
    table: str | None = None  # CSV, TSV or JSON lines; columns are template fields, or settings by name
    template: str | None = None  # a prompt with {column} placeholders; None: the column "prompt"
    wildcards: str | None = None  # the folder with NAME.txt for each __NAME__
    choices: Choices = "all"  # of {a|b} and __NAME__: every combination, or one per image, drawn by its seed


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFolder:
    """Input images: to start from, to edit, or to generate again."""

    folder: str
    work: Work = "change"  # edit: each is a reference image; again: from the metadata of each
    recursive: bool = False
    glob: tuple[str, ...] = ()  # matched against the name or, with a /, the path in the folder; empty: every image
    limit: int | None = None  # use only this many images
    masks: str | None = None  # the folder with a mask of the same stem for each image
    sidecars: bool = False  # NAME.txt beside NAME.png holds its prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class JobOutput:
    """Where the images of a job are written."""

    folder: str = "out"
    name: str | None = None  # a template with [tokens]; None: named after the input, or the row and its prompt
    format: ImageFormat = "png"
    keep_tree: bool = True  # mirror the subfolders of the input folder
    existing: Existing = "rename"  # what to do if a file of that name exists
    batch_size: int | None = None  # None: the default for the device
    grid: bool = False  # also one image of them all, labelled with the values of the matrix, and a page of it


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFile:
    """The contents of a job file. Paths are as written; relative ones are relative to the folder of the file."""

    schema_version: int = SCHEMA_VERSION
    title: str = ""
    settings: Options = field(default_factory=Options)  # command-line options; without a seed, each row gets its own
    prompts: Prompts = field(default_factory=Prompts)
    input: InputFolder | None = None
    requests: tuple[GenerateRequest, ...] = ()  # instead of prompts and input: complete requests, verbatim
    matrix: tuple[tuple[str, tuple[MatrixValue, ...]], ...] = ()  # settings and their values; the last varies fastest
    output: JobOutput = field(default_factory=JobOutput)
