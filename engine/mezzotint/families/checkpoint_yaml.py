"""The YAML beside a checkpoint, as A1111 reads it: what the network predicts, and settings that are not followed.

Its tensors tell how the network is built, so only settings that they do not tell are looked at.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import is_file, read_limited
from mezzotint.errors import ModelRefused, StorageError
from mezzotint.protocol import PredictionType

_SUFFIXES = (".yaml", ".yml")
_LARGEST = 2**18  # bytes
_MOST_BRACKETS = 1000  # nested ones take quadratic time
_MOST_VALUES = 10_000  # of the document, with those that aliases repeat
_PREDICTIONS: Mapping[object, PredictionType] = {"eps": "epsilon", "v": "v_prediction"}
_SCALINGS: Mapping[str, PredictionType] = {"EpsScaling": "epsilon", "VScaling": "v_prediction"}
_USUAL: Mapping[str, tuple[object, ...]] = {  # that the program does, as nearly all models want it
    "linear_start": (0.00085,),
    "linear_end": (0.012,),
    "timesteps": (1000,),
    "num_idx": (1000,),
    "scale_factor": (0.18215, 0.13025),
    "layer": ("last", "hidden", "penultimate"),
    "layer_idx": (11, -1, None),
    "rescale_betas_zero_snr": (False,),
    "zero_terminal_snr": (False,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointYaml:
    """What a YAML says beside what tensors tell."""

    name: str
    prediction: PredictionType | None = None
    unused: tuple[str, ...] = ()  # settings that are not followed, or why nothing of it is


def yaml_beside(checkpoint: Path) -> CheckpointYaml | None:
    """The YAML with a checkpoint's name; None if there is none."""
    path = next((each for each in map(checkpoint.with_suffix, _SUFFIXES) if is_file(each)), None)
    return None if path is None else _read(path)


def _read(path: Path) -> CheckpointYaml:
    import yaml

    name = plain(path.name, 200)
    try:
        content = read_limited(path, _LARGEST)
        if content.count(b"[") + content.count(b"{") > _MOST_BRACKETS:
            raise ValueError(f"more than {_MOST_BRACKETS} opening brackets")
        values = list(_values(yaml.safe_load(content)))
    except (yaml.YAMLError, ValueError, RecursionError, ModelRefused, StorageError) as error:
        return CheckpointYaml(name=name, unused=(f"{name}, which cannot be read ({plain(error, 120)})",))
    said = [found for key, value in values if (found := _prediction(key, value)) is not None]
    odd = [f"{key}: {plain(value, 40)} in {name}" for key, value in values if not _is_followed(key, value)]
    return CheckpointYaml(name=name, prediction=said[-1] if said else None, unused=tuple(dict.fromkeys(odd)))


def _values(document: object) -> Iterator[tuple[str, object]]:
    """Every key with a plain value, at any depth; raises ValueError for more than a model's configuration has."""
    pending, seen = [("", document)], 0
    while pending:
        key, value = pending.pop()
        seen += 1
        if seen > _MOST_VALUES:
            raise ValueError(f"more than {_MOST_VALUES} values")
        if isinstance(value, dict):
            pending += [(str(name), each) for name, each in value.items()]
        elif isinstance(value, list):
            pending += [("", each) for each in value]
        else:
            yield key, value


def _prediction(key: str, value: object) -> PredictionType | None:
    if key == "parameterization":
        return _PREDICTIONS.get(value) if isinstance(value, str) else None
    return _SCALINGS.get(value.rpartition(".")[2]) if key == "target" and isinstance(value, str) else None


def _is_followed(key: str, value: object) -> bool:
    """Whether a setting is one that is followed, or that tensors tell."""
    if key == "parameterization":
        return _prediction(key, value) is not None
    if key == "target" and isinstance(value, str) and "denoiser_scaling." in value:
        return _prediction(key, value) is not None
    return key not in _USUAL or value in _USUAL[key]
