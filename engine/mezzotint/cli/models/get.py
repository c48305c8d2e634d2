"""`mezzotint models get`: download a model, after showing what it is and asking for confirmation."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.cli.columns import columns, facts
from mezzotint.cli.command_options import add_command, add_json, add_models_folder
from mezzotint.cli.context import Context
from mezzotint.cli.reporter import Reporter
from mezzotint.errors import Cancelled, ModelRefused, UsageError
from mezzotint.library_protocol import GetRequest, KnownModel, Offer
from mezzotint.protocol import ModelInfo

if TYPE_CHECKING:
    from mezzotint.cli.command_options import Commands

_HEADER = ("ID", "SIZE", "VRAM FROM", "PLAN NAME")
_YES = ("y", "yes")
_USES = {
    "background": "`mezzotint remove-background IMAGE` uses it",
    "detection": "`mezzotint generate ... --detail LABEL` uses it, and so do control images of poses",
}
_EXAMPLES = """\
  mezzotint models get --list
  mezzotint models get stabilityai/stable-diffusion-xl-base-1.0
  mezzotint models get ByteDance/SDXL-Lightning/sdxl_lightning_4step.safetensors --yes
  mezzotint models get https://example.org/model.safetensors --sha256 0a1b...

Nothing is downloaded before you confirm. The same command resumes an interrupted download. A mirror of the hub is
used when HF_ENDPOINT names one; a token is taken from HF_TOKEN or from `hf auth login`.
"""


def add(commands: "Commands") -> None:
    """Add the command and its options."""
    parser = add_command(
        commands, "get", "Download a model from the Hugging Face hub, or from a link.", get_model, _EXAMPLES
    )
    parser.add_argument(
        "source", metavar="ID", nargs="?", help="owner/name, owner/name@revision, owner/name/FILE, or an https link"
    )
    parser.add_argument("--list", action="store_true", help="list models that are known to run, and download nothing")
    parser.add_argument("--revision", metavar="R", help="branch, tag or commit on the hub (default: the newest)")
    parser.add_argument("--sha256", metavar="S", help="refuse a file with a different checksum")
    parser.add_argument("--folder", metavar="DIR", type=Path, help="target folder (default: your models folder)")
    parser.add_argument("-y", "--yes", action="store_true", help="confirm without asking, including the licence")
    parser.add_argument("-q", "--quiet", action="store_true", help="print only results and errors, no progress")
    add_json(parser)
    add_models_folder(parser)


def get_model(arguments: argparse.Namespace, context: Context) -> int:
    """Show the offer, ask for confirmation, and download."""
    if arguments.list:
        return _list_known(arguments, context)
    if arguments.source is None:
        raise UsageError("name a model as owner/name, or a link; `mezzotint models get --list` shows some that run")
    from mezzotint.library.downloads.download import download_offer
    from mezzotint.library.offer import prepare

    prepared = prepare(_request(arguments), context.interrupt.stop_requested)
    if prepared.problem is not None:
        raise prepared.problem
    context.terminal.message(facts(_offer_rows(prepared.offer)))
    _agree(arguments, context)
    with Reporter(context, "json") as reporter:
        info = download_offer(
            prepared,
            None,
            lambda: context.make_catalog(arguments.models_folder),
            reporter.on_event,
            context.interrupt.stop_requested,
        )
    return _finish(info, arguments, context)


def _request(arguments: argparse.Namespace) -> GetRequest:
    return GetRequest(
        source=arguments.source,
        revision=arguments.revision,
        sha256=arguments.sha256,
        folder=None if arguments.folder is None else str(arguments.folder),
    )


def _offer_rows(offer: Offer) -> dict[str, str]:
    left = "" if offer.bytes_left == offer.bytes else f", of which {size(offer.bytes_left)} are left to download"
    files = f"{len(offer.files)} files" if len(offer.files) != 1 else plain(offer.files[0], 200)
    return {
        "model": offer.source,
        **({"commit": offer.revision} if offer.revision else {}),
        "licence": offer.licence,
        "size": f"{size(offer.bytes)} in {files}{left}",
        "goes to": offer.target,
        "free there": size(offer.free_bytes),
    }


def _agree(arguments: argparse.Namespace, context: Context) -> None:
    """Ask for confirmation. Raises UsageError if nobody can be asked, Cancelled if the answer is no."""
    if arguments.yes:
        return
    if arguments.json or sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("nothing was downloaded, since there is no terminal to ask on; add --yes")
    context.terminal.stderr.write("Download it? [y/N] ")
    context.terminal.stderr.flush()
    if sys.stdin.readline().strip().lower() not in _YES:
        raise Cancelled("nothing was downloaded")


def _finish(info: ModelInfo, arguments: argparse.Namespace, context: Context) -> int:
    if arguments.json:
        context.terminal.json(info)
    else:
        context.terminal.result(plain(info.path, 1000))
    if info.problem is None and info.defaults is None:
        context.terminal.message(
            _USES.get(info.family, "it prepares control images: `mezzotint control --list` shows for what")
        )
        return 0
    if info.problem is None:
        context.terminal.message(f"`mezzotint generate -m {plain(info.id, 200)} ...` generates images with it")
        return 0
    if info.path.lower().endswith(".gguf"):
        context.terminal.message("a denoiser file; use it with `mezzotint generate --weights FILE`")
        return 0
    context.terminal.error(ModelRefused(f"downloaded and kept, but it cannot be run: {info.problem}"))
    return ModelRefused.exit_code


def _list_known(arguments: argparse.Namespace, context: Context) -> int:
    from mezzotint.library.known_models import known_models

    models = [model for model in known_models() if model.runs]
    if arguments.json:
        context.terminal.json({"models": tuple(models)})
        return 0
    header, *lines = columns([_HEADER, *map(_row, models)]).splitlines()
    entries = (f"{line}\n{_about(model)}" for line, model in zip(lines, models, strict=True))
    context.terminal.result("\n".join([header, *entries]))
    context.terminal.message("`mezzotint plan NAME` shows how one would run on this machine, before downloading it")
    return 0


def _row(model: KnownModel) -> tuple[str, ...]:
    least = size(model.smallest_vram_bytes) if model.planned_as else "-"
    return model.id, f"about {size(model.bytes)}", least, model.planned_as


def _about(model: KnownModel) -> str:
    gated = "; gated: accept its licence on its page" if model.gated else ""
    return f"    {model.good_at}\n    licence: {model.licence}{gated}"
