"""All errors shown to users: what happened, the offending value, what to do."""

import sys
from collections.abc import Sequence


class MezzotintError(Exception):
    """An error shown in one line; a command exits with `exit_code`."""

    kind = "failed"
    exit_code = 1


class UsageError(MezzotintError):
    """An invalid option or value."""

    kind = "usage"
    exit_code = 2


class DatasetChanged(UsageError):
    """The images of a training are no longer those that it began with."""

    kind = "dataset_changed"


class UnknownModel(UsageError):
    """No model with that name or path was found."""

    kind = "unknown_model"


class OutOfMemory(MezzotintError):
    """The work needs more memory than there is."""

    kind = "out_of_memory"
    exit_code = 4


class ModelRefused(MezzotintError):
    """A model file or folder that is damaged, unsafe or of unknown type."""

    kind = "model_refused"
    exit_code = 5


class NoDevice(MezzotintError):
    """The requested device is absent or unusable."""

    kind = "no_device"
    exit_code = 6


class DeviceLost(MezzotintError):
    """The device's driver failed for this process; a new process may work."""

    kind = "device_lost"
    exit_code = 86


class ProcessLost(MezzotintError):
    """Another process of the same work has ended; its own error says why."""

    kind = "process_lost"
    exit_code = 87


class ImageOverflowed(MezzotintError):
    """What a VAE made contains NaN or infinity."""


class StorageError(MezzotintError):
    """A file or folder that cannot be read or written."""

    kind = "storage"
    exit_code = 7


class ImageRefused(StorageError):
    """An image that cannot be read, or is too large to read safely."""

    kind = "image_refused"


class DownloadFailed(MezzotintError):
    """A model that could not be downloaded: no connection, or unexpected content."""

    kind = "download"


class AccessRefused(DownloadFailed):
    """The download source requires an agreement or a token."""

    kind = "needs_token"


class ProtocolError(MezzotintError):
    """A message that does not match the protocol."""

    kind = "protocol"


class Cancelled(MezzotintError):
    """The user cancelled the work."""

    kind = "cancelled"
    exit_code = 130


class Busy(MezzotintError):
    """A job is already running."""

    kind = "busy"


class Locked(MezzotintError):
    """Another run is writing to the same folder."""

    kind = "locked"
    exit_code = 8


class NoEngine(MezzotintError):
    """The libraries that make images are not installed."""

    kind = "no_engine"

    def __init__(self, packages: Sequence[str]) -> None:
        super().__init__(
            f"no engine is installed here, so no images can be made (missing: {', '.join(packages)}): "
            "install an engine in the window, or install Mezzotint again; `mezzotint doctor` shows more"
        )


class NoPySide6(MezzotintError):
    """The window was requested but PySide6 is not installed."""

    def __init__(self) -> None:
        install = f'{sys.executable} -m pip install "PySide6-Essentials>=6.8,<6.12"'
        super().__init__(f"the window needs PySide6, which is not installed: {install}")
