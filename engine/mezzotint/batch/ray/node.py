"""The work of a Ray node: an engine that stays warm, with a separate folder for each call."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from mezzotint.batch.ray.content_hashes import ContentHashes, standard_hashes
from mezzotint.batch.ray.folders import new_folder, remove, sweep
from mezzotint.batch.ray.parcel import (
    MOST_BACK,
    Answer,
    Parcel,
    Reply,
    Wire,
    parcel_from_wire,
    reply_to_wire,
)
from mezzotint.batch.run.outcomes import Outcome
from mezzotint.batch.run.records import kind_of
from mezzotint.batch.run.workers import EngineWorker
from mezzotint.batch.tasks.outputs import as_template
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import DeviceLost, ImageRefused, MezzotintError, NoDevice
from mezzotint.libraries import defer_imports, offline_environment
from mezzotint.protocol import Failure, GenerateRequest, Output

if TYPE_CHECKING:
    from mezzotint.engine import Engine


class Node:
    """Processes parcels into replies. Writes nothing permanent: images travel back as bytes."""

    def __init__(self, make_engine: "Callable[[], Engine]", hashes: ContentHashes) -> None:
        self._worker, self._hashes = EngineWorker(make_engine), hashes
        sweep()

    def make(self, wire: Wire) -> Wire:
        """Process a parcel, in wire format. Raises nothing: errors are part of the reply."""
        try:
            return reply_to_wire(self._reply(parcel_from_wire(wire)))
        except DeviceLost as error:
            return reply_to_wire(Reply(lost=str(error)))
        except (NoDevice, OSError) as error:
            return reply_to_wire(Reply(unusable=plain(error, 500)))
        except Exception as error:  # noqa: BLE001  a failed request must not end the process
            kind, words = kind_of(error)
            failed = Answer(failure=Failure(kind=kind, message=words))
            return reply_to_wire(Reply(answers=(failed,) * len(wire["requests"])))

    def _reply(self, parcel: Parcel) -> Reply:
        mismatch = self._hashes.mismatch(parcel.needs)
        if mismatch is not None:
            return Reply(unusable=mismatch)
        folder = new_folder().resolve()
        try:
            outcomes = self._outcomes(_unpacked(parcel, folder))
            return Reply(answers=tuple(_answer(one, folder, parcel) for one in outcomes))
        finally:
            remove(folder)

    def _outcomes(self, requests: Sequence[GenerateRequest]) -> Sequence[Outcome]:
        try:
            if len(requests) == 1:
                return [self._worker.make(requests[0], lambda _: None)]
            return self._worker.make_many(requests, lambda _, __: None)
        except (DeviceLost, NoDevice):
            raise
        except MezzotintError as error:
            return [error] * len(requests)


def standard_node(models_folders: Sequence[str]) -> Node:
    """Return a node with the models of its machine, and without network access."""
    offline_environment()
    defer_imports()
    from mezzotint.catalog import Catalog

    catalog = Catalog.standard([Path(folder) for folder in models_folders])
    return Node(lambda: _engine(catalog), standard_hashes(catalog))


def _engine(catalog: object) -> "Engine":
    from mezzotint.engine import Engine

    return Engine(catalog)  # type: ignore[arg-type]


def _unpacked(parcel: Parcel, folder: Path) -> list[GenerateRequest]:
    for digest, data in parcel.images.items():
        _image_path(folder, digest).write_bytes(data)
    return [_here(request, folder, number) for number, request in enumerate(parcel.requests)]


def _here(request: GenerateRequest, folder: Path, number: int) -> GenerateRequest:
    """Adapt a request to this node, with PNG output: it is lossless, and the run writes the requested format."""
    images = tuple(replace(image, path=str(_image_path(folder, str(image.sha256)))) for image in request.images)
    controls = tuple(
        replace(
            control,
            image=str(_image_path(folder, str(control.image_sha256))),
            mask=None if control.mask is None else str(_image_path(folder, str(control.mask_sha256))),
        )
        for control in request.controls
    )
    regions = tuple(region.with_mask(lambda digest: str(_image_path(folder, digest))) for region in request.regions)
    output = Output(path=as_template(folder / f"{number}.png"))
    return replace(request, images=images, controls=controls, regions=regions, output=output)


def _image_path(folder: Path, digest: str) -> Path:
    return folder / f"given-{digest}"


def _answer(outcome: Outcome, folder: Path, parcel: Parcel) -> Answer:
    if isinstance(outcome, MezzotintError):
        return Answer(failure=Failure(kind=outcome.kind, message=_as_named(str(outcome), folder, parcel)))
    try:
        return Answer(result=outcome, images=tuple(_made(Path(image.path)) for image in outcome.images))
    except OSError as error:
        return Answer(failure=Failure(kind="storage", message=f"the image cannot be read there: {error.strerror}"))


def _as_named(message: str, folder: Path, parcel: Parcel) -> str:
    """Replace paths that exist only on the node by the hashes that the run knows."""
    for digest in parcel.images:
        message = message.replace(str(_image_path(folder, digest)), digest)
    return message


def _made(path: Path) -> bytes:
    size = path.stat().st_size
    if size > MOST_BACK:
        raise ImageRefused(
            f"the image has {size / 2**20:.0f} MB, but at most {MOST_BACK / 2**20:.0f} MB can be sent back"
        )
    return path.read_bytes()
