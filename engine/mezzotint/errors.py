"""Every error a person can cause or meet: what happened, the value seen, what to do."""

import sys


class MezzotintError(Exception):
    """An error that is told in one line and ends a command with `exit_code`."""

    kind = "failed"
    exit_code = 1


class UsageError(MezzotintError):
    """An option or value that cannot work."""

    kind = "usage"
    exit_code = 2


class UnknownModel(UsageError):
    """No model of that name or path was found."""

    kind = "unknown_model"


class OutOfMemory(MezzotintError):
    """The machine has less memory than the work needs."""

    kind = "out_of_memory"
    exit_code = 4


class ModelRefused(MezzotintError):
    """A model file or folder that is damaged, unsafe or of no known kind."""

    kind = "model_refused"
    exit_code = 5


class NoDevice(MezzotintError):
    """The wanted device is absent or cannot be used."""

    kind = "no_device"
    exit_code = 6


class DeviceLost(MezzotintError):
    """The device's driver has given up on this process; a new one may go on."""

    kind = "device_lost"
    exit_code = 86


class StorageError(MezzotintError):
    """A file or folder that cannot be read or written."""

    kind = "storage"
    exit_code = 7


class ImageRefused(StorageError):
    """An image that cannot be read, or is too large to read safely."""

    kind = "image_refused"


class DownloadFailed(MezzotintError):
    """A model that could not be fetched: no connection, or not what was announced."""

    kind = "download"


class AccessRefused(DownloadFailed):
    """The place that a model is fetched from asks for an agreement, or for a token."""

    kind = "needs_token"


class ProtocolError(MezzotintError):
    """A message that does not have the shape that the boundary states."""

    kind = "protocol"


class Cancelled(MezzotintError):
    """The person stopped the work."""

    kind = "cancelled"
    exit_code = 130


class Busy(MezzotintError):
    """One job runs already."""

    kind = "busy"


class Locked(MezzotintError):
    """Another run makes images in the same folder."""

    kind = "locked"
    exit_code = 8


class NoPySide6(MezzotintError):
    """The window is asked for where PySide6 is not installed."""

    def __init__(self) -> None:
        install = f'{sys.executable} -m pip install "PySide6-Essentials>=6.8,<6.12"'
        super().__init__(f"the window needs PySide6, which is not installed: {install}")
