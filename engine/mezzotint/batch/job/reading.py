"""Strict parsing of job files: anything not understood is reported with its line, and nothing is guessed."""

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, get_args

from mezzotint import codec
from mezzotint.batch.job.grid import check_grid
from mezzotint.batch.job.job import (
    BATCH_SIZE_LIMIT,
    MAX_CELLS,
    SCHEMA_VERSION,
    Choices,
    Existing,
    ImageFormat,
    InputFolder,
    JobFile,
    JobOutput,
    MatrixValue,
    Prompts,
    Work,
)
from mezzotint.batch.job.text import line_in_json, line_in_toml
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import read_limited
from mezzotint.errors import ModelRefused, ProtocolError, StorageError, UsageError
from mezzotint.options import NOT_IN_MATRIX, SETTINGS, Options, read_settings
from mezzotint.protocol import GenerateRequest
from mezzotint.request_protocol import MAX_PROMPT
from mezzotint.values.basic import MAX_PATH, is_text, shown
from mezzotint.values.toml_text import parse_toml

MOST_BYTES = 64 << 20
MOST_TOML_BYTES = 4 << 20  # it is read slowly; JSON, prompt files and tables may be larger
_TABLES = ("version", "title", "settings", "prompts", "input", "matrix", "output", "request")

Table = Mapping[str, object]
T = TypeVar("T")


def read_job(path: Path, most_bytes: int = MOST_BYTES) -> JobFile:
    """Read the job in a .toml or .json file. Raises UsageError with the line and field that are invalid."""
    limit = MOST_TOML_BYTES if path.suffix.lower() == ".toml" else MOST_BYTES
    try:
        data = read_limited(path, min(limit, most_bytes))
    except ModelRefused as error:
        raise StorageError(str(error)) from None
    return parse_job(data, path.name)


def parse_job(data: bytes, name: str) -> JobFile:
    """Parse a job from the bytes of a file called `name`."""
    is_json = name.lower().endswith(".json")
    if not is_json and not name.lower().endswith(".toml"):
        raise UsageError(f"{plain(name)} is not a job file: its name must end in .toml or .json")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UsageError(f"{plain(name)} is not valid UTF-8 (byte {error.start}): save it as UTF-8") from None
    return _Reader(name=name, text=text, is_json=is_json).job()


