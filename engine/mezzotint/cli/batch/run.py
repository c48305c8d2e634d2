"""`mezzotint run`: run a job file."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.cli.batch.options import add_run_options
from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import Context

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_EXAMPLES = """\
  mezzotint run job.toml --dry-run
  mezzotint run job.toml
  mezzotint run job.toml --devices 0,1 --retry-failed

Paths in the file are from the folder that it is in. Run again, it makes what is missing.

--jsonl prints {"kind": K, K: {...}} in each line, K being begun, notice, step, preview (with --jsonl-previews), settled
(a task that ended, once that is on the disk), progress (the figures, twice a second), ended, and error for what ended
the run before its end. mezzotint/batch_protocol.py says what each holds.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "run", "Make the images of a job file.", run, _EXAMPLES)
    parser.add_argument("job", metavar="JOB", type=Path, help="a .toml or .json file")
    parser.add_argument("-o", "--output", dest="out", metavar="OUT", help="another output folder than the file says")
    add_run_options(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Read the job file and generate the missing images."""
    from mezzotint.batch.job.reading import read_job
    from mezzotint.cli.batch.runner import run_job, with_base

    job = with_base(read_job(arguments.job), arguments.out)
    return run_job(job, arguments.job.absolute().parent, arguments, context)
