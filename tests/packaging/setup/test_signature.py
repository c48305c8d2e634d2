"""Signed files, in minisign's form."""

import base64

import pytest
from minisign_made import minisig, public_line

from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.signature import check_signature

SEED, CONTENT = b"s" * 32, b'{"format": 1}'


def check(content=CONTENT, signature=None, key=None):
    check_signature(
        content, minisig(CONTENT, SEED) if signature is None else signature, key or public_line(SEED), "the index"
    )


def test_what_the_owner_of_the_key_signed_is_accepted():
    check()
    check(key=f"untrusted comment: minisign public key\n{public_line(SEED)}\n")
    check(signature=minisig(CONTENT, SEED, comment="").replace("\n", "\r\n"))


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"content": CONTENT + b" "}, "the index is not what was signed"),
        ({"signature": minisig(CONTENT, b"t" * 32)}, "the index is not what was signed"),
        ({"signature": minisig(CONTENT, b"t" * 32, number=b"12345678")}, "is signed by key 3132333435363738, not by"),
        ({"signature": minisig(CONTENT, SEED).replace("comment: index", "comment: other")}, "is not what was signed"),
        ({"signature": minisig(CONTENT, SEED, algorithm=b"Ed")}, "not understood (it is of another kind"),
        ({"signature": ""}, "the four lines"), ({"signature": "<html>\n" * 4}, "the four lines"),
        ({"signature": "a\n%%\ntrusted comment: \n\n"}, "it is not base64"),
        ({"signature": "a\nRUQ=\ntrusted comment: \né\n"}, "2 bytes instead of 74"),
        ({"key": "RWQ"}, "has no key to check the index with"), ({"key": " "}, "has no key"),
        ({"key": base64.b64encode(b"XX" + bytes(40)).decode()}, "another kind than Ed25519"),
    ],
)  # fmt: skip
def test_anything_else_is_refused_by_name(changes, what):
    with pytest.raises(SetupFailed) as failed:
        check(**changes)
    assert failed.value.code == "signature" and what in failed.value.what and failed.value.next_step
