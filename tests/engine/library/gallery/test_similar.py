"""Sorting by similarity: the same picture in other sizes and formats comes first, other pictures later."""

import os

import pytest
from PIL import Image, ImageDraw

from mezzotint.errors import Cancelled, ImageRefused
from mezzotint.library.gallery.gallery import Gallery
from mezzotint.library.gallery.look import BYTES, distances, look_of
from mezzotint.library.thumbnails import Thumbnails
from mezzotint.library_protocol import GalleryQuery, GalleryScan


def house(size=(256, 192), wall="red", left=0.3):
    image = Image.new("RGB", size, "skyblue")
    draw, (width, height) = ImageDraw.Draw(image), size
    draw.rectangle((0, 0.7 * height, width, height), fill="green")
    draw.rectangle((left * width, 0.4 * height, (left + 0.3) * width, 0.8 * height), fill=wall)
    return image


def apart(one, other):
    return float(distances(look_of(one), look_of(other))[0])


def test_a_look_survives_size_and_compression_and_tells_colours_and_places_apart():
    first = house()
    assert len(look_of(first)) == BYTES and apart(first, first) == 0
    same, colour, place = apart(first, house((700, 525))), apart(first, house(wall="blue")), apart(first, house(left=0))
    other = apart(first, Image.radial_gradient("L").convert("RGB"))
    assert same < 0.1 < min(colour, place) < max(colour, place) < other


@pytest.fixture
def gallery(tmp_path):
    folder = tmp_path / "images"
    folder.mkdir()
    images = {
        "other.png": Image.radial_gradient("L"), "house.png": house(), "small.jpg": house((90, 68)),
        "blue.png": house(wall="blue"), "clear.png": Image.new("RGBA", (40, 40)),
    }  # fmt: skip
    for second, (name, image) in enumerate(images.items()):
        image.save(folder / name)
        os.utime(folder / name, (1_700_000_000 + second,) * 2)
    gallery = Gallery(tmp_path / "state")
    gallery.scan(GalleryScan(folders=(str(folder),)), lambda _: None, lambda: False)
    yield gallery
    gallery.close()


def order(gallery, like, **query):
    page = gallery.query(GalleryQuery(order="similar", similar_to=like, **query))
    return page.total, [item.path.rpartition("/")[2].partition(".")[0] for item in page.items]


def test_the_most_similar_come_first_page_by_page(gallery, tmp_path):
    like, events = str(tmp_path / "images" / "house.png"), []
    total, names = order(gallery, like)
    assert (total, names[0]) == (5, "house")  # before others were looked at
    assert gallery.take_looks(Thumbnails().look, events.append, lambda: False) == 0
    assert events[-1].total == 4
    total, names = order(gallery, like)
    assert (total, names[:3]) == (5, ["house", "small", "blue"])
    assert order(gallery, like, offset=1, limit=2) == (5, ["small", "blue"])
    assert order(gallery, like, search="house") == (1, ["house"])
    assert gallery.take_looks(lambda _: pytest.fail("known"), events.append, lambda: False) == 0


def test_what_cannot_be_looked_at_comes_last(gallery, tmp_path):
    look = Thumbnails().look

    def partly(path):
        if "small" in path:
            raise ImageRefused("broken")
        return look(path)

    assert gallery.take_looks(partly, lambda _: None, lambda: False) == 1
    assert order(gallery, str(tmp_path / "images" / "house.png"))[1][-1] == "small"
    with pytest.raises(Cancelled):
        gallery.take_looks(look, lambda _: None, lambda: True)
    assert order(gallery, str(tmp_path / "images" / "small.jpg"))[1][:2] == ["small", "house"]


def test_without_an_image_to_compare_with_the_newest_come_first(gallery):
    assert order(gallery, None)[1][0] == "clear"
