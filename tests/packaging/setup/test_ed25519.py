"""Verification of Ed25519 against the examples of its specification, and against what is not signed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from minisign_made import keypair, signed

from mezzotint_setup import ed25519
from mezzotint_setup.ed25519 import is_signed

# RFC 8032, section 7.1: secret key, public key, message, signature.
EXAMPLES = [
    (
        "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
    ),
    (
        "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    ),
    (
        "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
    ),
]


@pytest.mark.parametrize(("secret", "public", "message", "signature"), EXAMPLES)
def test_the_examples_of_the_specification(secret, public, message, signature):
    seed, public, message, signature = (bytes.fromhex(one) for one in (secret, public, message, signature))
    assert keypair(seed)[2] == public and signed(message, seed) == signature
    assert is_signed(message, signature, public)
    assert not is_signed(message + b"x", signature, public)
    for index in range(64):
        changed = bytearray(signature)
        changed[index] ^= 1 << index % 8
        assert not is_signed(message, bytes(changed), public)


def test_what_is_not_encoded_in_the_one_way_that_is_allowed():
    public, message, signature = (bytes.fromhex(one) for one in EXAMPLES[1][1:])
    scalar = int.from_bytes(signature[32:], "little") + ed25519._L
    assert not is_signed(message, signature[:32] + scalar.to_bytes(32, "little"), public)
    assert not is_signed(message, signature + b"\0", public) and not is_signed(message, signature, public[:31])
    no_point, too_large, minus_zero = (2).to_bytes(32, "little"), (ed25519._P + 1).to_bytes(32, "little"), 1 | 1 << 255
    for wrong in (no_point, too_large, minus_zero.to_bytes(32, "little")):
        assert not is_signed(message, signature, wrong)
        assert not is_signed(message, wrong + signature[32:], public)
    assert not is_signed(message, bytes(64), public)


@settings(max_examples=15)
@given(some.binary(min_size=32, max_size=32), some.binary(max_size=80), some.binary(max_size=80))
def test_only_what_was_signed_is_signed(seed, message, other):
    public = keypair(seed)[2]
    assert is_signed(message, signed(message, seed), public)
    assert is_signed(other, signed(message, seed), public) == (other == message)
