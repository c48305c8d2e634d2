"""The command `python -m mezzotint_setup`; packaging/setup/README.md describes its events."""

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from mezzotint_setup.errors import Paused, SetupFailed, disk_trouble
from mezzotint_setup.events import Reporter, Stop
from mezzotint_setup.install import Installer, backend_of
from mezzotint_setup.look import look
from mezzotint_setup.payload import BACKENDS, Payload
from mezzotint_setup.removal import drop_left_window, remove_all
from mezzotint_setup.root import Root, default_root, remember
from mezzotint_setup.shown import start_reporter
from mezzotint_setup.start import command_line, start
from mezzotint_setup.update import Release, allow, keep_answer, newer, newest, newest_payload

_FAILED, _PAUSED = 1, 3


def main(words: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = _parser()
    arguments, rest = parser.parse_known_args(words)
    if rest and arguments.command not in ("start", "run"):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    arguments.rest = rest
    stop = Stop()
    reporter = _reporter(arguments, stop)
    stop.on_signals()
    if arguments.jsonl and sys.stdin is not None:
        stop.listen(sys.stdin)
    try:
        return _do(_Context(arguments, reporter, stop))
    except SetupFailed as failure:
        reporter.failed(failure)
        return _FAILED
    except Paused:
        reporter.paused()
        return _PAUSED


def _do(context: "_Context") -> int:
    try:
        return _COMMANDS[context.arguments.command](context)
    except OSError as error:
        raise disk_trouble(error, context.root.path) from error


def _reporter(arguments: argparse.Namespace, stop: Stop) -> Reporter:
    if arguments.command == "start" and not arguments.jsonl:
        return start_reporter(stop)
    return Reporter(jsonl=arguments.jsonl, stream=sys.stderr if arguments.command in ("start", "run") else None)


class _Context:
    """What a command works with."""

    def __init__(
        self,
        arguments: argparse.Namespace,
        reporter: Reporter,
        stop: Stop,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        self.arguments, self.reporter, self.stop = arguments, reporter, stop
        self.root = Root(arguments.root or default_root())
        self._payload: Path = arguments.payload or Path(
            environment.get("MEZZOTINT_SETUP_PAYLOAD") or Path(__file__).parents[1]
        )
        mirror = environment.get("MEZZOTINT_MIRROR")
        self._mirrors = (mirror,) if mirror else ()

    def installer(self, *, starts: bool = False) -> Installer:
        """What changes the root; an installed version also starts where the payload is damaged."""
        try:
            payload = newest_payload(self.root, Payload.read(self._payload))
        except SetupFailed:
            if not starts or self.root.usable() is None:
                raise
            payload = Payload(folder=self._payload, version="0", files={}, mirrors=())
        return Installer(
            root=self.root,
            payload=payload,
            reporter=self.reporter,
            stop=self.stop,
            mirrors=self._mirrors,
        )


def _start(context: _Context) -> int:
    drop_left_window(context.root.path)  # its window ran while the engine was installed elsewhere
    return start(context.installer(starts=True), context.arguments.rest)


def _run(context: _Context) -> int:
    return command_line(context.installer(starts=True), context.arguments.rest)


def _look(context: _Context) -> int:
    context.reporter.result(look(context.root, context.installer().payload))
    return 0


def _install(context: _Context) -> int:
    context.installer().install(context.arguments.backend, context.arguments.wheels)
    if context.arguments.remember:
        keep_answer(Root(default_root()), context.root)
        remember(context.root.path)
        drop_left_window(context.root.path)
    return 0


def _back(context: _Context) -> int:
    context.reporter.done(context.installer().back())
    return 0


def _repair(context: _Context) -> int:
    context.installer().repair(context.arguments.wheels)
    return 0


def _remove(context: _Context) -> int:
    left = remove_all(context.root, purge=context.arguments.purge, models=context.arguments.models)
    context.reporter.result({"event": "removed", "left": [str(path) for path in left]})
    return 0


def _check_update(context: _Context) -> int:
    if context.arguments.allow is not None:
        allow(context.root, allowed=context.arguments.allow)
    if context.arguments.allow is not False:
        release, installer = _release(context)
        wanted = newer(release.version, installer.version_in_use())
        size = release.archive.size
        context.reporter.result({"event": "update", "version": release.version, "newer": wanted, "download": size})
    return 0


def _update(context: _Context) -> int:
    release, installer = _release(context)
    name = context.root.usable()
    if name is None or not newer(release.version, installer.version_in_use()):
        context.reporter.done(name or "", ("this is the newest version",))
        return 0
    if newer(release.version, installer.payload.version):  # else it is here, from an earlier attempt
        stop, reporter = context.stop, context.reporter
        installer.payload = release.take(context.root, network=installer.network, stop=stop, reporter=reporter)
    installer.install(backend_of(context.root, name))
    return 0


def _release(context: _Context) -> tuple[Release, Installer]:
    installer = context.installer()
    index = context.arguments.index or installer.payload.updates
    return newest(context.root, index, installer.network, installer.payload.key), installer


_COMMANDS: dict[str, Callable[[_Context], int]] = {
    "start": _start,
    "run": _run,
    "look": _look,
    "install": _install,
    "back": _back,
    "repair": _repair,
    "remove": _remove,
    "check-update": _check_update,
    "update": _update,
}


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--root", type=Path, help="folder of the versions")
    shared.add_argument("--payload", type=Path, help="folder that the installer made")
    shared.add_argument("--jsonl", action="store_true", help="events as JSON lines; 'pause' on stdin pauses")
    parser = argparse.ArgumentParser(prog="mezzotint-setup", description="Installs and starts Mezzotint.")
    commands = parser.add_subparsers(dest="command", required=True)

    def add(name: str, text: str, **options: bool) -> argparse.ArgumentParser:
        return commands.add_parser(name, help=text, description=text, parents=[shared], allow_abbrev=False, **options)  # type: ignore[arg-type]

    add("start", "open the window; the rest is passed to it", add_help=False)
    add("run", "run mezzotint on the command line; the rest is passed to it", add_help=False)
    add("look", "show this machine, the build advised, and what each needs, as JSON")
    install = add("install", "get a build, try it, and switch to it")
    install.add_argument("--backend", required=True, choices=BACKENDS)
    install.add_argument("--remember", action="store_true", help="use --root from now on")
    repair = add("repair", "build the version in use again")
    for each in (install, repair):
        each.add_argument("--wheels", type=Path, metavar="FOLDER", help="take the packages from a folder, offline")
    add("back", "switch to the version before")
    check = add("check-update", "ask for a newer release, if that was allowed")
    check.add_argument("--allow", action=argparse.BooleanOptionalAction, help="allow it from now on, or no longer")
    for each in (check, add("update", "install the newest release, if asking for it was allowed")):
        each.add_argument("--index", metavar="URL", help="the release index, if not the usual one")
    removal = add("remove", "remove the program's versions; images, models and settings stay")
    removal.add_argument("--purge", action="store_true", help="also settings, queue and caches")
    removal.add_argument("--models", action="store_true", help="also the folder of models")
    return parser
