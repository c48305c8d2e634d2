"""Reads tensors from safetensors files one by one, with progress and cancellation."""

from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mezzotint.checkpoints.header import read_header
from mezzotint.checkpoints.plain_text import plain
from mezzotint.checkpoints.regular_file import reason
from mezzotint.errors import Cancelled, ModelRefused, StorageError

if TYPE_CHECKING:
    import torch

_ALLOCATOR = "DefaultCPUAllocator"  # in torch's messages where RAM ran out


def read_tensors(
    files: Sequence[Path],
    *,
    on_bytes: Callable[[int], None],
    cancelled: Callable[[], bool],
    names: Container[str] | None = None,
) -> Iterator[tuple[str, "torch.Tensor"]]:
    """Yield the tensors in `names` (None: all) in file order, each with its own memory, on the CPU.

    Every header is checked before the first tensor is read. `on_bytes` is called with the size of each tensor once it
    is read; Cancelled is raised between tensors. Raises ModelRefused if two files contain the same name.
    """
    wanted = [(path, _wanted(path, names)) for path in files]
    seen: set[str] = set()
    for path, sizes in wanted:
        double = seen.intersection(sizes)
        if double:
            raise ModelRefused(f"{plain(path, 300)}: '{plain(min(double), 60)}' is in an earlier file too")
        seen.update(sizes)
    for path, sizes in wanted:
        yield from _read_file(path, sizes, on_bytes, cancelled)


def _wanted(path: Path, names: Container[str] | None) -> dict[str, int]:
    tensors = read_header(path).tensors
    return {name: spec.end - spec.start for name, spec in tensors.items() if names is None or name in names}


def _read_file(
    path: Path, sizes: dict[str, int], on_bytes: Callable[[int], None], cancelled: Callable[[], bool]
) -> Iterator[tuple[str, "torch.Tensor"]]:
    from safetensors import safe_open

    # Plain reads, not a mapping: a mapped file that shrinks, or a large one on Windows, ends the whole process.
    with _storage_errors(path):
        file: Any = safe_open(path, framework="pt", device="cpu", backend="pread")
    with file:
        for name, size in sizes.items():
            if cancelled():
                raise Cancelled(f"Stopped while {plain(path.name)} was read")
            with _storage_errors(path):
                tensor = file.get_tensor(name)
            on_bytes(size)
            yield name, tensor


@contextmanager
def _storage_errors(path: Path) -> Iterator[None]:
    """The errors of the library, and of torch for dtypes that it cannot represent, as ours."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{plain(path, 300)} cannot be read: {reason(error)}") from None
    except Exception as error:
        if isinstance(error, MemoryError) or _ALLOCATOR in str(error):
            raise
        raise ModelRefused(f"{plain(path, 300)} changed meanwhile, or cannot be used: {plain(error)}") from None
