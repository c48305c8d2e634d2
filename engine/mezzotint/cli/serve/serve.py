"""`mezzotint serve`: a local HTTP API with A1111's endpoints, for scripts and other programs."""

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from mezzotint.cli.argument_types import integer
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.queue.run import graceful_signals
from mezzotint.cli.serve.token import TOKEN_VARIABLE, token_of
from mezzotint.errors import UsageError

if TYPE_CHECKING:
    from mezzotint.api_server.serving import ServeSettings
    from mezzotint.cli.command_options import Commands

_ORIGIN = re.compile(r"https?://[^\s/?#@*\\]+")
_EXAMPLES = f"""\
  mezzotint serve
  mezzotint serve --port 7861 --output images -m starter-xl
  mezzotint serve --token-file token.txt --allow-origin http://localhost:3000

Requests need the token that is shown at the start, as `Authorization: Bearer TOKEN` or as the password of basic
authentication with any user name. {TOKEN_VARIABLE} or --token-file sets it. Images are written into the output folder
only for requests that say `save_images`.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    summary = "Serve a local HTTP API with A1111's endpoints, for scripts and other programs."
    parser = add_command(commands, "serve", summary, run, _EXAMPLES)
    parser.add_argument("--port", metavar="N", type=integer(0, 65535, 7860), default=7860, help="default: 7860; 0: any")
    parser.add_argument(
        "--host", metavar="ADDRESS", default="127.0.0.1", help="default: 127.0.0.1, which other machines cannot reach"
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, default=Path(), help="for saved images (default: current folder)"
    )
    parser.add_argument("-m", "--model", metavar="MODEL", help="of requests that name none, an id or name in the list")
    parser.add_argument("--token-file", metavar="FILE", type=Path, help="read the token from this file")
    parser.add_argument("--no-token", action="store_true", help="let every program of this machine use the API")
    parser.add_argument(
        "--allow-origin",
        metavar="URL",
        action="append",
        default=[],
        help="let a web page of this origin use the API, such as http://localhost:3000 (may be repeated)",
    )
    parser.add_argument(
        "--allow-host",
        metavar="NAME",
        action="append",
        default=[],
        help="accept requests to this machine by this name (may be repeated; addresses and localhost need none)",
    )
    parser.add_argument(
        "--queue", metavar="N", type=integer(0, 1000, 16), default=16, help="requests that may wait (default: 16)"
    )
    parser.add_argument(
        "--cancel-on-disconnect", action="store_true", help="cancel the job of a client that closes its connection"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print only the address, the token and errors")
    add_json(parser)
    add_models_folder(parser)


def run(arguments: argparse.Namespace, context: Context) -> int:
    """Serve until Ctrl-C."""
    token, is_shown = token_of(arguments.token_file, no_token=arguments.no_token)
    settings = _settings(arguments, token)  # before torch is imported
    from mezzotint.api_server.serving import serve

    catalog = context.make_catalog(arguments.models_folder)
    with graceful_signals(context):
        context.interrupt.enable_graceful_stop()
        serve(
            settings,
            catalog,
            lambda: context.make_engine(catalog),
            context.interrupt.stop_requested,
            lambda url: _show(url, token if is_shown else None, settings, arguments, context),
        )
    context.terminal.message("stopped")
    return 0


def _settings(arguments: argparse.Namespace, token: str | None) -> "ServeSettings":
    from mezzotint.api_server.access import Access
    from mezzotint.api_server.limits import Limits
    from mezzotint.api_server.serving import ServeSettings, check_host

    check_host(arguments.host, token)
    names = (arguments.host, *arguments.allow_host)
    return ServeSettings(
        output=arguments.output,
        access=Access(
            token=token,
            hosts=frozenset(name.lower() for name in names),
            origins=frozenset(_origin(url) for url in arguments.allow_origin),
        ),
        host=arguments.host,
        port=arguments.port,
        model=arguments.model,
        cancel_if_gone=arguments.cancel_on_disconnect,
        limits=Limits(waiting_jobs=arguments.queue),
    )


def _origin(url: str) -> str:
    """The origin as browsers write it."""
    found = _ORIGIN.fullmatch(url.lower().rstrip("/"))
    if found is None or not _is_url(found[0]):
        raise UsageError(f"--allow-origin {url} is not an origin; write it as http://localhost:3000, without a path")
    return found[0]


def _is_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False


def _show(
    url: str, token: str | None, settings: "ServeSettings", arguments: argparse.Namespace, context: Context
) -> None:
    from mezzotint.api_server.access import is_loopback

    terminal = context.terminal
    if arguments.json:
        terminal.json({"url": url, "token": token})
    else:
        terminal.result(f"serving {url}")
        if token is not None:
            terminal.result(f"token   {token}")
    if settings.access.token is None:
        terminal.message("notice: no token: every program and user of this machine can use the API")
    if not is_loopback(settings.host):
        terminal.message("notice: other machines can reach it, and whoever is between can read the token and images")
    terminal.message("press Ctrl-C to stop")
