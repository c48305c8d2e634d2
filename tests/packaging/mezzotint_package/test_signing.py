"""The key of updates, and signatures by OpenSSL that the bootstrap accepts."""

import stat
import sys

import pytest

from mezzotint_package import signing
from mezzotint_package.errors import PackagingError
from mezzotint_setup.errors import SetupFailed
from mezzotint_setup.signature import check_signature

pytestmark = pytest.mark.requires_command("openssl", "sudo apt-get install openssl")


@pytest.fixture
def keys(tmp_path):
    signing.make_key(tmp_path / "key.pem", tmp_path / "updates.pub")
    return tmp_path / "key.pem", tmp_path / "updates.pub"


def test_what_is_signed_is_accepted_and_nothing_else(tmp_path, keys):
    index = tmp_path / "index.json"
    index.write_bytes(b"{}")
    signature = signing.sign(index, keys[0], "index.json").read_text()
    check_signature(b"{}", signature, keys[1].read_text(), "it")
    with pytest.raises(SetupFailed, match="not what was signed"):
        check_signature(b"{ }", signature, keys[1].read_text(), "it")
    if sys.platform != "win32":
        assert stat.S_IMODE(keys[0].stat().st_mode) == 0o600


def test_a_key_is_never_replaced(tmp_path, keys):
    before = keys[0].read_bytes()
    for private, public in ((keys[0], tmp_path / "other.pub"), (tmp_path / "other.pem", keys[1])):
        with pytest.raises(PackagingError, match="is there already"):
            signing.make_key(private, public)
    assert keys[0].read_bytes() == before and not (tmp_path / "other.pem").exists()


def test_the_command_refuses_what_every_copy_would_refuse(tmp_path, keys, monkeypatch, capsys):
    (tmp_path / "index.json").write_bytes(b"{}")
    signing.make_key(tmp_path / "other.pem", tmp_path / "other.pub")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["sign", *map(str, words)])
        return signing.main()

    assert call("sign", tmp_path / "index.json", "--private", keys[0], "--public", tmp_path / "other.pub") == 1
    assert "is not the public part" in capsys.readouterr().err
    assert call("sign", tmp_path / "index.json", "--private", keys[0], "--public", tmp_path / "none") == 1
    assert call("sign", tmp_path / "index.json", "--private", keys[0], "--public", keys[1]) == 0
    assert (tmp_path / "index.json.minisig").is_file()
    assert call("key", "--private", tmp_path / "new.pem", "--public", tmp_path / "new.pub") == 0
