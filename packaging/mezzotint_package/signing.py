"""`python -m mezzotint_package.signing`: the key of updates, and the signature of their index, in minisign's form."""

import argparse
import base64
import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from mezzotint_package.errors import PackagingError
from mezzotint_setup.ed25519 import PUBLIC_BYTES
from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.signature import (
    HASHED_ALGORITHM,
    KEY_ALGORITHM,
    NUMBER_BYTES,
    SUFFIX,
    TRUSTED,
    PublicKey,
    check_signature,
)

PUBLIC_KEY = "updates.pub"  # in packaging/
_FOLDER = Path(__file__).parents[1]


def make_key(private: Path, public: Path) -> None:
    """Make a key: the private part for whoever signs, the public one for the payloads. Replaces neither."""
    for path in (private, public):
        if path.exists():
            raise PackagingError(f"{path} is there already, and copies that trust it would refuse another key")
    descriptor = os.open(private, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(_openssl("genpkey", "-algorithm", "ed25519"))
    public.write_text(public_key(private), "utf-8")


def public_key(private: Path) -> str:
    """The public part of a key, as minisign writes it; its number is the beginning of its hash."""
    key = _openssl("pkey", "-in", str(private), "-pubout", "-outform", "DER")[-PUBLIC_BYTES:]
    number = hashlib.sha256(key).digest()[:NUMBER_BYTES]
    line = base64.b64encode(KEY_ALGORITHM + number + key).decode()
    return f"untrusted comment: minisign public key {number.hex()}\n{line}\n"


def sign(path: Path, private: Path, trusted: str) -> Path:
    """Write the signature of a file beside it, with that key and a comment that is signed, too."""
    public, content = public_key(private), path.read_bytes()
    signed = _signature(hashlib.blake2b(content).digest(), private)
    comment = _signature(signed + trusted.encode(), private)
    data = base64.b64encode(HASHED_ALGORITHM + PublicKey.read(public).number + signed).decode()
    lines = (
        f"untrusted comment: signature of {path.name}",
        data,
        TRUSTED + trusted,
        base64.b64encode(comment).decode(),
    )
    text = "\n".join(lines) + "\n"
    check_signature(content, text, public, path.name)
    target = path.with_name(path.name + SUFFIX)
    target.write_text(text, "utf-8")
    return target


def main() -> int:
    """Make a key, or sign a file."""
    parser = argparse.ArgumentParser(
        prog="python -m mezzotint_package.signing", description="Sign the index of updates."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    key = commands.add_parser("key", help="make a key, once")
    signing = commands.add_parser("sign", help="write FILE.minisig")
    signing.add_argument("file", type=Path)
    for each in (key, signing):
        each.add_argument(
            "--private", type=Path, required=True, help="the private key, in PEM; never in the repository"
        )
        each.add_argument("--public", type=Path, default=_FOLDER / PUBLIC_KEY, help="default: packaging/updates.pub")
    chosen = parser.parse_args()
    try:
        if chosen.command == "key":
            make_key(chosen.private, chosen.public)
            print(chosen.public)
        else:
            _check_same(chosen.private, chosen.public)
            print(sign(chosen.file, chosen.private, chosen.file.name))
    except (PackagingError, SetupFailed, ValueError) as error:
        return _failed(str(error))
    except OSError as error:
        return _failed(f"{error.filename or 'a file'}: {error.strerror or error}")
    return 0


def _check_same(private: Path, public: Path) -> None:
    """What other keys sign would be refused everywhere."""
    if PublicKey.read(public.read_text("utf-8")) != PublicKey.read(public_key(private)):
        raise PackagingError(f"{public} is not the public part of {private}, so every copy would refuse the signature")


def _signature(message: bytes, private: Path) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / "message").write_bytes(message)
        return _openssl("pkeyutl", "-sign", "-rawin", "-inkey", str(private), "-in", str(path))


def _openssl(*words: str) -> bytes:
    done = subprocess.run(["openssl", *words], capture_output=True, check=False)  # noqa: S607  from PATH
    if done.returncode:
        why = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise PackagingError(f"openssl {words[0]} failed: {why}")
    return done.stdout


def _failed(why: str) -> int:
    print(f"sign: {why}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
