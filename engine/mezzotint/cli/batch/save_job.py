"""`--save-job`: write a command's options as a job file for `mezzotint run`, without generating anything."""

from pathlib import Path

from mezzotint.batch.job.job import ImageFormat, JobFile, JobOutput
from mezzotint.batch.job.moved import moved
from mezzotint.batch.job.reading import job_of_data
from mezzotint.batch.job.writing import data_of, job_of, write_job
from mezzotint.batch.tasks.outputs import check_name
from mezzotint.cli.context import Context
from mezzotint.errors import UsageError
from mezzotint.images.naming import split_output
from mezzotint.protocol import GenerateRequest
from mezzotint.trouble import shown

_FORMATS: dict[str, ImageFormat] = {".png": "png", ".jpg": "jpg", ".jpeg": "jpg", ".webp": "webp"}


def save_job(job: JobFile, path: Path, context: Context, base: Path | None = None) -> int:
    """Write a job, whose paths are relative to `base` (default: the current folder), to a file that must not exist."""
    job_of_data(data_of(job))  # validates: raises for invalid values
    check_name(job.output, columns_may_be=job.prompts.table is not None)
    target = path.absolute()
    write_job(moved(job, (base or Path.cwd()).absolute(), target.parent), target)
    context.terminal.result(str(path))
    context.terminal.message(f"nothing is generated yet; run the job with `mezzotint run {shown(path)}`")
    return 0


def save_request(request: GenerateRequest, path: Path, context: Context) -> int:
    """Write a job equivalent to a request. Raises UsageError if it asks for step previews."""
    if request.output.preview_folder is not None:
        raise UsageError("previews of steps are not part of a job: leave --preview-dir out")
    return save_job(job_of([request], output=output_of(request)), path, context)


def output_of(request: GenerateRequest) -> JobOutput:
    """Convert the output of a request to that of a job."""
    named = split_output(request.output)
    name = None if named.stem is None else "/".join((*named.folders, named.stem))
    if name is None and named.folders:
        name = "/".join((*named.folders, "[row]-[prompt]"))
    return JobOutput(
        folder=str(named.root),
        name=name,
        format=_FORMATS[named.suffix.lower()],
        existing="overwrite" if request.output.overwrite else "rename",
    )
