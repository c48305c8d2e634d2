"""The grid as a page: links to the images, and nothing that a label could add."""

from html.parser import HTMLParser

from mezzotint.batch.sheet.cells import Axis, Grid
from mezzotint.batch.sheet.page import page_of

HOSTILE = '"><script>alert(1)</script>'


class Seen(HTMLParser):
    """The tags and links of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.links, self.texts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("src", "href")]

    def handle_data(self, data):
        self.texts.append(data)


def test_it_links_to_the_images_and_escapes_labels():
    x, y = Axis(name="prompt", labels=(HOSTILE, "b")), Axis(name="steps", labels=("1",))
    files = {(0, 0, 0): "javascript:x#?.png", (1, 0, 0): 'folder/a "b" \udcff.png'}
    page = Seen(page_of(Grid(title=HOSTILE, axes=(x, y, Axis()), files=files)))
    assert not {"script", "object", "iframe"} & set(page.tags)
    assert page.links[::2] == page.links[1::2] == ["./javascript%3Ax%23%3F.png", "./folder/a%20%22b%22%20%FF.png"]
    assert {HOSTILE, f"prompt {HOSTILE}", "steps 1"} <= set(page.texts)


def test_tables_are_named_and_missing_images_left_out():
    z = Axis(name="model", labels=("one", "two"))
    page = Seen(page_of(Grid(title="", axes=(Axis(name="seed", labels=("1",)), Axis(), z), files={})))
    assert page.tags.count("table") == 2 and "img" not in page.tags
    assert {"Grid", "model one", "model two", "seed 1"} <= set(page.texts)
