"""Expand a job into tasks: the same tasks, in the same order, under the same names, on every machine."""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from mezzotint.batch.job.absolute_paths import absolute
from mezzotint.batch.job.job import JobFile
from mezzotint.batch.job.reading import check_job
from mezzotint.batch.tasks.cells import Cell, RequestTemplate, RequestTemplates, cells_of
from mezzotint.batch.tasks.inputs import Listdir
from mezzotint.batch.tasks.material import HashedImages, Material, hash_images, input_folder, materials
from mezzotint.batch.tasks.outputs import RUN_FOLDER, NamedBy, Names, as_template, check_name, whole_path
from mezzotint.batch.tasks.prompts import Row, drawn_text, rows_of, texts_of
from mezzotint.batch.tasks.seen import Seen
from mezzotint.batch.tasks.skipped import Skipped as Skipped
from mezzotint.batch.tasks.skipped import kind_of_refused
from mezzotint.batch.tasks.wildcards import Wildcards
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import MezzotintError, UsageError
from mezzotint.images.naming import from_home, refuse_odd_characters
from mezzotint.protocol import GenerateRequest, Output
from mezzotint.request_protocol import MAX_SEED
from mezzotint.values.style_text import with_styles

MOST_ROWS_PER_IMAGE = 10_000
_SEEDS_DRAWN_BELOW = 2**32  # the range that other programs can read
_TWICE = "the same image is already in the job: for several images of one prompt, set count"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchTask:
    """One image to generate."""

    key: str  # sha256 of what the image is made from, independent of the machine and the output
    request: GenerateRequest  # complete: seed fixed, images with their sha256, the output under its planned name
    input: str | None  # its image, relative to the input folder, with / as separator
    output: str  # relative to the output folder, with / as separator
    settings_hash: str  # sha256 of the request without the seed, the input's content and the output
    input_hash: str | None  # sha256 of the input's content; of several images, of their hashes
    notices: tuple[str, ...] = ()  # what of its image's metadata is replaced
    is_twin: bool = False  # another task of the job has the name that it would have had


@dataclass(frozen=True, slots=True, kw_only=True)
class Shard:
    """One part of a job split into `count` parts; `index` counts from 0."""

    index: int
    count: int

    def has(self, digest: str) -> bool:
        """Whether a task belongs to it, by the sha256 of all but its input's content, which need not be read."""
        return int(digest, 16) % self.count == self.index


def tasks_of(
    job: JobFile, *, base: Path, shard: Shard | None = None, listdir: Listdir | None = None
) -> Iterator[BatchTask | Skipped]:
    """Yield every task of a job whose file is in `base`; what cannot be a task is yielded as Skipped.

    Raises UsageError at once for an invalid job, and StorageError during iteration if a folder or table is missing. All
    shards give the same names to the same tasks, and none reads the images of another.
    """
    check_job(job)
    check_name(job.output, columns_may_be=job.prompts.table is not None)
    return _Maker(job, base.absolute(), shard, listdir).tasks()


def output_folder(job: JobFile, base: Path) -> Path:
    """Return the output folder of a job. Raises UsageError if its name is unusable."""
    folder = absolute(job.output.folder, base.absolute())
    refuse_odd_characters(folder)
    return Path(folder)


