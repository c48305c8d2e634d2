"""Signatures of files in minisign's form (https://jedisct1.github.io/minisign), so that anybody can verify them."""

import base64
import binascii
import hashlib
from dataclasses import dataclass

from mezzotint_setup.ed25519 import PUBLIC_BYTES, SIGNATURE_BYTES, is_signed
from mezzotint_setup.errors import SetupFailed

SUFFIX = ".minisig"
LARGEST = 4096  # bytes of a signature's file
KEY_ALGORITHM, HASHED_ALGORITHM = b"Ed", b"ED"  # of a key; of a signature of the file's BLAKE2b hash
NUMBER_BYTES = 8  # by which a key is told from others
TRUSTED = "trusted comment: "


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """A public key and its number."""

    number: bytes
    key: bytes

    @classmethod
    def read(cls, text: str) -> "PublicKey":
        """Read the line that minisign prints, or its file, whose first line is a comment. Raises ValueError."""
        line = text.strip().rpartition("\n")[2]
        data = _bytes(line, len(KEY_ALGORITHM) + NUMBER_BYTES + PUBLIC_BYTES)
        if data[:2] != KEY_ALGORITHM:
            raise ValueError("a key of another kind than Ed25519")
        return cls(number=data[2:10], key=data[10:])


def check_signature(content: bytes, signature: str, key: str, address: str) -> None:
    """Raise SetupFailed unless the owner of the key has signed the content that came from an address."""
    try:
        owner = PublicKey.read(key)
    except ValueError as error:
        raise _failed(f"this copy of Mezzotint has no key to check {address} with ({error})") from None
    try:
        number, signed, comment, signed_comment = _parsed(signature)
    except ValueError as error:
        raise _failed(f"the signature of {address} is not understood ({error})") from None
    if number != owner.number:
        raise _failed(f"{address} is signed by key {number.hex()}, not by Mezzotint's {owner.number.hex()}")
    hashed = hashlib.blake2b(content).digest()
    if not is_signed(hashed, signed, owner.key) or not is_signed(signed + comment, signed_comment, owner.key):
        raise _failed(f"{address} is not what was signed")


def _parsed(text: str) -> tuple[bytes, bytes, bytes, bytes]:
    """The key's number, the signature, the trusted comment and the signature of both. Raises ValueError."""
    lines = text.splitlines()
    if len(lines) != 4 or not lines[2].startswith(TRUSTED):
        raise ValueError("it does not have the four lines of minisign")
    data = _bytes(lines[1], len(HASHED_ALGORITHM) + NUMBER_BYTES + SIGNATURE_BYTES)
    if data[:2] != HASHED_ALGORITHM:
        raise ValueError("it is of another kind than Ed25519 of a BLAKE2b hash")
    comment = lines[2].removeprefix(TRUSTED).encode()
    return data[2:10], data[10:], comment, _bytes(lines[3], SIGNATURE_BYTES)


def _bytes(line: str, count: int) -> bytes:
    try:
        data = base64.b64decode(line.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise ValueError("it is not base64") from None
    if len(data) != count:
        raise ValueError(f"{len(data)} bytes instead of {count}")
    return data


def _failed(what: str) -> SetupFailed:
    return SetupFailed("signature", what, "get the newest installer from Mezzotint's page")
