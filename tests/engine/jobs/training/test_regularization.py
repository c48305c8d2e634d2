"""The images that the model makes itself."""

from pathlib import Path

from mezzotint.jobs.training.regularization import _prompts


def test_they_are_made_once_and_half_of_each_batch(train, request_of, tmp_path):
    request = request_of(regularization=3, trigger="zibble", word="castle")
    _, events = train(request)
    folder = tmp_path / "mine.training" / "regularization" / "reg"
    assert sorted(path.name for path in folder.glob("*.png")) == ["0000.png", "0001.png", "0002.png"]
    assert (folder / "0000.txt").read_text() == "a house and 0 trees"
    made = [each for each in events if getattr(each, "phase", "") == "regularization"]
    assert [(each.done, each.total) for each in made] == [(1, 3), (2, 3), (3, 3)]


class _Prepared:
    def __init__(self, request, captions=()):
        image = type("Image", (), {"captions": captions})
        self.request, self.dataset = request, type("Dataset", (), {"images": [image]})


def test_prompts_are_those_of_the_file_else_captions_without_the_word(request_of, dataset):
    told = request_of(trigger="zibble", word="castle")
    assert _prompts(_Prepared(told, ("a zibble at dusk",))) == ["a castle at dusk"]
    assert len(_prompts(_Prepared(request_of()))) == 16
    (Path(dataset) / "regularization.txt").write_text("a boat\na car\n")
    assert _prompts(_Prepared(told)) == ["a boat", "a car"]
