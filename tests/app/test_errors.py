"""Every kind of failure has words of its own."""

import errno

import pytest

from mezzotint import errors as kinds
from mezzotint.trouble import storage_error
from mezzotint_app.errors import explained, in_one_line, is_for_want_of_space
from mezzotint_app.processes.service import GONE, NOT_RUNNING, Failure

CLASSES = [one for one in vars(kinds).values() if isinstance(one, type) and issubclass(one, kinds.MezzotintError)]
KINDS = {one.kind for one in CLASSES} | {"bug", GONE, NOT_RUNNING}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_is_explained(kind):
    words = explained(Failure(kind=kind, message="what it said"))
    assert words.title.endswith(".") and words.detail == "what it said"
    assert (words.title == explained(Failure(kind="failed", message="")).title) == (kind == "failed")


def test_a_kind_that_nobody_knows_yet_is_told_as_it_is():
    assert in_one_line(Failure(kind="new", message="the moon is full")) == "The operation failed. the moon is full"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_known_from_what_the_engine_says(number):
    failure = Failure(kind="storage", message=str(storage_error("write", "/a.png", OSError(number, ""))))
    assert is_for_want_of_space(failure)
    assert explained(failure).title == "The disk is full."


def test_an_image_too_many_is_known_before_it_is_made(tmp_path, monkeypatch):
    from mezzotint.images import naming
    from mezzotint.protocol import Output

    monkeypatch.setattr(naming.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 0})())
    with pytest.raises(kinds.StorageError) as caught:
        naming.check_output(Output(path=f"{tmp_path}/"), 1)
    assert is_for_want_of_space(Failure(kind="storage", message=str(caught.value)))


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.EIO])
def test_other_trouble_with_files_is_no_full_disk(number):
    failure = Failure(kind="storage", message=str(storage_error("write", "/a.png", OSError(number, ""))))
    assert not is_for_want_of_space(failure)
    assert not is_for_want_of_space(Failure(kind="usage", message="free some space"))
