"""uv's cache keeps what a version still links to."""

import pytest

from mezzotint_setup.cache import drop_unused


@pytest.fixture
def cache(tmp_path):
    for name in ("used", "unused"):
        folder = tmp_path / "cache" / "archive-v0" / name / "torch"
        folder.mkdir(parents=True)
        (folder / "a.py").write_text("x")
    return tmp_path / "cache"


def test_what_no_version_links_to_is_dropped(cache, tmp_path):
    try:
        (tmp_path / "a.py").hardlink_to(cache / "archive-v0" / "used" / "torch" / "a.py")
    except OSError:
        pytest.skip("needs a file system with hard links")
    drop_unused(cache)
    assert [path.name for path in (cache / "archive-v0").iterdir()] == ["used"]


def test_no_cache_is_nothing_to_do(tmp_path):
    drop_unused(tmp_path / "absent")
