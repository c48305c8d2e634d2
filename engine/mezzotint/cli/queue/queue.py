"""`mezzotint queue`: the persistent queue of images to generate; survives crashes and restarts."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import integer, text
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.generate import requested
from mezzotint.cli.generate_options import add_generate_options, options_of
from mezzotint.cli.queue.run import run_queue
from mezzotint.errors import UsageError
from mezzotint.request_protocol import MAX_SEED

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.jobs.store import EntryRow, JobStore

_EXAMPLES = """\
  mezzotint queue add "a red house by the sea" --count 4 -o "out/[seed].png"
  mezzotint queue add "a {red|blue} house at {dawn|noon}" --seeds 1,2,3
  mezzotint queue run
  mezzotint queue list
  mezzotint queue retry

The window works through the same queue. One program at a time does so on a device.
"""
_HEADER = ("ID", "STATE", "IMAGES", "MODEL", "WHAT")
_PAGE = 500
_OPEN = ("waiting", "running", "interrupted")
_RETRIED = ("failed", "set_aside", "interrupted")

Act = Callable[["JobStore", argparse.Namespace, Context], None]


def add(commands: "Commands") -> None:
    """Add the command and its subcommands."""
    parser = add_command(commands, "queue", "Work through a list of images to make.", examples=_EXAMPLES)
    below = parser.add_subparsers(title="commands", metavar="COMMAND", dest="queue_command", required=True)
    _add_adding(below)
    listing = add_command(below, "list", "List what waits, runs and has failed.", _with_queue(_list))
    listing.add_argument("--all", action="store_true", help="what is done or was cancelled, too")
    add_json(listing)
    _add_running(below)
    pause = add_command(below, "pause", "Stop making images until `resume`; none is lost.", _with_queue(_pause))
    pause.add_argument("--after-this", action="store_true", help="finish what is being made first")
    add_command(below, "resume", "Go on, also with what a crash has interrupted.", _with_queue(_resume))
    for name, summary, act, number in (
        ("retry", "Retry what failed, crashed twice or was interrupted (default: all of it).", _retry, "*"),
        ("cancel", "Stop entries, also one that is being made; images that are there stay.", _cancel, "+"),
        ("remove", "Take entries out of the queue; images stay.", _remove, "+"),
    ):
        one = add_command(below, name, summary, _with_queue(act))
        one.add_argument("entries", metavar="ID", type=integer(1, 2**53, 3), nargs=number, help="of `queue list`")
    add_command(below, "clear", "Take out what is done or was cancelled; images stay.", _with_queue(_clear))


def _add_adding(below: "Commands") -> None:
    parser = add_command(below, "add", "Add images to the queue: the options are those of `generate`.", _add)
    add_generate_options(parser)
    group = parser.add_argument_group("queue")
    group.add_argument("--title", metavar="TEXT", type=text, help="what lists call it (default: the prompt)")
    group.add_argument("--front", action="store_true", help="before all that waits (default: after it)")
    group.add_argument("--seeds", metavar="N,N,...", type=_seeds, default=(), help="every prompt with each seed")
    group.add_argument("--no-matrix", action="store_true", help="take {a|b} in the prompt as text, not as two prompts")


def _add_running(below: "Commands") -> None:
    parser = add_command(below, "run", "Make what waits, here, in this terminal.", run_queue)
    parser.add_argument(
        "--until-empty", action="store_true", help="end when the queue is empty (default: wait for more)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on where the queue is paused, also with what a crash has interrupted"
    )
    parser.add_argument(
        "--wait", action="store_true", help="where another program makes them already, wait until that ends"
    )
    parser.add_argument("--keep-awake", action="store_true", help="keep the computer from going to sleep meanwhile")
    parser.add_argument("--jsonl", action="store_true", help="print what happens as JSON lines on stdout")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_models_folder(parser)


def _seeds(words: str) -> tuple[int, ...]:
    seed = integer(0, MAX_SEED, 7)
    return tuple(seed(one.strip()) for one in words.split(","))


def _with_queue(act: Act) -> Callable[[argparse.Namespace, Context], int]:
    def run(arguments: argparse.Namespace, context: Context) -> int:
        from mezzotint.jobs.store import JobStore

        opened = JobStore.open()
        if opened.notice:
            context.terminal.talk(f"notice: {plain(opened.notice, 1000)}")
        with opened.store as store:
            act(store, arguments, context)
        return 0

    return run


def _add(arguments: argparse.Namespace, context: Context) -> int:
    """Add one entry, with the tasks of one request or of a matrix of requests."""
    from mezzotint.jobs.matrix import expand
    from mezzotint.jobs.requests import title_of

    options = options_of(arguments)
    if arguments.seeds and options.seed is not None:
        raise UsageError("--seed and --seeds say the same in two ways: give one of them")
    request = requested(options, arguments, context.make_catalog(arguments.models_folder), context)
    requests = expand(request, seeds=arguments.seeds, is_matrix=not arguments.no_matrix)

    def add_entry(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
        entry = store.add(requests, title=arguments.title or title_of(request), front=arguments.front)
        if arguments.json or arguments.jsonl:
            context.terminal.json({"entry": entry, "tasks": len(requests)})
        else:
            context.terminal.result(str(entry))
            added = _images(store.row(entry).images_asked)
            context.terminal.talk(f"{added} added; `mezzotint queue run` makes them")

    return _with_queue(add_entry)(arguments, context)


def _images(number: int) -> str:
    return "1 image" if number == 1 else f"{number} images"


def _list(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    entries = [row for row in _all(store) if arguments.all or row.state not in ("done", "cancelled")]
    if arguments.json:
        seconds = store.expected_queue()
        context.terminal.json({"paused": store.paused(), "seconds_left": seconds, "entries": entries})
        return
    if entries:
        context.terminal.result(columns([_HEADER, *map(_row, entries)]))
    context.terminal.talk(_summary(store, entries))


def _all(store: "JobStore") -> "list[EntryRow]":
    rows: list[EntryRow] = []
    while page := store.rows(offset=len(rows), limit=_PAGE):
        rows += page
    return rows


def _row(row: "EntryRow") -> tuple[str, ...]:
    what = f"{plain(row.title, 80)}: {plain(row.error, 200)}" if row.error else plain(row.title, 80)
    state = row.state.replace("_", " ")
    return str(row.id), state, f"{row.images} of {row.images_asked}", plain(row.model, 40) or "-", what


def _summary(store: "JobStore", entries: "list[EntryRow]") -> str:
    left = sum(row.images_asked - row.images for row in entries if row.state in _OPEN)
    if not left:
        return "queue empty"
    seconds = store.expected_queue()
    time = "" if seconds is None else f", about {duration(seconds)}"
    paused = "; the queue is paused: `mezzotint queue resume` lets it go on" if store.paused() else ""
    return f"{_images(left)} to make{time}{paused}"


def duration(seconds: float) -> str:
    """Format a rough duration: 40 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _pause(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    if arguments.after_this:
        store.stop_after_current(True)
        context.terminal.talk("the queue pauses when what is being made is done")
        return
    store.pause()
    context.terminal.talk("the queue is paused; an image that was being made is begun anew by `mezzotint queue resume`")


def _resume(store: "JobStore", _: argparse.Namespace, context: Context) -> None:
    interrupted = len(store.interrupted())
    store.resume_interrupted()
    store.resume()
    again = f", {interrupted} interrupted tasks with it" if interrupted else ""
    context.terminal.talk(f"the queue goes on{again}")


def _retry(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    entries = _existing(store, arguments.entries) or [row.id for row in _all(store) if row.state in _RETRIED]
    store.retry(entries)
    context.terminal.talk("nothing is to be tried again" if not entries else f"trying again: {_ids(entries)}")


def _cancel(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    entries = _existing(store, arguments.entries)
    store.cancel(entries)
    context.terminal.talk(f"cancelled: {_ids(entries)}")


def _remove(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    left = store.remove(_existing(store, arguments.entries))
    if left:
        context.terminal.talk(f"being stopped: {_ids(left)}; remove again when that is done")


def _clear(store: "JobStore", _: argparse.Namespace, context: Context) -> None:
    context.terminal.talk(f"{store.clear_finished()} entries were taken out")


def _existing(store: "JobStore", entries: list[int]) -> list[int]:
    for entry in entries:
        store.row(entry)  # raises if there is no such entry
    return entries


def _ids(entries: "list[int] | tuple[int, ...]") -> str:
    return ", ".join(map(str, entries))
