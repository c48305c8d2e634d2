"""The detectors of a request: opened and checked before anything else, and run on a finished image."""

import difflib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from mezzotint import paths
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused, UsageError
from mezzotint.protocol import DetailFound, GenerateRequest, IsCancelled
from mezzotint.values.details import MAX_DETAILS, DetailRef, check_detail

if TYPE_CHECKING:
    import torch

    from mezzotint.perception.detecting import Detector
    from mezzotint.stages.models.placement import Placement

Box = tuple[int, int, int, int]  # left, top, right, bottom in pixels
FindDetectors = Callable[[str | None], Sequence[Path]]

MOST_FOUND = 32  # of one label, those of the highest scores
SMALLEST = 8  # pixels: less is noise, or gains nothing
_ACTIVATIONS = 160 * 10**6  # bytes; RT-DETR v2 r50vd and r101vd were measured at 125 and 127 MB, at 640 x 640
_NAMED = 8
_SAME = 0.7  # intersection over union: two such boxes show one object, as is usual for non-maximum suppression


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """A detail pass and its detector."""

    detail: DetailRef  # with every value resolved
    detector: "Detector"


def check_details(request: GenerateRequest) -> None:
    """Raise UsageError for values out of range."""
    if len(request.details) > MAX_DETAILS:
        raise UsageError(f"{len(request.details)} detail passes are given; at most {MAX_DETAILS} can be made")
    for detail in request.details:
        try:
            check_detail(detail)
        except ValueError as error:
            raise UsageError(f"detail: {error}") from None


def sought(details: Sequence[DetailRef], find: FindDetectors, cancelled: IsCancelled) -> tuple[Sought, ...]:
    """The passes with their detectors, read once each; raises UnknownModel, ModelRefused, UsageError, Cancelled."""
    opened: dict[Path, Detector] = {}
    return tuple(_sought(detail, find(detail.model), opened, cancelled) for detail in details)


def _sought(
    detail: DetailRef, folders: Sequence[Path], opened: "dict[Path, Detector]", cancelled: IsCancelled
) -> Sought:
    from mezzotint.families.control.files import files_of
    from mezzotint.perception.detecting import open_detector

    for folder in folders:
        if folder not in opened:
            opened[folder] = open_detector(folder, cancelled)
        if detail.label not in opened[folder].labels:
            continue
        file = files_of(folder, "transformers")[0]
        used = fingerprint(file, paths.cache_folder() / "fingerprints.json", cancelled=cancelled)
        if detail.sha256 not in (None, used.sha256):
            raise ModelRefused(
                f"{plain(folder, 300)}: the detector has changed since it was used (sha256 {used.sha256[:12]}, was "
                f"{plain(detail.sha256, 12)}); give it again with --detail"
            )
        resolved = replace(detail, model=str(folder.resolve()), sha256=used.sha256)
        return Sought(detail=resolved, detector=opened[folder])
    raise UsageError(_unknown_label(detail.label, {folder: opened[folder].labels for folder in folders}))


def _unknown_label(label: str, known: Mapping[Path, Sequence[str]]) -> str:
    labels = list(dict.fromkeys(name for names in known.values() for name in names))
    near = difflib.get_close_matches(label, labels, n=1)
    some = ", ".join(map(plain, labels[:_NAMED])) + (", ..." if len(labels) > _NAMED else "")
    meant = f"did you mean {plain(near[0])}?" if near else f"known are {some}"
    names = ", ".join(plain(folder.name, 100) for folder in known)
    return f"detail: {names} cannot find '{plain(label, 200)}'; {meant}"


def detecting_bytes(passes: Sequence[Sought]) -> int:
    """Bytes that detectors need on the device, one at a time."""
    numbers = (sum(one.numel() for one in each.detector.network.state_dict().values()) for each in passes)
    return max(numbers, default=0) * 4 + (_ACTIVATIONS if passes else 0)


def found_in(
    image: Image.Image, passes: Sequence[Sought], placement: "Placement", device: "torch.device"
) -> tuple[tuple[DetailFound, ...], ...]:
    """What each pass finds, best first; detectors are on the device meanwhile, or on the CPU if memory is short."""
    return tuple(_found(image, each, placement, device) for each in passes)


def _found(image: Image.Image, each: Sought, placement: "Placement", device: "torch.device") -> tuple[DetailFound, ...]:
    from mezzotint.memory.shortage import is_shortage

    detail = each.detail

    def find() -> tuple[DetailFound, ...]:
        made = each.detector.find(image, wanted=(detail.label,), least_score=detail.confidence)
        boxes: dict[Box, float] = {}
        for corners, score in zip(made.boxes.tolist(), made.scores.tolist(), strict=True):
            box = _whole_pixels(corners, image.size)
            large = min(box[2] - box[0], box[3] - box[1]) >= SMALLEST
            if large and all(_overlap(box, other) < _SAME for other in boxes):
                boxes[box] = score
        return tuple(DetailFound(label=detail.label, box=box, score=round(score, 4)) for box, score in boxes.items())

    try:
        with placement.hosting(each.detector.network, device) as guest, guest.counting():
            return find()[:MOST_FOUND]
    except Exception as error:
        if not is_shortage(error):
            raise
    return find()[:MOST_FOUND]


def _whole_pixels(box: Sequence[float], size: tuple[int, int]) -> Box:
    left, top, right, bottom = box
    end = (min(size[0], math.ceil(right)), min(size[1], math.ceil(bottom)))
    return (max(0, math.floor(left)), max(0, math.floor(top)), *end)


def _overlap(one: Box, other: Box) -> float:
    """Area of the intersection of two boxes over that of their union."""
    sides = (min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1]))
    common = max(0, sides[0]) * max(0, sides[1])
    areas = ((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return common / (sum(areas) - common)
