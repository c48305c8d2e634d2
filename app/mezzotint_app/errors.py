"""User-facing explanations of failures: what happened, and what to do."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from mezzotint_app.processes.service import GONE, NOT_RUNNING, Failure

translate = QCoreApplication.translate

# The part of trouble.py's messages that identifies a full disk.
_WANT_OF_SPACE = "free some space"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """A failure as shown to the user. `detail` is untrusted plain text, never markup."""

    title: str
    detail: str  # the engine's message
    advice: str  # empty if `detail` already says it


def explained(failure: Failure) -> Explanation:
    """Explain a failure of any kind."""
    explain = _WORDS.get(failure.kind, _failed)
    title, advice = explain()
    if is_for_want_of_space(failure):
        title, advice = _disk_full()
    return Explanation(title=title, detail=failure.message, advice=advice)


def in_one_line(failure: Failure) -> str:
    """The failure in one line, for a list or a status line."""
    words = explained(failure)
    return f"{words.title} {words.detail}".strip()


def is_for_want_of_space(failure: Failure) -> bool:
    """Whether the failure was caused by a full disk."""
    return failure.kind == "storage" and _WANT_OF_SPACE in failure.message


Words = tuple[str, str]


def _failed() -> Words:
    return (
        translate("Errors", "The operation failed."),
        translate("Errors", "Try again; the log may have details."),
    )


def _no_engine() -> Words:
    return translate("Errors", "No engine is installed."), ""


def _usage() -> Words:
    return translate("Errors", "A setting is invalid."), translate("Errors", "Change it and try again.")


def _dataset_changed() -> Words:
    return (
        translate("Errors", "The images or captions have changed since this run began."),
        translate("Errors", "Undo the changes, or resume with the images as they are now."),
    )


def _process_lost() -> Words:
    return (
        translate("Errors", "Training has lost one of its processes."),
        translate("Errors", "The log says why. Resume the training."),
    )


def _unknown_model() -> Words:
    return (
        translate("Errors", "The model was not found."),
        translate("Errors", "Choose another model on the Models page, or add the folder that contains it."),
    )


def _out_of_memory() -> Words:
    return (
        translate("Errors", "Not enough memory."),
        translate(
            "Errors",
            "Choose a smaller size, stronger quantization or the lowest memory setting, or close other "
            "programs and try again.",
        ),
    )


def _model_refused() -> Words:
    return (
        translate("Errors", "The model cannot be used."),
        translate("Errors", "Verify its files on the Models page, or download it again."),
    )


def _no_device() -> Words:
    return (
        translate("Errors", "The selected device cannot be used."),
        translate("Errors", "Choose another device in the settings."),
    )


def _device_lost() -> Words:
    return (
        translate("Errors", "The graphics driver failed."),
        translate(
            "Errors", "It is retried automatically. If this happens again, update the driver or use another device."
        ),
    )


def _storage() -> Words:
    return translate("Errors", "A file or folder could not be accessed."), ""


def _disk_full() -> Words:
    return (
        translate("Errors", "The disk is full."),
        translate("Errors", "Free some space or choose another folder in the settings, then resume."),
    )


def _image_refused() -> Words:
    return translate("Errors", "The image cannot be read."), translate("Errors", "Choose another image.")


def _protocol() -> Words:
    return (
        translate("Errors", "The window and the engine exchanged an invalid message."),
        translate("Errors", "Try again. If this happens again, reinstall Mezzotint."),
    )


def _cancelled() -> Words:
    return translate("Errors", "Cancelled."), ""


def _busy() -> Words:
    return translate("Errors", "The engine is busy."), translate("Errors", "Wait until it has finished.")


def _locked() -> Words:
    return (
        translate("Errors", "Another program is running this batch."),
        translate("Errors", "Wait until it has finished, or stop it there."),
    )


def _bug() -> Words:
    return (
        translate("Errors", "Internal error in Mezzotint."),
        translate("Errors", "Please report it; the log has the details."),
    )


def _download() -> Words:
    return (
        translate("Errors", "The download failed."),
        translate("Errors", "Try again: what is already downloaded is kept, and the download resumes from there."),
    )


def _needs_token() -> Words:
    return (
        translate("Errors", "This model is gated: its terms must be accepted first."),
        translate("Errors", "Accept the terms on its page, create an access token there, and enter it in the dialog."),
    )


def _gone() -> Words:
    return (
        translate("Errors", "The engine stopped before it had finished."),
        translate("Errors", "It restarts automatically, and the interrupted task is retried once."),
    )


def _not_running() -> Words:
    return (
        translate("Errors", "The engine is not running."),
        translate("Errors", "Press Restart in the notice above the page; the log says why it stopped."),
    )


_WORDS: dict[str, Callable[[], Words]] = {
    "failed": _failed,
    "usage": _usage,
    "dataset_changed": _dataset_changed,
    "process_lost": _process_lost,
    "unknown_model": _unknown_model,
    "out_of_memory": _out_of_memory,
    "model_refused": _model_refused,
    "no_device": _no_device,
    "no_engine": _no_engine,
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
