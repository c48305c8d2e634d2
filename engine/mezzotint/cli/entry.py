"""Run one command, from its arguments to its exit code."""

import sys
import traceback
from collections.abc import Sequence

from mezzotint.cli.context import Context
from mezzotint.cli.output_target import check_output_name
from mezzotint.cli.parser import make_parser
from mezzotint.errors import MezzotintError, NoEngine, OutOfMemory
from mezzotint.libraries import defer_imports, offline_environment

REPORT = "mezzotint: this is a bug: please report it with the lines above and the output of `mezzotint doctor`"


def run(argv: Sequence[str] | None = None, context: Context | None = None) -> int:
    """Run the command in `argv` and return its exit code; `mezzotint --help` lists the codes."""
    words = list(sys.argv[1:] if argv is None else argv)
    context = context or Context()
    offline_environment()
    defer_imports()
    with context.interrupt.installed():
        try:
            code = _run(words, context)
            return code if context.terminal.finish() else (code or 1)
        except BrokenPipeError:  # the reader closed the pipe
            context.terminal.silence_stdout()
            return 1


def _run(words: list[str], context: Context) -> int:
    try:
        return _do(words, context)
    except BrokenPipeError:
        raise
    except MezzotintError as error:
        return _report(error, words, context)
    except MemoryError:
        return _report(OutOfMemory("out of memory; a smaller image needs less"), words, context)
    except Exception as error:  # noqa: BLE001  a bug: shown with its traceback
        if isinstance(error, ModuleNotFoundError) and error.name in ("torch", "diffusers", "transformers"):
            return _report(NoEngine([error.name]), words, context)
        context.terminal.stderr.write(f"{traceback.format_exc()}{REPORT}\n")
        _report_json("bug", f"unexpected {type(error).__name__}", 1, words, context)
        return 1


def _do(words: list[str], context: Context) -> int:
    command = next(iter(words), None)
    if command == "batch":
        from mezzotint.cli.batch.batch import insert_run_command

        words = insert_run_command(words)
    try:
        arguments = make_parser(command).parse_args(words)
    except SystemExit as end:  # argparse has printed the help or the version
        return int(end.code or 0)
    arguments.words = words
    check_output_name(arguments)
    context.terminal.quiet = getattr(arguments, "quiet", False)
    return int(arguments.run(arguments, context))


def _report(error: MezzotintError, words: list[str], context: Context) -> int:
    context.terminal.error(error)
    _report_json(error.kind, str(error), error.exit_code, words, context)
    return error.exit_code


def _report_json(kind: str, message: str, exit_code: int, words: list[str], context: Context) -> None:
    """Report the error as JSON if asked for; checks the raw arguments, since they may be what failed to parse."""
    options = words[: words.index("--")] if "--" in words else words
    if "--json" in options or "--jsonl" in options:
        error = {"kind": kind, "message": message, "exit_code": exit_code}
        is_batch = words[:1] in (["batch"], ["run"])  # every line of these carries a "kind"
        try:
            context.terminal.json({"kind": "error", "error": error} if is_batch else {"error": error})
        except MezzotintError:
            context.terminal.silence_stdout()  # stdout itself failed, and stderr already has the error
