"""The arguments of `mezzotint batch`, and their conversion to a job like that of a job file."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from mezzotint.batch.job.job import (
    BATCH_SIZE_LIMIT,
    Choices,
    Existing,
    ImageFormat,
    InputFolder,
    JobFile,
    JobOutput,
    Prompts,
)
from mezzotint.cli.argument_types import integer, text
from mezzotint.cli.generate_options import add_row_options, options_of
from mezzotint.errors import UsageError
from mezzotint.request_protocol import MAX_SEED

MOST_SEEDS = 10_000

EXAMPLES = """\
  mezzotint batch photos -o out --prompt "at night, snow" --strength 0.5
  mezzotint batch photos -o out --recursive --glob "*.png" --sidecars --existing skip
  mezzotint batch photos -o out --edit --prompt "make it winter" -m FLUX.1-Kontext-dev
  mezzotint batch old -o new --regenerate --hires 2
  mezzotint batch --prompts words.txt -o out --seeds 1,2,3
  mezzotint batch --table animals.csv --template "a {colour} {animal}" -o out --dry-run
  mezzotint batch photos -o out --prompt "at dusk" --devices 0,1 --watch
  mezzotint batch status out
  mezzotint batch report out --csv > out.csv
  mezzotint batch merge out

Finished images are not made again: repeat the command to resume after a crash, a full disk or Ctrl-C.
Write a folder named status, report, merge or run as ./status, and so on.
"""


def add_job_options(parser: argparse.ArgumentParser) -> None:
    """Add options for everything that a job file can specify."""
    parser.add_argument(
        "input", metavar="IN", nargs="?", help="the folder of input images (default: none, prompts only)"
    )
    _add_words(parser.add_argument_group("prompts"))
    _add_input(parser.add_argument_group("input"))
    _add_output(parser.add_argument_group("output"))
    add_row_options(parser)


def job_of(arguments: argparse.Namespace) -> JobFile:
    """Build the job from the arguments; paths stay as typed, relative to the current folder."""
    if arguments.seed is not None and arguments.seeds:
        raise UsageError("--seed and --seeds are mutually exclusive: leave one out")
    options = options_of(arguments)
    return JobFile(
        settings=options,
        prompts=Prompts(
            list=tuple(arguments.prompts_said),
            file=arguments.prompts_file,
            table=arguments.table,
            template=arguments.template,
            wildcards=arguments.wildcards,
            choices=arguments.choices,
        ),
        input=_input_of(arguments),
        matrix=(("seed", arguments.seeds),) if arguments.seeds else (),
        output=JobOutput(
            folder=arguments.out,
            name=arguments.name,
            format=arguments.format,
            keep_tree=not arguments.flat,
            existing=arguments.existing,
        ),
    )


def with_batch_size(job: JobFile, size: int | Literal["auto"] | None) -> JobFile:
    """Return the job with an explicit batch size, as a job file stores it."""
    return replace(job, output=replace(job.output, batch_size=size)) if isinstance(size, int) else job


def refuse_run_options(arguments: argparse.Namespace) -> None:
    """Raise UsageError for options a job file cannot hold: it specifies the images, not how the job is run."""
    for name in ("dry_run", "retry_failed", "watch", "devices", "ray", "wait", "shard", "models_folder"):
        if getattr(arguments, name) not in (None, False, []):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(
                f"{option} is about running a job and is not saved in job files: give it to `mezzotint run`"
            )


def _input_of(arguments: argparse.Namespace) -> InputFolder | None:
    if arguments.input is None:
        for name in ("recursive", "glob", "limit", "masks", "sidecars", "edit", "again"):
            if getattr(arguments, name):
                name = "regenerate" if name == "again" else name
                raise UsageError(f"--{name} requires an input folder: name it")
        return None
    return InputFolder(
        folder=arguments.input,
        work="again" if arguments.again else "edit" if arguments.edit else "change",
        recursive=arguments.recursive,
        glob=tuple(arguments.glob),
        limit=arguments.limit,
        masks=arguments.masks,
        sidecars=arguments.sidecars,
    )


def _add_words(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--prompt",
        dest="prompts_said",
        metavar="TEXT",
        type=text,
        action="append",
        default=[],
        help="a prompt; {a|b} and __NAME__ are alternatives (may be repeated)",
    )
    group.add_argument("--prompts", dest="prompts_file", metavar="FILE", help="a prompt file: one prompt per line")
    group.add_argument("--table", metavar="FILE", help="CSV, TSV or JSON lines: one row per image")
    group.add_argument(
        "--template",
        metavar="TEXT",
        type=text,
        help="a prompt with {column} placeholders for the table (default: the column `prompt`)",
    )
    group.add_argument("--wildcards", metavar="DIR", help="the folder of NAME.txt files for __NAME__ wildcards")
    group.add_argument(
        "--choices",
        choices=get_args(Choices),
        default="all",
        help="alternatives: all combinations, or one chosen by the seed",
    )
    group.add_argument(
        "--seeds", metavar="N,N,...", type=seeds, default=(), help="make every image with each of these seeds"
    )


def _add_input(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--recursive", action="store_true", help="include subfolders")
    group.add_argument(
        "--glob",
        metavar="PATTERN",
        action="append",
        default=[],
        help='only matching files, such as "*.png" (may be repeated)',
    )
    group.add_argument("--limit", metavar="N", type=integer(1, 10**9, 10), help="only the first N files")
    group.add_argument("--masks", metavar="DIR", help="a folder with a mask of the same name for each image")
    group.add_argument("--sidecars", action="store_true", help="read prompts from NAME.txt beside NAME.png")
    work = group.add_mutually_exclusive_group()
    work.add_argument(
        "--edit",
        action="store_true",
        help="edit each image by the prompt, for models that take reference images, such as FLUX.1 Kontext",
    )
    work.add_argument("--regenerate", dest="again", action="store_true", help="regenerate each image from its metadata")
    work.add_argument("--again", action="store_true", help=argparse.SUPPRESS)  # its name in 0.1


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("-o", "--output", dest="out", metavar="OUT", required=True, help="the output folder")
    group.add_argument(
        "--name",
        metavar="TEMPLATE",
        help="file name template, such as [stem]-[seed] (default: the name of the input, or of its row)",
    )
    group.add_argument("--format", choices=get_args(ImageFormat), default="png", help="image format (default: png)")
    group.add_argument(
        "--flat", action="store_true", help="put all images into one folder (default: the same subfolders as IN)"
    )
    group.add_argument(
        "--existing",
        choices=get_args(Existing),
        default="rename",
        help="what to do when a file of that name exists, also one that this batch made with other settings "
        "(default: rename: the new file gets -1)",
    )
    group.add_argument(
        "--save-job", metavar="FILE", type=Path, help="only write these options as a job file, .toml or .json"
    )


def seeds(words: str) -> tuple[int, ...]:
    """Parse comma-separated seeds, dropping duplicates. Raises ArgumentTypeError above MOST_SEEDS."""
    found = tuple(dict.fromkeys(integer(0, MAX_SEED, 7)(word.strip()) for word in words.split(",")))
    if len(found) > MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"{len(found)} seeds are too many: at most {MOST_SEEDS}")
    return found


def batch_size(words: str) -> int | Literal["auto"]:
    """Parse a batch size: a number or `auto`."""
    return "auto" if words == "auto" else integer(1, BATCH_SIZE_LIMIT, 4)(words)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that control how a batch is run, independent of what it generates."""
    group = parser.add_argument_group("run")
    group.add_argument(
        "--dry-run", action="store_true", help="preview: list what would be generated, and generate nothing"
    )
    group.add_argument(
        "--retry-failed", action="store_true", help="also retry what failed or was skipped after crashes"
    )
    group.add_argument("--watch", action="store_true", help="keep waiting for new images in the folder, until Ctrl-C")
    group.add_argument(
        "--devices", metavar="N,N", help="one process for each of these CUDA devices, such as 0,1 (or cpu)"
    )
    group.add_argument(
        "--ray",
        metavar="ADDRESS",
        nargs="?",
        const="",
        help="one worker for each GPU of this Ray cluster, such as auto or 10.0.0.1:6379 (default: one started on this "
        "machine); needs mezzotint[ray], and the same models on every node",
    )
    group.add_argument("--wait", action="store_true", help="wait while another program uses the device")
    group.add_argument(
        "--batch-size",
        metavar="N",
        type=batch_size,
        help="denoise this many images together, or auto (default: as in the job, otherwise auto: 4 on a CPU, 8 on a "
        "GPU, fewer where memory is short); 1: the same pixels however the work is divided",
    )
    group.add_argument(
        "--shard",
        metavar="I/N",
        help="make only part I of N, counted from 0 (default: as in a Slurm job array, otherwise all)",
    )
    group.add_argument(
        "--models-folder",
        metavar="DIR",
        type=Path,
        action="append",
        default=[],
        help="also search this folder for models",
    )
    programs = group.add_mutually_exclusive_group()
    programs.add_argument(
        "--json", action="store_true", help="print one JSON object at the end; for a dry run, all rows"
    )
    programs.add_argument("--jsonl", action="store_true", help="print JSON lines as the run goes on")
    group.add_argument(
        "--jsonl-previews", dest="previews", action="store_true", help="with --jsonl: include preview images"
    )
    group.add_argument("--previews", action="store_true", help=argparse.SUPPRESS)  # its name in 0.1
    group.add_argument(
        "--stop-with-input",
        action="store_true",
        help="treat a line `stop` on standard input, or its end, like Ctrl-C",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
