"""`mezzotint queue`: the persistent queue of images to generate; survives crashes and restarts."""

import argparse
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain
from mezzotint.cli.argument_types import integer, text
from mezzotint.cli.batch.options import seeds
from mezzotint.cli.columns import columns
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.generate import build_request
from mezzotint.cli.generate_options import add_generate_options, options_of
from mezzotint.cli.queue.run import run_queue
from mezzotint.errors import UsageError

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands
    from mezzotint.jobs.store import EntryRow, JobStore

_EXAMPLES = """\
  mezzotint queue add "a red house by the sea" --count 4 -o "out/[seed].png"
  mezzotint queue add "a {red|blue} house at {dawn|noon}" --seeds 1,2,3
  mezzotint queue run
  mezzotint queue list
  mezzotint queue retry

The window uses the same queue. Only one program at a time processes it on a device.
"""
_HEADER = ("ID", "STATE", "IMAGES", "MODEL", "WHAT")
_PAGE = 500
_OPEN = ("waiting", "running", "interrupted")
_RETRIED = ("failed", "set_aside", "interrupted")

Act = Callable[["JobStore", argparse.Namespace, Context], None]


def add(commands: "Commands") -> None:
    """Add the command and its subcommands."""
    parser = add_command(commands, "queue", "Manage and process the queue of images to generate.", examples=_EXAMPLES)
    below = parser.add_subparsers(title="commands", metavar="COMMAND", dest="queue_command", required=True)
    _add_adding(below)
    listing = add_command(below, "list", "List waiting, running and failed entries.", _with_queue(_list))
    listing.add_argument("--all", action="store_true", help="also list finished and cancelled entries")
    add_json(listing)
    _add_running(below)
    pause = add_command(below, "pause", "Pause until `resume`; no image is lost.", _with_queue(_pause))
    pause.add_argument("--after-this", action="store_true", help="finish the current task first")
    add_command(below, "resume", "Resume, including entries interrupted by a crash.", _with_queue(_resume))
    for name, summary, act, number in (
        ("retry", "Retry entries that failed, crashed twice or were interrupted (default: all of them).", _retry, "*"),
        ("cancel", "Cancel entries, including the running one; finished images are kept.", _cancel, "+"),
        ("remove", "Remove entries from the queue; images are kept.", _remove, "+"),
    ):
        one = add_command(below, name, summary, _with_queue(act))
        one.add_argument(
            "entries", metavar="ID", type=integer(1, 2**53, 3), nargs=number, help="as shown by `queue list`"
        )
    add_command(below, "clear", "Remove finished and cancelled entries; images are kept.", _with_queue(_clear))


def _add_adding(below: "Commands") -> None:
    parser = add_command(below, "add", "Add images to the queue: the options are those of `generate`.", _add)
    add_generate_options(parser)
    group = parser.add_argument_group("queue")
    group.add_argument("--title", metavar="TEXT", type=text, help="title in lists (default: the prompt)")
    group.add_argument("--front", action="store_true", help="put it before all waiting entries (default: after them)")
    group.add_argument(
        "--seeds", metavar="N,N,...", type=seeds, default=(), help="make every prompt with each of these seeds"
    )
    group.add_argument("--no-matrix", action="store_true", help="take {a|b} in the prompt as text, not as two prompts")


def _add_running(below: "Commands") -> None:
    parser = add_command(below, "run", "Process the queue in this terminal.", run_queue)
    parser.add_argument(
        "--until-empty", action="store_true", help="exit when the queue is empty (default: wait for more)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="resume a paused queue, including entries interrupted by a crash"
    )
    parser.add_argument(
        "--wait", action="store_true", help="if another program is processing the queue, wait until it ends"
    )
    parser.add_argument("--keep-awake", action="store_true", help="keep the computer from sleeping meanwhile")
    parser.add_argument("--jsonl", action="store_true", help="print events as JSON lines on stdout")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_models_folder(parser)


