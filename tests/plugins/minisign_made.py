"""Keys and signatures in minisign's form, by the plain formulas of RFC 8032."""

import base64
import hashlib

from mezzotint_setup import ed25519


def keypair(seed: bytes) -> tuple[int, bytes, bytes]:
    """The scalar, the prefix and the public key of 32 bytes, section 5.1.5."""
    digest = hashlib.sha512(seed).digest()
    scalar = int.from_bytes(digest[:32], "little") & ~7 & (1 << 254) - 1 | 1 << 254
    return scalar, digest[32:], encoded(scalar)


def encoded(scalar: int) -> bytes:
    """The point that is so many times the base point, section 5.1.2."""
    x, y, z, _ = ed25519._times(scalar, ed25519._BASE)
    inverse = pow(z, -1, ed25519._P)
    x, y = x * inverse % ed25519._P, y * inverse % ed25519._P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def signed(message: bytes, seed: bytes) -> bytes:
    """The signature of a message, section 5.1.6."""
    scalar, prefix, public = keypair(seed)
    secret = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % ed25519._L
    commitment = encoded(secret)
    challenge = int.from_bytes(hashlib.sha512(commitment + public + message).digest(), "little")
    return commitment + ((secret + challenge * scalar) % ed25519._L).to_bytes(32, "little")


def public_line(seed: bytes, number: bytes = b"numbered") -> str:
    """A public key as minisign prints it."""
    return base64.b64encode(b"Ed" + number + keypair(seed)[2]).decode()


def minisig(content: bytes, seed: bytes, number: bytes = b"numbered", comment: str = "index", algorithm: bytes = b"ED"):
    """The signature's file."""
    signature = signed(hashlib.blake2b(content).digest(), seed)
    lines = ["untrusted comment: x", base64.b64encode(algorithm + number + signature).decode()]
    lines += [f"trusted comment: {comment}", base64.b64encode(signed(signature + comment.encode(), seed)).decode()]
    return "\n".join(lines) + "\n"
