"""What failures mean in plain words: what happened, and what to do."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from mezzotint_app.service import GONE, NOT_RUNNING, Failure

translate = QCoreApplication.translate

# Of the system's numbers for a full disk, as trouble.py tells them.
_WANT_OF_SPACE = "free some space"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A failure as a person reads it. `detail` is foreign text: plain, and never markup."""

    title: str
    detail: str  # what the engine said
    advice: str  # empty: the detail says it


def explained(failure: Failure) -> Explanation:
    """The words for a failure of any kind."""
    told = _WORDS.get(failure.kind, _failed)
    title, advice = told()
    if is_for_want_of_space(failure):
        title, advice = _disk_full()
    return Explanation(title=title, detail=failure.message, advice=advice)


def in_one_line(failure: Failure) -> str:
    """For a list or a status line."""
    words = explained(failure)
    return f"{words.title} {words.detail}".strip()


def is_for_want_of_space(failure: Failure) -> bool:
    """Whether nothing is wrong but that the disk is full."""
    return failure.kind == "storage" and _WANT_OF_SPACE in failure.message


Words = tuple[str, str]


def _failed() -> Words:
    return (
        translate("Errors", "It did not work."),
        translate("Errors", "Try again; the log may tell more."),
    )


def _usage() -> Words:
    return translate("Errors", "A setting cannot work."), translate("Errors", "Change it and try again.")


def _unknown_model() -> Words:
    return (
        translate("Errors", "The model was not found."),
        translate("Errors", "Choose another on the Models page, or add the folder that it lies in."),
    )


def _out_of_memory() -> Words:
    return (
        translate("Errors", "There was not enough memory."),
        translate(
            "Errors",
            "Choose a smaller size, a stronger quantization, or the lowest memory setting; "
            "or close other programs and try again.",
        ),
    )


def _model_refused() -> Words:
    return (
        translate("Errors", "The model cannot be used."),
        translate("Errors", "Verify it on the Models page, or get it again."),
    )


def _no_device() -> Words:
    return (
        translate("Errors", "The chosen device cannot be used."),
        translate("Errors", "Choose another device in the settings."),
    )


def _device_lost() -> Words:
    return (
        translate("Errors", "The GPU's driver gave up."),
        translate("Errors", "It is tried again by itself. If it comes back, update the driver, or use another device."),
    )


def _storage() -> Words:
    return translate("Errors", "A file or folder could not be used."), ""


def _disk_full() -> Words:
    return (
        translate("Errors", "The disk is full."),
        translate("Errors", "Free some space, or choose another folder in the settings; then go on."),
    )


def _image_refused() -> Words:
    return translate("Errors", "The picture cannot be read."), translate("Errors", "Choose another one.")


def _protocol() -> Words:
    return (
        translate("Errors", "The window and the engine did not understand each other."),
        translate("Errors", "Try again. If it comes back, install Mezzotint again."),
    )


def _cancelled() -> Words:
    return translate("Errors", "Stopped."), ""


def _busy() -> Words:
    return translate("Errors", "The engine is busy."), translate("Errors", "Wait until it is done.")


def _locked() -> Words:
    return (
        translate("Errors", "Another program is making this batch."),
        translate("Errors", "Wait until it is done, or end it there."),
    )


def _bug() -> Words:
    return (
        translate("Errors", "Mezzotint made a mistake."),
        translate("Errors", "The log has the details: please report it."),
    )


def _download() -> Words:
    return (
        translate("Errors", "It could not be fetched."),
        translate("Errors", "Try again: what is already here is kept, and it goes on from there."),
    )


def _needs_token() -> Words:
    return (
        translate("Errors", "The hub gives this model only to those who have agreed to its terms."),
        translate("Errors", "Agree on its page, make a token there, and put it into the dialog."),
    )


def _gone() -> Words:
    return (
        translate("Errors", "The engine ended before it was done."),
        translate("Errors", "It is started again by itself, and what it worked at is tried once more."),
    )


def _not_running() -> Words:
    return (
        translate("Errors", "The engine does not run."),
        translate("Errors", "Start it again in the status line; the log tells why it ended."),
    )


_WORDS: dict[str, Callable[[], Words]] = {
    "failed": _failed,
    "usage": _usage,
    "unknown_model": _unknown_model,
    "out_of_memory": _out_of_memory,
    "model_refused": _model_refused,
    "no_device": _no_device,
    "device_lost": _device_lost,
    "storage": _storage,
    "image_refused": _image_refused,
    "protocol": _protocol,
    "cancelled": _cancelled,
    "busy": _busy,
    "locked": _locked,
    "download": _download,
    "needs_token": _needs_token,
    "bug": _bug,
    GONE: _gone,
    NOT_RUNNING: _not_running,
}
