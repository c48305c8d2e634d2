"""What a try leaves, and the next takes up."""

import pytest

from mezzotint.errors import Busy, StorageError
from mezzotint.library.downloads.partial import Partial, key_of


@pytest.fixture
def partial(tmp_path):
    partial = Partial.beside(tmp_path / "models" / "one")
    partial.make()
    return partial


def test_it_lies_hidden_beside_the_model(partial, tmp_path):
    assert partial.folder == tmp_path / "models" / ".mezzotint-one.part"


def test_the_longest_part_is_taken_up_under_a_new_name(partial):
    first = partial.resume_part("k")
    first.write_bytes(b"12345")
    (partial.folder / "k.other.part").write_bytes(b"123")
    assert partial.bytes_there("k", 10) == 5
    second = partial.resume_part("k")
    assert second != first and second.read_bytes() == b"12345"
    assert [path.name for path in partial.folder.glob("k.*")] == [second.name]
    assert partial.bytes_there("k", 4) == 0, "more than there is to fetch is no part of it"


def test_what_is_whole_need_not_be_fetched(partial):
    part = partial.resume_part("k")
    part.write_bytes(b"12345")
    partial.finish(part, "k")
    assert partial.bytes_there("k", 5) == 5
    assert partial.bytes_there("other", 5) == 0


def test_parts_of_other_contents_are_left_alone(partial):
    mine, other = partial.resume_part("a"), partial.resume_part("b")
    other.write_bytes(b"12")
    assert partial.resume_part("a") != mine and other.read_bytes() == b"12"


def test_one_process_at_a_time(partial):
    with partial.locked(), pytest.raises(Busy, match="being downloaded already"), Partial(partial.folder).locked():
        pass
    with partial.locked():
        pass


def test_a_disk_that_knows_no_locks(partial, monkeypatch):
    import filelock

    def refuse(*_, **__):
        raise OSError(38, "no locks")

    monkeypatch.setattr(filelock.FileLock, "acquire", refuse)
    with partial.locked():
        assert partial.folder.is_dir()


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError, match="cannot create"), Partial.beside(tmp_path / "file" / "one").locked():
        pass


def test_keys_tell_contents_apart():
    assert len({key_of("a", 1), key_of("a", 2), key_of("a1"), key_of("b", 1)}) == 4
    assert key_of("\ud800")
