"""`mezzotint grid`: images by the values of one to three options, and all of them labelled in one image."""

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.job.grid import MAX_AXES, PROMPT_AXIS
from mezzotint.batch.job.job import JobFile, JobOutput, MatrixValue, Prompts
from mezzotint.batch.job.reading import job_of_data
from mezzotint.batch.job.writing import data_of
from mezzotint.cli.argument_types import text
from mezzotint.cli.batch.options import add_run_options, refuse_run_options, with_batch_size
from mezzotint.cli.command_options import add_command
from mezzotint.cli.context import Context
from mezzotint.cli.generate_options import add_row_options, options_of
from mezzotint.errors import UsageError
from mezzotint.options import NOT_IN_MATRIX, SETTINGS
from mezzotint.trouble import shown
from mezzotint.values.keyed import divided_values

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

SEED = 0  # of all images, unless seeds vary or one is given

_EXAMPLES = """\
  mezzotint grid "a red house" -o grid --x steps=10,20,30 --y guidance=3,5,7
  mezzotint grid "a red house" -o grid --x seed=1,2,3 --y sampler=euler,dpmpp_2m --z model=starter-xl,starter-dit
  mezzotint grid "a red house" -o grid --x lora=ink.safetensors:0.4,ink.safetensors:0.8
  mezzotint grid -o grid --x "prompt=a red house|a blue boat|a tent" --y seed=1,2

An axis is NAME=VALUE,VALUE,... of any option that job files have, or of the prompt; if a value contains a |, they are
divided there instead of at commas. The grid is mezzotint-grid.png in OUT, and mezzotint-grid.html as a page. All images
have the same seed unless it varies. Repeat the command to resume, as with `mezzotint batch`.
"""

Axis = tuple[str, tuple[str, ...]]


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(commands, "grid", "Compare values of options in a labelled grid of images.", run, _EXAMPLES)
    parser.add_argument("prompt", metavar="PROMPT", nargs="?", type=text, help="what the images show")
    parser.add_argument("-o", "--output", dest="out", metavar="OUT", required=True, help="the output folder")
    for name, what in (("x", "columns"), ("y", "rows"), ("z", "tables")):
        parser.add_argument(f"--{name}", metavar="NAME=V,V,...", type=axis, help=f"the values of the {what}")
    parser.add_argument("--save-job", metavar="FILE", type=Path, help="only write a job file, .toml or .json")
    add_row_options(parser)
    add_run_options(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Generate the missing images, and the grid; or save the job."""
    job = job_of(arguments)
    if arguments.save_job is not None:
        from mezzotint.cli.batch.save_job import save_job

        refuse_run_options(arguments)
        return save_job(with_batch_size(job, arguments.batch_size), arguments.save_job, context)
    from mezzotint.cli.batch.runner import run_job

    return run_job(job, Path.cwd(), arguments, context)


def axis(words: str) -> Axis:
    """Parse NAME=VALUE,VALUE,... or NAME=VALUE|VALUE|..."""
    name, equals, values = words.partition("=")
    divided = divided_values(values)
    if not equals or not all(divided):
        raise argparse.ArgumentTypeError(f"{shown(words)} is not an axis; expected a name and values: steps=10,20")
    if len(set(divided)) < len(divided):
        raise argparse.ArgumentTypeError(f"{shown(words)} has a value twice: leave one out")
    return name.strip(), divided


def job_of(arguments: argparse.Namespace) -> JobFile:
    """Build the job; paths stay as typed. Raises UsageError for what is not an axis, or a value that is invalid."""
    axes: list[Axis] = [one for one in (arguments.x, arguments.y, arguments.z) if one is not None]
    names = [name for name, _ in axes]
    if not axes or len(set(names)) < len(names):
        raise UsageError(f"a grid varies one to {MAX_AXES} different options: give --x, such as --x steps=10,20")
    prompts = next((values for name, values in axes if name == PROMPT_AXIS), ())
    if bool(prompts) == (arguments.prompt is not None):
        raise UsageError("give the prompt, or an axis of prompts, such as --x 'prompt=a house|a boat'")
    options = options_of(arguments).replace(prompt=None)
    if options.seed is None and "seed" not in names:
        options = options.replace(seed=SEED)
    varying = ((name, values) for name, values in axes if name != PROMPT_AXIS)
    job = JobFile(
        settings=options,
        prompts=Prompts(list=prompts or (arguments.prompt,)),
        matrix=tuple((name, tuple(_value(name, one) for one in values)) for name, values in varying),
        output=JobOutput(folder=arguments.out, grid=True),
    )
    return replace(job_of_data(data_of(job), "the grid"), settings=options)


def _value(name: str, word: str) -> MatrixValue:
    """A value as a job file has it. Raises UsageError for an option that cannot vary, or an invalid value."""
    option = None if name in NOT_IN_MATRIX else SETTINGS.get(name)
    if option is None:
        known = ", ".join((PROMPT_AXIS, *(one for one in SETTINGS if one not in NOT_IN_MATRIX)))
        raise UsageError(f"{shown(name)} cannot be an axis of a grid; expected one of {known}")
    try:
        value = option.takes.from_text(word)
        option.takes.read(value)
    except ValueError as error:
        raise UsageError(f"{name}: {error}") from None
    return value if isinstance(value, int | float | str) else word
