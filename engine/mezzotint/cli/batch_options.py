"""The words of `mezzotint batch`, and the job that they say: the same as in a job file."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from mezzotint.batch.job import Choices, Existing, InputFolder, JobFile, JobOutput, PictureFormat, Prompts
from mezzotint.batch.limits import MAX_SEED, MOST_TOGETHER
from mezzotint.cli.argument_types import integer, text
from mezzotint.cli.generate_options import add_how_options, add_look_options, options_of
from mezzotint.cli.inpaint_options import add_inpaint_options
from mezzotint.errors import UsageError

MOST_SEEDS = 10_000

EXAMPLES = """\
  mezzotint batch photos -o out --prompt "at night, snow" --strength 0.5
  mezzotint batch photos -o out --recursive --glob "*.png" --sidecars --existing skip
  mezzotint batch old -o new --again --hires 2
  mezzotint batch --prompts words.txt -o out --seeds 1,2,3
  mezzotint batch --table animals.csv --template "a {colour} {animal}" -o out --dry-run
  mezzotint batch photos -o out --prompt "at dusk" --devices 0,1 --watch
  mezzotint batch status out
  mezzotint batch report out --csv > out.csv
  mezzotint batch merge out

What was made before is not made again: run the same words once more to go on after a crash, a full disk or Ctrl-C.
A folder that is called status, report, merge or run is written ./status, and so on.
"""


def add_job_options(parser: argparse.ArgumentParser) -> None:
    """Everything that a job file says, as options."""
    parser.add_argument("input", metavar="IN", nargs="?", help="the folder with the pictures (default: words alone)")
    _add_words(parser.add_argument_group("words"))
    _add_input(parser.add_argument_group("pictures that go in"))
    _add_output(parser.add_argument_group("pictures that come out"))
    add_look_options(parser.add_argument_group("picture"), of_rows=True)
    add_inpaint_options(parser.add_argument_group("parts of the pictures"))
    add_how_options(parser)


def job_of(arguments: argparse.Namespace) -> JobFile:
    """The job; paths are as they were typed, from the current folder."""
    if arguments.seed is not None and arguments.seeds:
        raise UsageError("--seed and --seeds say the same thing in two ways: leave one out")
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
    """The job as a file says it: also how many pictures are made together."""
    return replace(job, output=replace(job.output, batch_size=size)) if isinstance(size, int) else job


def refuse_run_options(arguments: argparse.Namespace) -> None:
    """UsageError for what a job file cannot hold: it says what is made, and not by whom and when."""
    for name in ("dry_run", "retry_failed", "watch", "devices", "ray", "wait", "shard", "models_folder"):
        if getattr(arguments, name) not in (None, False, []):
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} says how a job is run, which its file does not hold: say it to `mezzotint run`")


def _input_of(arguments: argparse.Namespace) -> InputFolder | None:
    if arguments.input is None:
        for name in ("recursive", "glob", "limit", "masks", "sidecars", "again"):
            if getattr(arguments, name):
                raise UsageError(f"--{name} is about the pictures of a folder: name that folder, too")
        return None
    return InputFolder(
        folder=arguments.input,
        work="again" if arguments.again else "change",
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
        help="what to see, in words; {a|b} and __NAME__ are alternatives (may be repeated)",
    )
    group.add_argument("--prompts", dest="prompts_file", metavar="FILE", help="a prompt in each line")
    group.add_argument("--table", metavar="FILE", help="CSV, TSV or JSON lines: a row for each picture")
    group.add_argument(
        "--template", metavar="TEXT", type=text, help="a prompt with {column} for the table (default: column `prompt`)"
    )
    group.add_argument("--wildcards", metavar="DIR", help="the folder with NAME.txt for every __NAME__")
    group.add_argument(
        "--choices", choices=get_args(Choices), default="all", help="of alternatives: all of them, or one for each seed"
    )
    group.add_argument(
        "--seeds", metavar="N,N,...", type=seeds, default=(), help="every picture with each of these seeds"
    )


def _add_input(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--recursive", action="store_true", help="also in the folders below")
    group.add_argument(
        "--glob", metavar="PATTERN", action="append", default=[], help='only these, such as "*.png" (may be repeated)'
    )
    group.add_argument("--limit", metavar="N", type=integer(1, 10**9, 10), help="only the first ones")
    group.add_argument("--masks", metavar="DIR", help="a mask of the same stem for each picture")
    group.add_argument("--sidecars", action="store_true", help="NAME.txt beside NAME.png holds its prompt")
    group.add_argument("--again", action="store_true", help="make each anew from what it says about itself")


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("-o", "--output", dest="out", metavar="OUT", required=True, help="the folder they go to")
    group.add_argument("--name", metavar="TEMPLATE", help="such as [stem]-[seed] (default: as the input, or its row)")
    group.add_argument("--format", choices=get_args(PictureFormat), default="png", help="default: png")
    group.add_argument("--flat", action="store_true", help="all into one folder (default: folders as in IN)")
    group.add_argument(
        "--existing",
        choices=get_args(Existing),
        default="rename",
        help="what happens where a file of that name is there, also one that this batch made with other settings "
        "(default: rename, the new one gets -1)",
    )
    group.add_argument(
        "--save-job", metavar="FILE", type=Path, help="write all this as a job file, .toml or .json, and make nothing"
    )


def seeds(words: str) -> tuple[int, ...]:
    """Numbers with commas between; each once."""
    found = tuple(dict.fromkeys(integer(0, MAX_SEED, 7)(word.strip()) for word in words.split(",")))
    if len(found) > MOST_SEEDS:
        raise argparse.ArgumentTypeError(f"{len(found)} seeds are too many: at most {MOST_SEEDS}")
    return found


def batch_size(words: str) -> int | Literal["auto"]:
    """How many pictures are made together."""
    return "auto" if words == "auto" else integer(1, MOST_TOGETHER, 4)(words)


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """How a batch is run, whatever it makes."""
    group = parser.add_argument_group("run")
    group.add_argument("--dry-run", action="store_true", help="show what would be made, and make nothing")
    group.add_argument("--retry-failed", action="store_true", help="also what has failed or was set aside before")
    group.add_argument("--watch", action="store_true", help="wait for new pictures in the folder, until Ctrl-C")
    group.add_argument(
        "--devices", metavar="N,N", help="a process for each of these CUDA devices, such as 0,1 (or cpu)"
    )
    group.add_argument(
        "--ray",
        metavar="ADDRESS",
        nargs="?",
        const="",
        help="a worker for each GPU of the Ray cluster there, such as auto or 10.0.0.1:6379 (default: of one that is "
        "started on this machine); needs mezzotint[ray], and the same models on every node",
    )
    group.add_argument("--wait", action="store_true", help="wait while another program makes pictures on the device")
    group.add_argument(
        "--batch-size",
        metavar="N",
        type=batch_size,
        help="make so many pictures together, or auto (default: as the job says, else auto: 4 on a processor, 8 on a "
        "card, fewer where memory is short); 1: the same pixels however the work is divided",
    )
    group.add_argument(
        "--shard",
        metavar="I/N",
        help="make only this part of N, counted from 0 (default: as a job array of Slurm says, else all)",
    )
    group.add_argument(
        "--models-folder", metavar="DIR", type=Path, action="append", default=[], help="look for models here, too"
    )
    programs = group.add_mutually_exclusive_group()
    programs.add_argument(
        "--json", action="store_true", help="print one JSON object at the end; of a dry run, all rows"
    )
    programs.add_argument("--jsonl", action="store_true", help="print JSON lines as it goes")
    group.add_argument("--previews", action="store_true", help="of JSON lines: with small pictures of what is made")
    group.add_argument(
        "--stop-with-input",
        action="store_true",
        help="a line `stop` on standard input, or its end, is what Ctrl-C is",
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no talk, no progress; only results and errors")