def _with_queue(act: Act) -> Callable[[argparse.Namespace, Context], int]:
    def run(arguments: argparse.Namespace, context: Context) -> int:
        from mezzotint.jobs.store import JobStore
        from mezzotint.stages.images.request_images import natural_size

        opened = JobStore.open(size_of=natural_size)
        if opened.notice:
            context.terminal.message(f"notice: {plain(opened.notice, 1000)}")
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
        raise UsageError("--seed and --seeds are mutually exclusive: leave one out")
    request = build_request(options, arguments, context.make_catalog(arguments.models_folder), context)
    requests = expand(request, seeds=arguments.seeds, is_matrix=not arguments.no_matrix)

    def add_entry(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
        entry = store.add(requests, title=arguments.title or title_of(request), front=arguments.front)
        if arguments.json or arguments.jsonl:
            context.terminal.json({"entry": entry, "tasks": len(requests)})
        else:
            context.terminal.result(str(entry))
            added = _images(store.row(entry).images_asked)
            context.terminal.message(f"{added} added; `mezzotint queue run` makes them")

    return _with_queue(add_entry)(arguments, context)


def _images(number: int) -> str:
    return "1 image" if number == 1 else f"{number} images"


def _list(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    entries = [row for row in _truly(store) if arguments.all or row.state not in ("done", "cancelled")]
    if arguments.json:
        seconds = store.expected_queue()
        context.terminal.json({"paused": store.paused(), "seconds_left": seconds, "entries": entries})
        return
    if entries:
        context.terminal.result(columns([_HEADER, *map(_row, entries)]))
    context.terminal.message(_summary(store, entries))


def _all(store: "JobStore") -> "list[EntryRow]":
    rows: list[EntryRow] = []
    while page := store.rows(offset=len(rows), limit=_PAGE):
        rows += page
    return rows


def _truly(store: "JobStore") -> "list[EntryRow]":
    """All entries; those whose process has died while it ran them are shown as interrupted."""
    abandoned = store.abandoned()
    return [replace(row, state="interrupted") if row.id in abandoned else row for row in _all(store)]


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
    paused = "; the queue is paused: `mezzotint queue resume` resumes it" if store.paused() else ""
    stopped = [row.id for row in entries if row.state == "interrupted"]
    asked = f"; entries {_ids(stopped)} were interrupted: `mezzotint queue resume` goes on with them" if stopped else ""
    return f"{_images(left)} to make{time}{paused}{asked}"


def duration(seconds: float) -> str:
    """Format a rough duration: 40 s, 12 min, 3 h 20 min."""
    minutes = round(seconds / 60)
    if minutes < 2:
        return f"{max(1, round(seconds))} s"
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def _pause(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    if arguments.after_this:
        store.stop_after_current(True)
        context.terminal.message("the queue pauses after the current task")
        return
    store.pause()
    context.terminal.message(
        "the queue is paused; an image that was being made is restarted by `mezzotint queue resume`"
    )


def _resume(store: "JobStore", _: argparse.Namespace, context: Context) -> None:
    store.recover()
    interrupted = len(store.interrupted())
    store.resume_interrupted()
    store.resume()
    again = f", including {interrupted} interrupted tasks" if interrupted else ""
    context.terminal.message(f"the queue is resumed{again}")


def _retry(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    store.recover()
    entries = _existing(store, arguments.entries) or [row.id for row in _all(store) if row.state in _RETRIED]
    store.retry(entries)
    context.terminal.message("nothing to retry" if not entries else f"retrying: {_ids(entries)}")


def _cancel(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    entries = _existing(store, arguments.entries)
    store.cancel(entries)
    context.terminal.message(f"cancelled: {_ids(entries)}")


def _remove(store: "JobStore", arguments: argparse.Namespace, context: Context) -> None:
    left = store.remove(_existing(store, arguments.entries))
    if left:
        context.terminal.message(f"being stopped: {_ids(left)}; remove again when that is done")


def _clear(store: "JobStore", _: argparse.Namespace, context: Context) -> None:
    context.terminal.message(f"{store.clear_finished()} entries were removed")


def _existing(store: "JobStore", entries: list[int]) -> list[int]:
    for entry in entries:
        store.row(entry)  # raises if there is no such entry
    return entries


def _ids(entries: "list[int] | tuple[int, ...]") -> str:
    return ", ".join(map(str, entries))
