"""Messages between a run and the nodes of a Ray cluster: JSON of our own types, and the bytes of images.

No folder is shared: input images are sent along, and generated ones come back.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

from mezzotint.batch.ray.content_hashes import Need
from mezzotint.checkpoints.regular_file import open_regular
from mezzotint.codec import from_json, to_json
from mezzotint.errors import ImageRefused, ProtocolError
from mezzotint.images.reading import MAX_PIXELS
from mezzotint.protocol import Failure, GenerateRequest, GenerateResult, Output
from mezzotint.trouble import meaning, shown

MOST_SENT = 256 << 20  # bytes of the images of one request
MOST_BACK = 4 * MAX_PIXELS  # bytes of one image

Wire: TypeAlias = dict[str, Any]  # text, bytes, and lists of these


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """Requests that are made together, the images that they use, and the files that must exist on the node."""

    requests: tuple[GenerateRequest, ...]
    images: dict[str, bytes] = field(default_factory=dict)  # by sha256, by which the requests refer to them
    needs: tuple[Need, ...] = ()

    def bytes(self) -> int:
        """Return the total bytes of its images."""
        return sum(map(len, self.images.values()))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The outcome of one request: its images as PNG, in the order of the result, or an error."""

    result: GenerateResult | None = None
    images: tuple[bytes, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """The outcome of a parcel."""

    answers: tuple[Answer, ...] = ()
    unusable: str = ""  # why the node cannot generate anything; no request is to blame
    lost: str = ""  # why the process on the node is no longer usable


def packed(request: GenerateRequest, max_bytes: int = MOST_SENT) -> Parcel:
    """Pack a request with its images. Raises StorageError if one is unreadable, changed, or too large to send."""
    files: dict[str, bytes] = {}
    images = []
    for image in request.images:
        digest, data = _read(image.path, image.sha256, max_bytes)
        files[digest] = data
        images.append(replace(image, path=digest, sha256=digest))
    controls = []
    for control in request.controls:
        digest, data = _read(control.image, control.image_sha256, max_bytes)
        files[digest] = data
        sent_control = replace(control, image=digest, image_sha256=digest)
        if control.mask is not None:
            digest, data = _read(control.mask, control.mask_sha256, max_bytes)
            files[digest] = data
            sent_control = replace(sent_control, mask=digest, mask_sha256=digest)
        controls.append(sent_control)
    regions = []
    for region in request.regions:
        if region.mask is not None:
            digest, data = _read(region.mask, region.mask_sha256, max_bytes)
            files[digest] = data
            region = replace(region, mask=digest, mask_sha256=digest)
        regions.append(region)
    given = {"images": tuple(images), "controls": tuple(controls), "regions": tuple(regions)}
    sent = replace(request, **given, output=Output(), previews=False)  # type: ignore[arg-type]
    parcel = Parcel(requests=(sent,), images=files)
    if parcel.bytes() > max_bytes:
        raise _too_large(given_images(request)[0], parcel.bytes(), max_bytes)
    return parcel


def given_images(request: GenerateRequest) -> list[str]:
    """The paths of all input images of a request, control images last."""
    masks = (region.mask for region in request.regions if region.mask is not None)
    return [*(image.path for image in request.images), *(control.image for control in request.controls), *masks]


def together(parcels: Sequence[Parcel], needs: tuple[Need, ...]) -> Parcel:
    """Merge parcels into one; an image that several of them need is sent once."""
    return Parcel(
        requests=tuple(request for parcel in parcels for request in parcel.requests),
        images={digest: data for parcel in parcels for digest, data in parcel.images.items()},
        needs=needs,
    )


def _read(name: str, sha256: str | None, max_bytes: int) -> tuple[str, bytes]:
    path = Path(name)
    with open_regular(path) as file:
        try:
            data = file.read(max_bytes + 1)
        except OSError as error:
            raise ImageRefused(f"cannot read {shown(path)}: {meaning(error)}") from error
    if len(data) > max_bytes:
        raise _too_large(name, path.stat().st_size, max_bytes)
    digest = hashlib.sha256(data).hexdigest()
    if sha256 not in (None, digest):
        raise ImageRefused(f"{shown(path)} has changed since the job was planned: run again to use it as it is now")
    return digest, data


def _too_large(path: str, size: int, max_bytes: int) -> ImageRefused:
    return ImageRefused(
        f"{shown(path)}: images of {size / 2**20:.0f} MB are too large to send to a Ray node (at most "
        f"{max_bytes / 2**20:.0f} MB): scale them down, or run without --ray"
    )


# ---- wire format


def parcel_to_wire(parcel: Parcel) -> Wire:
    """Return the parcel as plain data."""
    return {
        "requests": [to_json(one) for one in parcel.requests],
        "images": dict(parcel.images),
        "needs": [to_json(one) for one in parcel.needs],
    }


def parcel_from_wire(wire: Wire) -> Parcel:
    """Parse a parcel. Raises ProtocolError for invalid requests, and for images that do not match their hash."""
    for digest, data in wire["images"].items():
        if hashlib.sha256(data).hexdigest() != digest:
            raise ProtocolError(f"an image arrived damaged: its sha256 is not {digest[:12]}...")
    return Parcel(
        requests=tuple(from_json(GenerateRequest, one) for one in wire["requests"]),
        images=wire["images"],
        needs=tuple(from_json(Need, one) for one in wire["needs"]),
    )


def reply_to_wire(reply: Reply) -> Wire:
    """Return the reply as plain data."""
    answers = [
        {
            "result": None if one.result is None else to_json(one.result),
            "images": list(one.images),
            "failure": None if one.failure is None else to_json(one.failure),
        }
        for one in reply.answers
    ]
    return {"answers": answers, "unusable": reply.unusable, "lost": reply.lost}


def reply_from_wire(wire: Wire) -> Reply:
    """Parse a reply. Raises ProtocolError if it is invalid."""
    try:
        answers = tuple(
            Answer(
                result=None if one["result"] is None else from_json(GenerateResult, one["result"]),
                images=tuple(one["images"]),
                failure=None if one["failure"] is None else from_json(Failure, one["failure"]),
            )
            for one in wire["answers"]
        )
        return Reply(answers=answers, unusable=wire["unusable"], lost=wire["lost"])
    except (KeyError, TypeError) as error:
        raise ProtocolError(f"a Ray node sent an invalid answer: {error!r}") from error