def job_of_data(data: Mapping[str, object], name: str = "the job") -> JobFile:
    """Parse a job from the JSON form of its file. Raises UsageError with the field that is invalid."""
    return _Reader(name=name, text="", is_json=True).job_of(dict(data))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reader:
    """Parses one file and reports its errors."""

    name: str
    text: str
    is_json: bool

    def job(self) -> JobFile:
        """Parse the whole file."""
        return self.job_of(self._parsed())

    def job_of(self, data: dict[str, Any]) -> JobFile:
        """Build the job from parsed data."""
        self._check_version(data)
        self._check_names(data, _TABLES, ())
        job = JobFile(
            title=self._get(data, "title", _short_text, "", ()),
            settings=self._settings(self._table(data, "settings")),
            prompts=self._prompts(self._table(data, "prompts")),
            input=self._input(self._table(data, "input")) if "input" in data else None,
            requests=self._requests(data.get("request", [])),
            matrix=self._matrix(self._table(data, "matrix")),
            output=self._output(self._table(data, "output")),
        )
        self._check_whole(job)
        return job

    # ---- the file

    def _parsed(self) -> dict[str, Any]:
        try:
            data = codec.parse_json(self.text) if self.is_json else parse_toml(self.text)
        except (ProtocolError, ValueError) as error:
            what = "JSON" if self.is_json else "TOML"
            raise UsageError(f"{plain(self.name)} is not valid {what}: {plain(error, 200)}") from None
        except RecursionError:
            raise UsageError(f"{plain(self.name)} is nested too deeply") from None
        if not isinstance(data, dict):
            raise UsageError(f"{plain(self.name)} does not contain an object with the sections of a job")
        return data

    def _problem(self, key_path: tuple[str, ...], message: str) -> UsageError:
        line = (line_in_json if self.is_json else line_in_toml)(self.text, key_path)
        where = f"{plain(self.name)}, line {line}" if line else plain(self.name)
        return UsageError(f"{where}: {'.'.join(map(plain, key_path))}: {message}")

    def _check_version(self, data: Table) -> None:
        version = data.get("version")
        if version is None:
            raise UsageError(f"{plain(self.name)} has no version: add the line version = {SCHEMA_VERSION}")
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            raise self._problem(("version",), f"{shown(version)} is not a version; expected {SCHEMA_VERSION}")
        if version > SCHEMA_VERSION:
            known = f"this one reads up to {SCHEMA_VERSION}"
            raise self._problem(("version",), f"{version} is from a newer Mezzotint, {known}: update Mezzotint")

    def _check_names(self, table: Table, known: tuple[str, ...], key_path: tuple[str, ...]) -> None:
        for name in table:
            if name not in known:
                raise self._problem((*key_path, name), _unknown(name, known))

    def _table(self, data: Table, name: str) -> Table:
        table = data.get(name, {})
        if not isinstance(table, dict):
            raise self._problem((name,), f"{shown(table)} is not a table; expected [{name}] with its settings below")
        return table

    def _get(self, table: Table, name: str, read: Callable[[object], T], default: T, key_path: tuple[str, ...]) -> T:
        if name not in table:
            return default
        try:
            return read(table[name])
        except ValueError as error:
            raise self._problem((*key_path, name), str(error)) from None

    # ---- sections

    def _settings(self, table: Table) -> Options:
        def problem(name: str, message: str) -> UsageError:
            return self._problem(("settings", name), message or _unknown(name, tuple(SETTINGS)))

        return read_settings(table, problem)

    def _matrix(self, table: Table) -> tuple[tuple[str, tuple[MatrixValue, ...]], ...]:
        found, cells = [], 1
        for name, values in table.items():
            if name not in SETTINGS or name in NOT_IN_MATRIX:
                known = tuple(word for word in SETTINGS if word not in NOT_IN_MATRIX)
                raise self._problem(("matrix", name), _unknown(name, known))
            if not isinstance(values, list) or not values:
                raise self._problem(("matrix", name), f"{shown(values)} is invalid; expected a list, such as [20, 30]")
            for value in values:
                self._get({name: value}, name, SETTINGS[name].takes.read, None, ("matrix",))
            cells *= len(values)
            found.append((name, tuple(values)))
        if cells > MAX_CELLS:
            raise self._problem(("matrix",), f"{cells} combinations are too many; at most {MAX_CELLS} are taken")
        return tuple(found)

    def _prompts(self, table: Table) -> Prompts:
        self._check_names(table, ("list", "file", "table", "template", "wildcards", "choices"), ("prompts",))
        here = ("prompts",)
        return Prompts(
            list=self._get(table, "list", _prompt_list, (), here),
            file=self._get(table, "file", _path, None, here),
            table=self._get(table, "table", _path, None, here),
            template=self._get(table, "template", _prompt, None, here),
            wildcards=self._get(table, "wildcards", _path, None, here),
            choices=self._get(table, "choices", _among(get_args(Choices)), "all", here),
        )

    def _input(self, table: Table) -> InputFolder:
        names = ("folder", "work", "recursive", "glob", "limit", "masks", "sidecars")
        self._check_names(table, names, ("input",))
        here = ("input",)
        if "folder" not in table:
            raise self._problem(here, "the folder with the images is missing: folder = 'images'")
        return InputFolder(
            folder=self._get(table, "folder", _path, "", here),
            work=self._get(table, "work", _among(get_args(Work)), "change", here),
            recursive=self._get(table, "recursive", _yes_no, False, here),
            glob=self._get(table, "glob", _globs, (), here),
            limit=self._get(table, "limit", _limit, None, here),
            masks=self._get(table, "masks", _path, None, here),
            sidecars=self._get(table, "sidecars", _yes_no, False, here),
        )

    def _output(self, table: Table) -> JobOutput:
        self._check_names(
            table, ("folder", "name", "format", "keep-tree", "existing", "batch-size", "grid"), ("output",)
        )
        here = ("output",)
        return JobOutput(
            folder=self._get(table, "folder", _path, "out", here),
            name=self._get(table, "name", _short_text, None, here),
            format=self._get(table, "format", _among(get_args(ImageFormat)), "png", here),
            keep_tree=self._get(table, "keep-tree", _yes_no, True, here),
            existing=self._get(table, "existing", _among(get_args(Existing)), "rename", here),
            batch_size=self._get(table, "batch-size", _batch_size, None, here),
            grid=self._get(table, "grid", _yes_no, False, here),
        )

    def _requests(self, data: object) -> tuple[GenerateRequest, ...]:
        if not isinstance(data, list):
            raise self._problem(("request",), f"{shown(data)} is invalid; expected [[request]] with its fields below")
        try:
            return tuple(codec.decode(GenerateRequest, one) for one in data)
        except ProtocolError as error:
            raise self._problem(("request",), plain(error, 200)) from None

    def _check_whole(self, job: JobFile) -> None:
        try:
            check_job(job)
        except UsageError as error:
            raise UsageError(f"{plain(self.name)}: {error}") from None


