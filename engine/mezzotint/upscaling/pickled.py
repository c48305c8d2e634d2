"""Upscalers in PyTorch's pickles (.pth): converted once, in a child process that reads nothing but tensors."""

import subprocess
import sys
import zipfile
from pathlib import Path

from mezzotint import paths
from mezzotint.atomic import atomic_write
from mezzotint.checkpoints.fingerprint import fingerprint
from mezzotint.checkpoints.plain_text import plain, size
from mezzotint.checkpoints.regular_file import is_file, open_regular
from mezzotint.errors import Cancelled, ModelRefused
from mezzotint.protocol import IsCancelled
from mezzotint.trouble import storage_error

MAX_FILE = 2 * 2**30  # bytes: the largest that are published have 1.3 GB
_LOOK_EVERY = 0.1  # seconds between cancellation checks
_WRAPPERS = ("params_ema", "params-ema", "params", "state_dict", "model_state_dict", "model")


def converted(path: Path, cancelled: IsCancelled = lambda: False) -> Path:
    """The safetensors file with a pickle's tensors, in the cache; raises ModelRefused for anything but tensors."""
    bytes_ = _unpacked_bytes(path)
    if bytes_ > MAX_FILE:
        raise ModelRefused(f"{plain(path, 300)}: {size(bytes_)} are too much for an upscaler; at most {size(MAX_FILE)}")
    used = fingerprint(path, paths.cache_folder() / "fingerprints.json", cancelled=cancelled)
    target = paths.cache_folder() / "converted" / f"{used.sha256}.safetensors"
    if not is_file(target):
        data = _in_child(path, cancelled)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise storage_error("create the folder", target.parent, error) from error
        atomic_write(target, data, overwrite=True)
    return target


def _unpacked_bytes(path: Path) -> int:
    """Size of the file, or of what is packed in it: newer pickles are zip archives."""
    with open_regular(path) as file:
        bytes_ = file.seek(0, 2)
        try:
            with zipfile.ZipFile(file) as archive:
                return max(bytes_, sum(each.file_size for each in archive.infolist()))
        except (zipfile.BadZipFile, ValueError, OSError):  # an older one, or damaged, which the child will say
            return bytes_


def _in_child(path: Path, cancelled: IsCancelled) -> bytes:
    """The file as safetensors, by a process of its own."""
    process = subprocess.Popen(  # noqa: S603  our own interpreter with our own module
        [sys.executable, "-P", "-m", __name__, str(path)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        while True:
            try:
                data, log = process.communicate(timeout=_LOOK_EVERY)
                break
            except subprocess.TimeoutExpired:
                if cancelled():
                    process.kill()
                    raise Cancelled("stopped while an upscaler was converted") from None
    if process.returncode:
        lines = log.decode("utf-8", "replace").strip().splitlines() or ["no reason given"]
        raise ModelRefused(
            f"{plain(path, 300)}: not a file of plain tensors, so it is not opened ({plain(lines[-1], 200)}); "
            "get the safetensors version"
        )
    return data


def _main(path: str) -> None:
    """Write a pickle's tensors as safetensors to stdout; torch's restricted unpickler refuses everything else."""
    import torch
    from safetensors.torch import save

    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # noqa: BLE001  whatever a hostile or damaged file leads to
        raise SystemExit(f"torch refuses it: {type(error).__name__}") from None
    for name in _WRAPPERS:
        if isinstance(found, dict) and isinstance(found.get(name), dict):
            found = found[name]
            break
    if not isinstance(found, dict) or not all(isinstance(each, torch.Tensor) for each in found.values()):
        raise SystemExit("it holds something other than named tensors")
    sys.stdout.buffer.write(save({str(name): each.clone().contiguous() for name, each in found.items()}))


if __name__ == "__main__":
    _main(sys.argv[1])
