import errno
import os
from pathlib import Path

import pytest

from mezzotint.errors import StorageError
from mezzotint.trouble import meaning, shown, storage_error


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EACCES, "no permission"),
        (errno.EROFS, "read-only"),
        (errno.ENAMETOOLONG, "name is too long"),
        (errno.ENOTDIR, "is a file, not a folder"),
    ],
)
def test_numbers_become_words_with_advice(number: int, words: str) -> None:
    error = storage_error("write", Path("out/x.png"), OSError(number, os.strerror(number)))
    assert isinstance(error, StorageError)
    assert str(error).startswith(f"cannot write {Path('out/x.png')}: ")
    assert words in str(error) and "\n" not in str(error)


def test_unknown_numbers_keep_the_systems_words() -> None:
    assert meaning(OSError(9999, "strange")) == "strange"
    assert meaning(OSError("only text")) == "only text"
    assert meaning(OSError()) == "OSError"


def test_a_hostile_path_stays_on_one_printable_line() -> None:
    text = shown("a\nb\x1b[31m\udce9")
    assert text.isprintable()
    assert "\\x0a" in text and "\\x1b" in text and "\\udce9" in text
