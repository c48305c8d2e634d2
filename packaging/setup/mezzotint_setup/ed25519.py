"""Ed25519 signatures are verified here, since a bare Python has nothing that could: RFC 8032, section 5.1.

Verification alone has no secrets, so it may take a time that depends on its input. Signing is left to OpenSSL.
"""

import hashlib

PUBLIC_BYTES, SIGNATURE_BYTES = 32, 64
_P = 2**255 - 19  # the field
_L = 2**252 + 27742317777372353535851937790883648493  # the order of the base point
_D = -121665 * pow(121666, -1, _P) % _P  # of the curve -x^2 + y^2 = 1 + d x^2 y^2
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)
_SIGN = 1 << 255

_Point = tuple[int, int, int, int]  # X, Y, Z, T of section 5.1.4: x = X / Z, y = Y / Z, x y = T / Z
_NEUTRAL: _Point = (0, 1, 1, 0)


def is_signed(message: bytes, signature: bytes, public: bytes) -> bool:
    """Whether the owner of a public key has signed a message: [S]B = R + [k]A, section 5.1.7."""
    if len(signature) != SIGNATURE_BYTES or len(public) != PUBLIC_BYTES:
        return False
    commitment, owner = _point(signature[:32]), _point(public)
    scalar = int.from_bytes(signature[32:], "little")
    if commitment is None or owner is None or scalar >= _L:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % _L
    return _same(_times(scalar, _BASE), _sum(commitment, _times(challenge, owner)))


def _point(encoded: bytes) -> _Point | None:
    """Section 5.1.3: the point of 32 bytes; None if they encode none, or not in the one way that is allowed."""
    number = int.from_bytes(encoded, "little")
    y, is_odd = number & (_SIGN - 1), number >> 255
    if y >= _P:
        return None
    above, below = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = above * pow(below, 3, _P) * pow(above * pow(below, 7, _P), (_P - 5) // 8, _P) % _P
    if (below * x * x - above) % _P:
        x = x * _ROOT_OF_MINUS_ONE % _P
    if (below * x * x - above) % _P or (x == 0 and is_odd):
        return None
    x = _P - x if x & 1 != is_odd else x
    return x, y, 1, x * y % _P


def _sum(one: _Point, other: _Point) -> _Point:
    """Section 5.1.4: addition, which also doubles."""
    a = (one[1] - one[0]) * (other[1] - other[0]) % _P
    b = (one[1] + one[0]) * (other[1] + other[0]) % _P
    c = 2 * _D * one[3] * other[3] % _P
    d = 2 * one[2] * other[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(number: int, point: _Point) -> _Point:
    total = _NEUTRAL
    while number:
        if number & 1:
            total = _sum(total, point)
        point, number = _sum(point, point), number >> 1
    return total


def _same(one: _Point, other: _Point) -> bool:
    return all((one[part] * other[2] - other[part] * one[2]) % _P == 0 for part in (0, 1))


def _base() -> _Point:
    """The base point: y = 4/5, and the even x."""
    found = _point((4 * pow(5, -1, _P) % _P).to_bytes(32, "little"))
    assert found is not None  # noqa: S101  a constant of the curve
    return found


_BASE = _base()
