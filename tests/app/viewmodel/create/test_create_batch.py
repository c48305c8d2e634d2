"""A folder of images becomes one entry of the queue, with what is set on the page."""

import pytest
from create_page import kit_of

from mezzotint_app.viewmodel.dropped.folder_of_images import Images


@pytest.fixture
def kit(tmp_path, qapp):
    yield from kit_of(tmp_path)


def images(*paths, folder="/holiday"):
    return Images(folder=folder, paths=paths)


def test_a_batch_is_one_entry_with_each_image_for_each_prompt(kit):
    kit.write("a {red|blue} sky")
    kit.create.chosen.change(steps=7)
    assert kit.create.generate_batch(images("/1.png", "/2.png"))
    (entry,) = kit.entries
    requests = [task.request for task in kit.tasks(entry)]
    assert [(one.images[0].path, one.prompt) for one in requests] == [
        (path, f"a {colour} sky") for path in ("/1.png", "/2.png") for colour in ("red", "blue")
    ]
    assert {one.cascade.stages[0].sampling.steps for one in requests} == {7}
    assert all(one.strength is not None and one.inpaint is None for one in requests)
    assert len({one.seed for one in requests}) <= 2 and kit.said == ["2 images of the batch are waiting in the queue."]


def test_a_batch_needs_no_prompt_and_no_starting_image_of_the_page(kit):
    kit.write("")
    kit.images.set_image("/broken.png")
    kit.librarian.fail("image_refused", "it is broken", method="pixels")
    assert "image" in kit.create.problems()
    assert kit.create.generate_batch(images("/1.png"))
    assert len(kit.entries) == 1


def test_a_batch_that_cannot_be_made_says_why_and_adds_nothing(kit):
    kit.write("a house")
    kit.create.chosen.change(width=1003)
    assert not kit.create.generate_batch(images("/1.png"))
    assert kit.entries == [] and "1003" in kit.said[-1]


def test_too_large_a_batch_is_refused_in_words(kit):
    kit.write("{a|b|c}")
    assert kit.create.generate_batch(images(*(f"/{number}.png" for number in range(5000))))
    assert kit.entries == [] and "3" in kit.said[-1]
