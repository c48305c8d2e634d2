"""A file of prompts as a dataset."""

import pytest

from mezzotint.errors import StorageError, UsageError
from mezzotint.training.dataset.prompts import read_prompts


def test_each_prompt_once_as_a_square_image(tmp_path):
    path = tmp_path / "prompts.txt"
    path.write_text("a red house\n\n  a blue boat \na red house\n", encoding="utf-8")
    first, second = read_prompts(path, 512).images
    assert (first.captions, second.captions) == (("a red house",), ("a blue boat",))
    assert (first.width, first.height) == (512, 512) and first.content != second.content
    before = read_prompts(path, 512).fingerprint
    path.write_text("a red house\na blue ship\n", encoding="utf-8")
    assert read_prompts(path, 512).fingerprint != before


def test_what_is_no_file_of_prompts(tmp_path):
    with pytest.raises(StorageError, match="is not a file: expected a text file"):
        read_prompts(tmp_path, 512)
    (tmp_path / "empty.txt").write_text("\n")
    with pytest.raises(UsageError, match="is empty: write a prompt on each line"):
        read_prompts(tmp_path / "empty.txt", 512)
