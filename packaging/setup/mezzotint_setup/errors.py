"""What can go wrong, and the next step for it."""

import errno

DRIVER_LINK = "https://www.nvidia.com/drivers"


class SetupFailed(Exception):
    """What happened, what to do next, and a short code that the window knows."""

    def __init__(self, code: str, what: str, next_step: str) -> None:
        super().__init__(f"{what}: {next_step}")
        self.code, self.what, self.next_step = code, what, next_step


class Paused(Exception):
    """The user paused; what was downloaded is kept."""


def disk_trouble(error: OSError, where: object) -> SetupFailed:
    """The failure for an error of the disk."""
    what = f"{where} cannot be written ({error.strerror or error})"
    if error.errno in (errno.ENOSPC, errno.EDQUOT) or getattr(error, "winerror", None) in (39, 112):
        return SetupFailed("no_room", f"the disk of {where} is full", "free some space or choose another folder")
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return SetupFailed("read_only", what, "choose a folder that you may write to")
    return SetupFailed("disk", what, "check the disk, or choose another folder")
