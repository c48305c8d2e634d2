"""`mezzotint lora`: inspect, merge, resize and extract LoRAs."""

from typing import TYPE_CHECKING

from mezzotint.cli.command_options import add_command
from mezzotint.cli.lora import extract, inspect, merge, resize

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands


def add(commands: "Commands") -> None:
    """Add the command and its subcommands."""
    below = add_command(commands, "lora", "Inspect, merge, resize and extract LoRAs.").add_subparsers(
        title="commands", metavar="COMMAND", dest="lora_command", required=True
    )
    inspect.add(below)
    merge.add(below)
    resize.add(below)
    extract.add(below)
