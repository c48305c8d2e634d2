"""What a training would see and do, told before it starts."""

import pytest

from mezzotint.catalog.catalog import Catalog
from mezzotint.errors import StorageError
from mezzotint.jobs.training import checks
from mezzotint.jobs.training.checks import check_training


@pytest.fixture
def checked(request_for, tiny_pixart_folder):
    def run(model=tiny_pixart_folder, **fields):
        return check_training(request_for(model, **fields), Catalog.standard(), lambda: False)

    return run


def test_images_with_their_crops_and_captions_problems_first(checked, castles):
    found = checked()
    assert (found.count, found.regularization, found.captioned, found.problem) == (3, 0, 2, "")
    first, second, third = found.images
    assert first.path == str(castles / "2.png") and first.captions == ()
    assert second.captions == ("a red castle",) and third.captions == ("a green castle",)
    assert (second.width, second.height, second.used_width, second.used_height) == (96, 96, 64, 64)
    assert second.box == (0, 0, 96, 96)
    assert any("2.txt" in problem.message for problem in found.problems)


def test_values_are_those_of_settings_and_preset(checked):
    values = checked(batch=None).values
    assert (values.steps, values.rank, values.resolution, values.regularization) == (2, 2, 64, 0)
    assert values.batch == 16


def test_more_epochs_and_a_higher_rank_take_more_of_the_disk(checked):
    usual = checked().disk_bytes
    assert 0 < usual < checked(epochs=20).disk_bytes < checked(epochs=20, rank=16).disk_bytes


def test_a_model_that_cannot_be_trained_is_told_beside_the_images(checked):
    found = checked("nobody")
    assert "nobody" in found.problem and found.values is None and len(found.images) == 3


def test_a_value_out_of_range_is_told_too(checked):
    assert "validation" in checked(validation=0.9).problem


def test_an_empty_folder_says_what_to_put_there(checked, tmp_path):
    (tmp_path / "empty").mkdir()
    found = checked(dataset=str(tmp_path / "empty"))
    assert found.values is None and "contains no images" in found.problem
    with pytest.raises(StorageError, match="is not a folder"):
        checked(dataset=str(tmp_path / "absent"))


def test_of_a_large_dataset_only_some_images_are_sent(checked, monkeypatch):
    monkeypatch.setattr(checks, "MOST_IMAGES", 2)
    found = checked()
    assert len(found.images) == 2 and found.count == 3
