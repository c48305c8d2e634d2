import zipfile

import pytest

from mezzotint_package.errors import PackagingError
from mezzotint_package.remote import RemoteWheels


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "a-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", b"0" * 5000)
        archive.writestr("b.txt", b"1" * 700)
    return path


def test_sizes_come_from_the_table_of_contents_and_are_remembered(wheel, tmp_path):
    remote = RemoteWheels(tmp_path / "known.json")
    size = remote.size(wheel.as_uri())
    assert size == wheel.stat().st_size
    assert remote.installed(wheel.as_uri(), "hash", size) == 5700
    remote.save()
    wheel.unlink()
    assert RemoteWheels(tmp_path / "known.json").installed(wheel.as_uri(), "hash", size) == 5700


def test_a_server_is_asked_for_parts(wheel, tmp_path, monkeypatch, served):
    url = served(wheel.read_bytes())
    remote = RemoteWheels()
    assert remote.size(url) == wheel.stat().st_size
    assert remote.installed(url, "hash", wheel.stat().st_size) == 5700


def test_a_server_without_parts_is_named(wheel, served):
    url = served(wheel.read_bytes(), parts=False)
    with pytest.raises(PackagingError, match="does not send parts of files"):
        RemoteWheels().installed(url, "hash", wheel.stat().st_size)


def test_an_address_that_does_not_answer_is_named(served):
    with pytest.raises(PackagingError, match="missing.whl cannot be read"):
        RemoteWheels().size(served(b"").replace("wheel.whl", "missing.whl"))
