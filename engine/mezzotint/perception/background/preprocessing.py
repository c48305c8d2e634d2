"""What a network is given: colours normalized as its `preprocessor_config.json` says, or as its kind usually is."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.looking_folder import PREPROCESSOR_FILE
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file
from mezzotint.checkpoints.strict_json import read_json_object
from mezzotint.errors import ModelRefused

Colour = tuple[float, float, float]

_MAX_CONFIG = 64 * 2**10
_LARGEST = 1000.0  # of a mean or deviation


@dataclass(frozen=True, slots=True)
class Normalization:
    """Colours 0..1 minus a mean, divided by a deviation."""

    mean: Colour = (0.485, 0.456, 0.406)  # of ImageNet, as for U2-Net and BiRefNet
    deviation: Colour = (0.229, 0.224, 0.225)


_OF_ISNET = Normalization((0.5, 0.5, 0.5), (1.0, 1.0, 1.0))  # as its authors' code has it


def normalization_of(path: Path) -> Normalization:
    """The normalization that a network needs; raises ModelRefused for a damaged configuration.

    It is beside the file, or above it: hubs keep ONNX files in a folder of their own.
    """
    config = next((each for each in (path.parent, path.parent.parent) if is_file(each / PREPROCESSOR_FILE)), None)
    if config is None:
        return _OF_ISNET if "isnet" in path.stem.lower() else Normalization()
    file = config / PREPROCESSOR_FILE
    said = read_json_object(file, _MAX_CONFIG)
    if said.get("do_normalize") is False:
        return Normalization((0.0, 0.0, 0.0), (1.0, 1.0, 1.0))
    usual = Normalization()
    deviation = _colour(file, said, "image_std", usual.deviation)
    if not all(deviation):
        raise ModelRefused(f"{plain(file, 300)}: image_std is {plain(deviation)}; a deviation cannot be 0")
    return Normalization(_colour(file, said, "image_mean", usual.mean), deviation)


def _colour(file: Path, said: Mapping[str, object], name: str, usual: Colour) -> Colour:
    value = said.get(name, list(usual))
    numbers = value if isinstance(value, list) else []
    if len(numbers) != 3 or not all(type(one) in (int, float) and abs(one) <= _LARGEST for one in numbers):
        raise ModelRefused(f"{plain(file, 300)}: {name} is {plain(value, 80)}; expected three numbers")
    return float(numbers[0]), float(numbers[1]), float(numbers[2])
