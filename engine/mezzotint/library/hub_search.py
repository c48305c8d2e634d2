"""Search the hub for models, and tell which of them can be run here."""

from mezzotint.checkpoints.allowed_classes import PIPELINES
from mezzotint.codec import decode
from mezzotint.errors import UsageError
from mezzotint.families.detection import family_of_pipeline
from mezzotint.library.child import run_child
from mezzotint.library.downloads.messages import HubEntries, HubEntry, SearchHub
from mezzotint.library.downloads.source import endpoint_of
from mezzotint.library.known_models import known_models
from mezzotint.library.offer import fetching_command
from mezzotint.protocol import Event, HubModel, HubSearch, IsCancelled

LONGEST = 100  # characters of the words
_PIPELINE = "diffusers:"
_BASE = "base_model:"


def search_hub(request: HubSearch, cancelled: IsCancelled) -> tuple[HubModel, ...]:
    """Ask the hub in a child process. Raises UsageError without words, DownloadFailed."""
    words = request.words.strip()
    if not words or len(words) > LONGEST:
        raise UsageError(f"a search needs 1 to {LONGEST} characters of a model's name; there are {len(words)}")
    endpoint = endpoint_of(request.endpoint)
    command = fetching_command("search", SearchHub(words=words, endpoint=endpoint), None, endpoint)
    found = decode(HubEntries, run_child(command, _ignore, cancelled))
    models = (_model(entry) for entry in found.entries)
    return tuple(sorted(models, key=lambda one: one.runs is False))


def _model(entry: HubEntry) -> HubModel:
    pipelines = [tag.removeprefix(_PIPELINE) for tag in entry.tags if tag.startswith(_PIPELINE)]
    supported = [name for name in pipelines if name in PIPELINES]
    family = family_of_pipeline(supported[0]) if supported else _family_of_base(entry)
    return HubModel(
        id=entry.id,
        family=family,
        runs=True if supported else False if pipelines else None,
        licence=entry.licence,
        downloads=entry.downloads,
        bytes=entry.bytes,
        gated=entry.gated,
    )


def _family_of_base(entry: HubEntry) -> str:
    """Return the family of a listed model that it is, or was made from; empty if there is none."""
    bases = {entry.id, *(tag.rpartition(":")[2] for tag in entry.tags if tag.startswith(_BASE))}
    return next((known.family for known in known_models() if known.id in bases), "")


def _ignore(_: Event) -> None:
    """Ignore events: a search reports no progress."""
