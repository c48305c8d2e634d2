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

Paths in the file are relative to its folder. Running it again generates what is missing.

--jsonl prints {"kind": K, K: {...}} in each line, K being begun, notice, step, preview (with --jsonl-previews), settled
(a task that ended, once it is recorded on disk), progress (twice a second), ended, and error if the run failed. See
mezzotint/batch_protocol.py for the fields.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "run", "Generate the images of a job file.", run, _EXAMPLES)
    parser.add_argument("job", metavar="JOB", type=Path, help="a .toml or .json file")
    parser.add_argument(
        "-o", "--output", dest="out", metavar="OUT", help="output folder, instead of the one in the file"
    )
    add_run_options(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Read the job file and generate the missing images."""
    from mezzotint.batch.job.reading import read_job
    from mezzotint.cli.batch.runner import run_job, with_output_folder

    job = with_output_folder(read_job(arguments.job), arguments.out)
    return run_job(job, arguments.job.absolute().parent, arguments, context)
