import hashlib
from pathlib import Path

import pytest

from mezzotint.errors import StorageError
from mezzotint_starter.scenes import sources
from mezzotint_starter.scenes.sources import PublishedSet, archive_of, default_folder

CONTENT = b"an archive"


@pytest.fixture
def published():
    return PublishedSet(
        package="@somebody/pictures", version="1.2.3", sha512=hashlib.sha512(CONTENT).hexdigest(), licence="MIT"
    )


def test_a_kept_archive_is_not_fetched(tmp_path, published, monkeypatch):
    monkeypatch.setattr(sources, "_fetch", lambda *_: pytest.fail("fetched"))
    kept = tmp_path / "somebody-pictures-1.2.3.tgz"
    kept.write_bytes(CONTENT)
    assert archive_of(published, tmp_path) == kept


def test_a_changed_archive_is_refused(tmp_path, published):
    (tmp_path / published.archive).write_bytes(b"another")
    with pytest.raises(StorageError, match=r"is not version 1\.2\.3 of @somebody/pictures"):
        archive_of(published, tmp_path)


def test_without_npm_one_line_says_what_is_needed(tmp_path, published, monkeypatch):
    monkeypatch.setattr(sources.shutil, "which", lambda _: None)
    with pytest.raises(StorageError, match="install Node.js, or put") as told:
        archive_of(published, tmp_path)
    assert "\n" not in str(told.value)
    assert published.archive in str(told.value)


@pytest.mark.parametrize("script", ["echo 'no such package' >&2; exit 1", 'printf "an archive" > "$4/$NAME"'])
def test_npm_fetches_into_the_folder_or_says_why_not(tmp_path, published, monkeypatch, script):
    npm = tmp_path / "npm"
    npm.write_text(f"#!/bin/sh\nNAME={published.archive}\n{script}\n")
    npm.chmod(0o755)
    monkeypatch.setattr(sources.shutil, "which", lambda _: str(npm))
    folder = tmp_path / "data"
    if "exit" in script:
        with pytest.raises(StorageError, match="could not fetch @somebody/pictures@1.2.3: no such package"):
            archive_of(published, folder)
        assert list(folder.iterdir()) == []
    else:
        assert archive_of(published, folder).read_bytes() == CONTENT
        assert [each.name for each in folder.iterdir()] == [published.archive]


def test_archives_are_kept_in_the_users_cache(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert default_folder() == Path("/somewhere/mezzotint/starter-data")