class _Maker:
    """Builds the tasks of one job."""

    def __init__(self, job: JobFile, base: Path, shard: Shard | None, listdir: Listdir | None) -> None:
        self._job, self._base, self._shard, self._listdir = job, base, shard, listdir
        self._folder = output_folder(job, base)
        self._cells = cells_of(job.matrix)
        self._templates = RequestTemplates(job, base)
        self._names = Names(job.output, has_input=job.input is not None, matrix=[name for name, _ in job.matrix])
        wildcards = job.prompts.wildcards
        self._wildcards = Wildcards(None if wildcards is None else base / from_home(wildcards))
        self._columns = frozenset(re.findall(r"\[([^\[\]]+)\]", job.output.name or ""))
        self._seen = Seen()
        self._into_input = _way_into_input(job, base, self._folder)
        self._check_cells()

    def tasks(self) -> Iterator[BatchTask | Skipped]:
        """Yield all tasks, in order."""
        if self._job.input is None:
            for material in materials(self._job, self._base, self._folder):
                yield from self._of_rows(material, rows_of(self._job.prompts, self._base, self._columns))
            yield from self._unused_wildcards()
            return
        rows: list[Row] = []
        for row in rows_of(self._job.prompts, self._base, self._columns):
            if len(rows) >= MOST_ROWS_PER_IMAGE:
                raise UsageError(
                    f"there are more than {MOST_ROWS_PER_IMAGE} prompts for each image of the folder: use fewer"
                )
            if isinstance(row, Row):
                rows.append(row)
            elif self._has(_sha256(row.input)):
                yield row
        for material in materials(self._job, self._base, self._folder, self._listdir):
            yield from self._of_rows(material, iter(rows))
        yield from self._unused_wildcards()

    def _unused_wildcards(self) -> Iterator[Skipped]:
        folder = self._job.prompts.wildcards
        if folder is not None and not self._wildcards.used and self._has(_sha256(folder)):
            reason = "no prompt names a wildcard, so this folder of them is not used"
            yield Skipped(input=plain(folder, 200), reason=reason, kind="unused_wildcards")

    def _of_rows(self, material: Material | Skipped, rows: Iterator[Row | Skipped]) -> Iterator[BatchTask | Skipped]:
        if isinstance(material, Skipped):
            if self._has(_sha256(material.input)):
                yield material
            return
        images = _Images(material)
        for row in rows:
            if isinstance(row, Skipped):
                if self._has(_sha256(row.input)):
                    yield row
                continue
            yield from self._of_row(material, row, images)
            if material.caption is not None:
                return  # its own prompt is used once, whatever the rows

    def _of_row(self, material: Material, row: Row, images: "_Images") -> Iterator[BatchTask | Skipped]:
        where = material.input or row.where
        seed = _seed_of(material, row)
        try:
            texts = self._texts(material, row)
            for text in texts:
                for cell in self._cells:
                    for task in self._of_cell(material, row, cell, text, seed, images):
                        yield task if isinstance(task, BatchTask) else replace(task, input=task.input or where)
        except UsageError as error:
            if self._has(_sha256(where)):
                yield Skipped(input=where, reason=str(error), kind=error.kind)

    def _texts(self, material: Material, row: Row) -> tuple[str | None, ...]:
        if material.caption is not None:
            return (material.caption,)
        if row.text is not None:
            return texts_of(row, self._job.prompts, self._wildcards)
        if material.base_request is None:
            in_table = self._job.prompts.table is not None
            where = (
                "the column prompt, or set a template"
                if in_table
                else "a text file beside it, or set one for all images"
            )
            raise NoPrompt(f"it has no prompt: write one into {where}")
        return (None,)

    def _of_cell(
        self, material: Material, row: Row, cell: Cell, text: str | None, row_seed: int, images: "_Images"
    ) -> Iterator[BatchTask | Skipped]:
        template = self._template(material, row, cell, text)
        first = row_seed if template.seed is None else template.seed
        if first + template.count - 1 > MAX_SEED:
            raise UsageError(f"the seed {first} is too large for {template.count} images, whose seeds count up from it")
        for index in range(template.count):
            seed = first + index
            words = text
            if text is not None and material.caption is None:
                words = drawn_text(text, seed, row, self._job.prompts, self._wildcards)
            request = template.request if words is None else replace(template.request, prompt=words)
            request = replace(request, seed=seed)
            by = NamedBy(
                request=request,
                input=material.input,
                row=row.number,
                index=index,
                count=template.count,
                cell=cell.label,
                fields=row.fields,
            )
            request = replace(request, prompt=with_styles(request.prompt, template.style_texts))
            task = self._task(material, request, template, by, images)
            if task is not None:
                yield task

    def _template(self, material: Material, row: Row, cell: Cell, text: str | None) -> RequestTemplate:
        if material.base_request is not None:
            return self._templates.template_from_request(cell, row.settings, material.base_request, text)
        return self._templates.template(
            cell, row.settings, has_input=material.path is not None, has_mask=material.mask is not None
        )

    def _task(
        self, material: Material, request: GenerateRequest, template: RequestTemplate, by: NamedBy, images: "_Images"
    ) -> BatchTask | Skipped | None:
        settings = _sha256(f"{template.digest} {request.prompt}")
        digest = _sha256(json.dumps([material.input, settings, request.seed]))
        is_new, is_ours = self._seen.add(digest), self._has(digest)
        if not is_new:
            return Skipped(input="", reason=_TWICE, kind="twice") if is_ours else None
        name = self._names.name(by)  # also for other shards' tasks: all shards must assign the same names
        if not is_ours:
            return None
        try:
            output = self._output(name.path, request.output)
        except UsageError as error:
            return Skipped(input="", reason=str(error), kind=error.kind)
        hashed = images.hashed(request)
        if not isinstance(hashed, HashedImages):
            return hashed
        request = replace(request, images=hashed.images, controls=hashed.controls, regions=hashed.regions)
        return BatchTask(
            key=_sha256(f"{digest} {hashed.hash}"),
            request=replace(request, output=output),
            input=material.input,
            output=name.path,
            notices=material.notices,
            is_twin=name.is_twin,
            settings_hash=settings,
            input_hash=hashed.hash,
        )

    def _output(self, name: str, asked: Output) -> Output:
        if self._into_input is not None and name.casefold().startswith(self._into_input):
            raise UsageError("its image would be written to the input folder: choose another output folder")
        path = whole_path(self._folder, name)
        return replace(
            asked,
            path=as_template(path),
            overwrite=self._job.output.existing == "overwrite",
            required_folder=str(self._folder / RUN_FOLDER),
        )

    def _has(self, digest: str) -> bool:
        return self._shard is None or self._shard.has(digest)

    def _check_cells(self) -> None:
        """Report conflicting settings before searching for any file; skipped if a table may still change them."""
        if self._job.prompts.table is not None or self._job.requests:
            return
        for cell in self._cells:
            asked = self._job.input
            if asked is None or asked.work != "again":
                self._templates.template(
                    cell, {}, has_input=asked is not None, has_mask=asked is not None and asked.masks is not None
                )


