"""A task's image that is there already."""

from dataclasses import replace

import pytest
from batch_programs import StandIn, painted, task

from mezzotint.batch.run.found import found_image, is_taken
from mezzotint.protocol import Cascade, ControlRef, ImageInput, LoraRef, Sampling, Stage


def nobodys(_):
    return False


@pytest.fixture
def made(tmp_path):
    """A task whose image was made, and its process ended."""
    one = task(3, tmp_path)
    StandIn().write(one.request)
    return one


def test_it_is_found_by_what_it_says_of_itself(made, tmp_path):
    image = found_image(made, tmp_path, nobodys)
    assert image.path == str(tmp_path / made.output)
    assert image.seed == 3


def test_a_name_that_no_disk_takes_is_free(tmp_path):
    """Whoever writes there is told."""
    name = "/".join(["x" * 240] * 20)
    assert not is_taken(tmp_path / name)
    assert found_image(replace(task(3, tmp_path), output=f"{name}.png"), tmp_path, nobodys) is None


def test_nothing_is_there(tmp_path):
    assert found_image(task(3, tmp_path), tmp_path, nobodys) is None


@pytest.mark.parametrize(
    "change",
    [
        {"prompt": "other words"},
        {"seed": 4},
        {"strength": 0.5},
        {"loras": (LoraRef(path="ink.safetensors"),)},
        {"images": (ImageInput(path="a.png", sha256="1" * 64),)},
        {"controls": (ControlRef(image="a.png", model="canny.safetensors"),)},
        {"cascade": Cascade(stages=(Stage(sampling=Sampling(steps=9)),))},
    ],
)
def test_what_was_made_from_something_else_is_not_it(made, tmp_path, change):
    other = replace(made, request=replace(made.request, **change))
    assert found_image(other, tmp_path, nobodys) is None


def test_the_image_of_another_task_is_not_it(made, tmp_path):
    assert found_image(made, tmp_path, lambda path: path.name == "00003.png") is None


def test_beside_a_file_that_has_its_name(tmp_path):
    one = task(3, tmp_path)
    path = tmp_path / one.output
    path.parent.mkdir(parents=True)
    painted(9).save(path)
    (path.parent / "00003-1.png").write_text("no image")
    StandIn().write(one.request)
    assert found_image(one, tmp_path, nobodys).path.endswith("00003-2.png")


def test_a_link_to_nowhere_takes_a_name(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    assert is_taken(link) and not is_taken(tmp_path / "nowhere")


def test_control_images_are_compared_by_content_and_networks_by_name(tmp_path):
    control = ControlRef(image="/there/a.png", model="/there/canny.safetensors", image_sha256="1" * 64)
    one = task(3, tmp_path)
    StandIn().write(replace(one.request, controls=(replace(control, sha256="2" * 64, encoder="/there/clip"),)))
    here = replace(control, image="/here/b.png", model="/here/canny.safetensors")
    for asked, is_it in (
        (here, True),
        (replace(here, weight=0.5), False),
        (replace(here, mask="m"), False),
        (replace(here, image_sha256="3"), False),
    ):
        found = found_image(replace(one, request=replace(one.request, controls=(asked,))), tmp_path, nobodys)
        assert (found is not None) is is_it
