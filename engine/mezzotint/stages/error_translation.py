"""Translate torch's and Python's errors for exhausted memory or a lost device into our own."""

from collections.abc import Iterator
from contextlib import contextmanager

from mezzotint.errors import DeviceLost, MezzotintError, OutOfMemory
from mezzotint.memory.shortage import is_device_shortage, is_lost, is_ram_shortage


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raise OutOfMemory or DeviceLost for errors inside that mean so; other errors propagate."""
    try:
        yield
    except MezzotintError:
        raise
    except (MemoryError, RuntimeError) as error:
        if is_ram_shortage(error):
            raise OutOfMemory(
                f"the machine ran out of memory (RAM): {_first_line(error)}; use a smaller size or close other programs"
            ) from error
        if is_device_shortage(error):
            raise OutOfMemory(f"the GPU ran out of memory: {_first_line(error)}; use a smaller size") from error
        if is_lost(error):
            raise DeviceLost(
                f"the GPU driver failed: {_first_line(error)}; restart; if it happens again, try "
                "--attention sdpa or another driver"
            ) from error
        raise


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0][:200] or type(error).__name__