class NoPrompt(UsageError):
    """An image without a prompt, in a job without one."""

    kind = "no_prompt"


class _Images:
    """The images of one material, opened and hashed once for all of its tasks."""

    def __init__(self, material: Material) -> None:
        self._material = material
        self._known: dict[object, HashedImages | None] = {}

    def hashed(self, request: GenerateRequest) -> HashedImages | Skipped | None:
        """Return the hashed images; None if they were already reported as unusable."""
        images, controls, regions = request.images, request.controls, request.regions
        masked = any(region.mask is not None for region in regions)
        if not images and not controls and not masked and not self._material.is_again:
            return HashedImages(images=(), hash=None, regions=regions)
        key = (tuple(image.path for image in images), controls, regions)
        if key in self._known:
            return self._known[key]
        if len(self._known) > 100:  # images named by rows; a folder contributes two at most
            self._known.clear()
        try:
            found = self._known[key] = hash_images(self._material, images, controls, regions)
        except MezzotintError as error:
            self._known[key] = None
            name = self._material.input or ""
            kind = kind_of_refused(name, error.kind) if name else error.kind
            return Skipped(input=name, reason=plain(error, 500), kind=kind)
        return found


def _seed_of(material: Material, row: Row) -> int:
    """Return the first seed of a row if none is set: the same whatever settings it is made with."""
    identity = [material.input, material.identity, row.identity()]
    return int(_sha256(json.dumps(identity))[:16], 16) % _SEEDS_DRAWN_BELOW


def _way_into_input(job: JobFile, base: Path, output: Path) -> str | None:
    """Return the prefix of output names that would land in the input folder, if that is inside the output folder."""
    if job.input is None:
        return None
    real, outer = (Path(os.path.realpath(folder)) for folder in (input_folder(job.input, base), output))
    return (
        None if real == outer or not real.is_relative_to(outer) else f"{real.relative_to(outer).as_posix().casefold()}/"
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
