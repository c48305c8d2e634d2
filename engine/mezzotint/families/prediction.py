"""What a single-file checkpoint's network predicts: by its tensors, its metadata, the YAML beside it, or its name."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mezzotint.checkpoints.header import Header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.errors import ModelRefused
from mezzotint.families.checkpoint_yaml import CheckpointYaml
from mezzotint.families.known import supported
from mezzotint.families.name_words import said_in
from mezzotint.parsed import Guess
from mezzotint.protocol import PredictionType

_NOTHING = "nothing says otherwise"
_TRUE = ("true", "1", "yes")
_V_FLAGS = ("ss_v_parameterization", "ss_v_prediction", "ss_v_pred")
_TYPES: Mapping[str, PredictionType] = {
    **dict.fromkeys(("v", "v_prediction", "v-prediction"), "v_prediction"),
    **dict.fromkeys(("epsilon", "eps"), "epsilon"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """What a network was trained to predict, and what says so."""

    type: PredictionType
    zero_snr: bool
    reason: str = _NOTHING
    guess: Guess | None = None  # if neither tensors nor metadata say so


def prediction_of_file(header: Header, words: str, beside: CheckpointYaml | None) -> Prediction:
    """What a file's network predicts, given the words of its name; raises ModelRefused for what cannot be run."""
    if any(name in header.tensors for name in ("edm_mean", "edm_std", "edm_vpred.sigma_max")):
        raise _refused(header, "models trained on EDM noise (Playground, CosXL) cannot be run")
    if said_in(words, "1 ?step x ?0"):
        raise _refused(header, "one-step models that predict the image (x0) cannot be run")
    zero_snr = "ztsnr" in header.tensors or _true(header.metadata, "ss_zero_terminal_snr")
    if "v_pred" in header.tensors:
        return Prediction(type="v_prediction", zero_snr=zero_snr, reason="its tensor v_pred")
    if said := _said_in_metadata(header.metadata):
        return Prediction(type=said[0], zero_snr=zero_snr, reason=f"its metadata, {said[1]}")
    return replace(_assumed(words, beside), zero_snr=zero_snr)


def unfollowed(beside: CheckpointYaml | None, found: Prediction) -> tuple[str, ...]:
    """The settings of a YAML that are not followed."""
    if beside is None or beside.prediction in (None, found.type):
        return () if beside is None else beside.unused
    return (*beside.unused, f"the prediction type in {beside.name}, because of {found.reason}")


def _said_in_metadata(metadata: Mapping[str, str]) -> tuple[PredictionType, str] | None:
    """What a file's metadata say that it predicts, and the key; None if they do not."""
    said = metadata.get("modelspec.prediction_type", "").lower()
    if said in _TYPES:
        return _TYPES[said], "modelspec.prediction_type"
    flag = next((name for name in _V_FLAGS if _true(metadata, name)), None)
    return None if flag is None else ("v_prediction", flag)


def _assumed(words: str, beside: CheckpointYaml | None) -> Prediction:
    """What a file predicts by what lies beside it or by its name, which is said."""
    if beside is not None and beside.prediction is not None:
        return _guessed(beside.prediction, f"{beside.name} beside it")
    said = said_in(words, r"v ?pred(?:iction)?|v ?parameterization")
    return (
        Prediction(type="epsilon", zero_snr=False)
        if said is None
        else _guessed("v_prediction", f"'{said}' in its name")
    )


def _guessed(prediction: PredictionType, reason: str) -> Prediction:
    guess = Guess(assumed=prediction, reason=reason, option="--prediction-type")
    return Prediction(type=prediction, zero_snr=False, reason=reason, guess=guess)


def _true(metadata: Mapping[str, str], name: str) -> bool:
    return metadata.get(name, "").lower() in _TRUE


def _refused(header: Header, what: str) -> ModelRefused:
    return ModelRefused(f"{plain(header.path, 300)}: {what}. {supported()}")