def check_job(job: JobFile) -> None:
    """Raise UsageError if sections of a job contradict each other; also used for jobs built from options."""
    words = job.prompts.list or job.prompts.file or job.prompts.table
    if job.requests and (words or job.input is not None):
        raise UsageError("[[request]] entries have their own prompts and images: remove [prompts] and [input]")
    if not (job.requests or words or job.input is not None):
        raise UsageError("there is nothing to generate: add prompts (a list, a file, a table) or an input folder")
    if job.prompts.template is not None and job.prompts.table is None:
        raise UsageError("a template needs a table: set it with table = 'prompts.csv'")
    if job.input is not None:
        _check_input(job)
    check_grid(job)
    if job.settings.seed is not None and any(name == "seed" for name, _ in job.matrix):
        raise UsageError("the seed is set in both [settings] and [matrix]: remove one")


def _has_words(job: JobFile) -> bool:
    """Whether images may have a prompt: from the job, a sidecar, or their metadata."""
    words = job.prompts.list or job.prompts.file or job.prompts.table
    return bool(words) or job.input is None or job.input.sidecars or job.input.work == "again"


def _check_input(job: JobFile) -> None:
    work, masks = ("", None) if job.input is None else (job.input.work, job.input.masks)
    if work == "edit" and masks is not None:
        raise UsageError("images to edit are reference images, which have no masks: remove masks")
    if (job.settings.init is not None and work != "edit") or (job.settings.mask is not None and masks is not None):
        raise UsageError("the images come from the input folder: remove init (or mask) from the settings")
    if not _has_words(job):
        raise UsageError("the images have no prompt: add one, or set sidecars = true for text files beside the images")
    if work == "again" and (masks is not None or job.settings.mask):
        raise UsageError("images to generate again have the masks that they were made with: remove masks")


# ---- values


def _unknown(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name.replace("_", "-"), known, n=1, cutoff=0.6)
    return f"unknown name; {f'did you mean {near[0]}?' if near else 'expected one of ' + ', '.join(known)}"


def _among(choices: tuple[Any, ...]) -> Callable[[object], Any]:
    def read(value: object) -> object:
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{shown(value)} is invalid; expected one of {', '.join(choices)}")
        return value

    return read


def _text(value: object, max_length: int) -> str:
    if not isinstance(value, str) or not is_text(value) or len(value) > max_length:
        raise ValueError(f"{shown(value)} is not a text of at most {max_length} characters")
    return value


def _prompt(value: object) -> str:
    return _text(value, MAX_PROMPT)


def _short_text(value: object) -> str:
    return _text(value, 1000)


def _path(value: object) -> str:
    text = _text(value, MAX_PATH)
    if not text or "\n" in text or "\t" in text:
        raise ValueError(f"{shown(value)} is not a path")
    return text


def _prompt_list(value: object) -> tuple[str, ...]:
    return tuple(map(_prompt, _listed(value)))


def _globs(value: object) -> tuple[str, ...]:
    return tuple(map(_path, _listed(value)))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _yes_no(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{shown(value)} is invalid; expected true or false")
    return value


def _batch_size(value: object) -> int | None:
    if value == "auto":
        return None
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= BATCH_SIZE_LIMIT:
        raise ValueError(f'{shown(value)} is invalid; expected a whole number from 1 to {BATCH_SIZE_LIMIT}, or "auto"')
    return value


def _limit(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{shown(value)} is invalid; expected a whole number, 1 or more")
    return value
