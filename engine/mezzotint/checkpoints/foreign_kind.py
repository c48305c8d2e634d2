"""Identifies a file that is not safetensors by its first bytes, so that the error message can name it."""

from pathlib import Path

from mezzotint.checkpoints.plain_text import plain

_CONVERT = "convert it to safetensors with a tool you trust, or get the safetensors version"
_PICKLE_OPCODES = b"c(}]l}K(X\x8a\x95"  # first opcodes of a protocol 2 to 5 stream, after the protocol number

PICKLE_SUFFIXES = frozenset({".ckpt", ".pt", ".pth", ".bin", ".pkl", ".pickle"})


def foreign_kind(start: bytes) -> str | None:
    """What the file is and what to do about it, from its first 512 bytes; None if unknown."""
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip().lower()
    if start.startswith(b"version https://git-lfs"):
        return "a Git-LFS pointer, not the file itself: run `git lfs pull` in its repository, or download it again"
    if text.startswith((b"<!doctype", b"<html", b"<head", b"<?xml", b"<body")):
        return "a web page (HTML), not a model: the download needs a login or a licence to be accepted"
    if start.startswith(b"PK\x03\x04"):
        return f"a zip archive, as PyTorch pickles are, which can run code when opened: {_CONVERT}"
    if len(start) > 2 and start[0] == 0x80 and start[1] in (2, 3, 4, 5) and start[2] in _PICKLE_OPCODES:
        return pickle_advice()
    if start.startswith(b"GGUF"):
        return gguf_advice()
    return _plain_kind(start, text)


def gguf_advice() -> str:
    """How to use a GGUF with a single network, if its other components were not found automatically."""
    return (
        "a GGUF file, which holds one network and no whole model: under a name that ends in .gguf it goes into its "
        "model with `--weights FILE`"
    )


def pickle_advice() -> str:
    """Why a pickle is refused, and what to do instead."""
    return f"a pickle, which can run code when opened: {_CONVERT}"


def is_pickle_name(path: Path) -> bool:
    """Whether the path has a suffix that pickles have."""
    return path.suffix.lower() in PICKLE_SUFFIXES


def _plain_kind(start: bytes, text: bytes) -> str | None:
    if start.startswith((b"\x1f\x8b", b"7z\xbc\xaf", b"Rar!")):
        return "a compressed archive: unpack it first"
    if start.startswith(b"\x89HDF"):
        return "an HDF5 file, which is not supported: get the safetensors version"
    if start[257:262] == b"ustar":
        return f"a tar archive, as old PyTorch pickles are: {_CONVERT}"
    if text.startswith(b"{"):
        return "JSON text, not a model: perhaps what a server answered instead of the file"
    if text and all(32 <= byte < 127 or byte in b"\t\r\n" for byte in start):
        return f"text, not a model: it begins '{plain(start.decode('ascii').strip().splitlines()[0], 60)}'"
    return None
