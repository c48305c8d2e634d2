"""A part may lie in a neighbour's folder, and nowhere else."""

import shutil

import pytest
from model_files import pixart_folder, sdxl_folder, write_json

from mezzotint.checkpoints.folder import open_folder
from mezzotint.errors import ModelRefused


def share(path, **places):
    for name in places:
        shutil.rmtree(path / name)
    write_json(path / "mezzotint.json", {"shared": places})


@pytest.fixture
def two(tmp_path):
    """A model that has its autoencoder from the other."""
    pixart_folder(tmp_path / "dit")
    share(sdxl_folder(tmp_path / "xl"), vae="dit/vae")
    return tmp_path


def test_the_neighbours_part_is_taken(two):
    folder = open_folder(two / "xl")
    assert folder.components["vae"].folder == two.resolve() / "dit" / "vae"
    assert folder.components["vae"].files[0].parent == two.resolve() / "dit" / "vae"
    assert folder.components["unet"].folder == two.resolve() / "xl" / "unet"


def test_a_part_of_ones_own_comes_first(two):
    shutil.copytree(two / "dit" / "vae", two / "xl" / "vae")
    assert open_folder(two / "xl").components["vae"].folder == two.resolve() / "xl" / "vae"


@pytest.mark.parametrize(
    "place", ["../dit/vae", "dit/../../vae", "/etc/vae", "dit", "dit/vae/deeper", ".hidden/vae", "dit\\vae/x", 7, None]
)
def test_no_place_but_a_neighbours_part_can_be_named(two, place):
    write_json(two / "xl" / "mezzotint.json", {"shared": {"vae": place}})
    with pytest.raises(ModelRefused, match="shared.vae"):
        open_folder(two / "xl")


def test_what_is_shared_must_be_an_object(two):
    write_json(two / "xl" / "mezzotint.json", {"shared": ["dit/vae"]})
    with pytest.raises(ModelRefused, match="shared is"):
        open_folder(two / "xl")


def test_a_neighbour_that_is_not_there_is_named(two):
    shutil.rmtree(two / "dit")
    with pytest.raises(ModelRefused, match="its vae is that of dit"):
        open_folder(two / "xl")


def test_a_part_that_nobody_has_is_missing(two):
    (two / "xl" / "mezzotint.json").unlink()
    with pytest.raises(ModelRefused, match="the folder vae is missing"):
        open_folder(two / "xl")


def test_a_neighbour_with_code_is_refused(two):
    (two / "dit" / "pipeline.py").write_text("print()")
    with pytest.raises(ModelRefused, match="holds code"):
        open_folder(two / "xl")


def test_a_neighbour_that_is_a_link_is_refused(two, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "dit"
    shutil.move(two / "dit", elsewhere)
    try:
        (two / "dit").symlink_to(elsewhere, target_is_directory=True)
    except OSError:
        shutil.copytree(elsewhere, two / "dit")  # a system without links cannot be led astray by one
        assert open_folder(two / "xl").components["vae"].files
        return
    with pytest.raises(ModelRefused, match="a link that leads elsewhere"):
        open_folder(two / "xl")
