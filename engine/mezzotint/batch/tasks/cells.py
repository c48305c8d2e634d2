"""Request templates for tasks: one per combination of the matrix, built once and not for every task."""

import hashlib
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from mezzotint.batch.job.absolute_paths import with_absolute_paths
from mezzotint.batch.job.job import JobFile, MatrixValue
from mezzotint.batch.job.pruned import pruned
from mezzotint.batch.job.settings import request_of
from mezzotint.batch.job.styled import styled
from mezzotint.options import SETTINGS, Options
from mezzotint.protocol import GenerateRequest, ImageInput, Output

THE_INPUT, THE_MASK = "<input>", "<mask>"  # placeholders for each task's own images; no file has such a name


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One combination of matrix values."""

    label: str = ""  # for file names, such as "steps-20_sampler-euler"
    settings: Mapping[str, Any] = field(default_factory=dict)  # options by field name


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestTemplate:
    """A request template for many tasks: everything but their prompts, seeds, images and names."""

    request: GenerateRequest  # with absolute paths
    digest: str  # sha256 of everything in it that affects the image, with paths as written
    seed: int | None
    count: int
    style_texts: tuple[str, ...] = ()  # to be put around each prompt


def cells_of(matrix: tuple[tuple[str, tuple[MatrixValue, ...]], ...]) -> tuple[Cell, ...]:
    """Return every combination, the last setting varying fastest; without a matrix, one empty cell."""
    names = [name for name, _ in matrix]
    return tuple(_cell(names, values) for values in itertools.product(*(values for _, values in matrix)))


def _cell(names: list[str], values: tuple[MatrixValue, ...]) -> Cell:
    said = dict(zip(names, values, strict=True))
    return Cell(
        label="_".join(f"{name}-{_written(value)}" for name, value in said.items()),
        settings={SETTINGS[name].field: SETTINGS[name].takes.read(value) for name, value in said.items()},
    )


def _written(value: MatrixValue) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value).rpartition("/")[2]


class RequestTemplates:
    """Builds and caches the request templates of a job."""

    def __init__(self, job: JobFile, base: Path) -> None:
        self._job, self._base = job, base
        self._made: dict[tuple[str, bool, bool], RequestTemplate] = {}

    def template(self, cell: Cell, row: Mapping[str, Any], *, has_input: bool, has_mask: bool) -> RequestTemplate:
        """Return the template for a cell and the settings of a table row. Raises UsageError if settings conflict."""
        if row:
            return self._make(self._options(cell, row, has_input, has_mask), None)
        key = (cell.label, has_input, has_mask)
        if key not in self._made:
            self._made[key] = self._make(self._options(cell, row, has_input, has_mask), None)
        return self._made[key]

    def template_from_request(
        self, cell: Cell, row: Mapping[str, Any], request: GenerateRequest, prompt: str | None
    ) -> RequestTemplate:
        """Return the template for a task based on a complete request, of which the job overrides what it sets."""
        return self._make(self._options(cell, row, has_input=False, has_mask=False).replace(prompt=prompt), request)

    def _options(self, cell: Cell, row: Mapping[str, Any], has_input: bool, has_mask: bool) -> Options:
        options = self._job.settings.replace(**{**row, **cell.settings})
        edits = self._job.input is not None and self._job.input.work == "edit"
        return options.replace(
            prompt="",
            init=THE_INPUT if has_input and not edits else options.init,
            reference=(THE_INPUT, *options.reference) if has_input and edits else options.reference,
            mask=THE_MASK if has_mask else options.mask,
        )

    def _make(self, options: Options, base_request: GenerateRequest | None) -> RequestTemplate:
        options, style_texts = styled(options, base_request)
        asked = request_of(options, base_request)
        request = replace(asked, output=Output(metadata=asked.output.metadata))
        return RequestTemplate(
            request=_with_own_images(request, with_absolute_paths(request, self._base)),
            digest=digest_of(request),
            seed=request.seed,
            count=request.count,
            style_texts=style_texts,
        )


def _with_own_images(request: GenerateRequest, absolute: GenerateRequest) -> GenerateRequest:
    pairs = zip(request.images, absolute.images, strict=True)
    images = (asked if asked.path in (THE_INPUT, THE_MASK) else found for asked, found in pairs)
    return replace(absolute, images=tuple(images), count=1)


def digest_of(request: GenerateRequest) -> str:
    """Return the sha256 of what affects the image, apart from the seed; excludes device and memory settings."""
    plain = replace(
        request,
        images=tuple(_kind_of(image) for image in request.images),
        seed=None,
        count=1,
        device="auto",
        memory="auto",
        vram_limit_bytes=None,
        ram_limit_bytes=None,
        previews=False,
        compile=False,
        cuda_graphs="auto",
        strict=False,
        styles=(),
        output=Output(),
    )
    return hashlib.sha256(json.dumps(pruned(plain), sort_keys=True).encode()).hexdigest()


def _kind_of(image: ImageInput) -> ImageInput:
    return replace(image, path="", sha256=None) if image.path in (THE_INPUT, THE_MASK) else image
