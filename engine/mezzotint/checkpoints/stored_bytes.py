"""A byte range of a file, such as a tensor that holds another file."""

from dataclasses import dataclass
from pathlib import Path

from mezzotint.checkpoints.positioned import PositionedFile


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBytes:
    """Where the bytes are; whoever creates it has checked their number."""

    path: Path
    start: int  # bytes from the start of the file
    size: int  # bytes

    def read(self) -> bytes:
        """Read the bytes; raises StorageError if the file cannot be read or is shorter."""
        data = bytearray(self.size)
        file = PositionedFile(self.path)
        try:
            file.read_into(memoryview(data), self.start)
        finally:
            file.close()
        return bytes(data)

    @property
    def stamp(self) -> tuple[str, int, int]:
        """Path, mtime and size of the file; raises OSError if it is gone."""
        found = self.path.stat()
        return str(self.path), found.st_mtime_ns, found.st_size
