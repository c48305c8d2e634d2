"""A gallery whose library service answers from a list in the test."""

from dataclasses import dataclass, replace
from datetime import date

from fake_service import FakeService, InlineBackground
from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QImage
from queue_made import FakeRunner

from mezzotint.library_protocol import Board, GalleryItem, GalleryPage, GalleryTags, Pixels, Thumbnail
from mezzotint.protocol import ImageMetadata
from mezzotint_app.settings import Settings
from mezzotint_app.stored import Stored
from mezzotint_app.viewmodel.gallery.gallery import GalleryState
from mezzotint_app.viewmodel.gallery.parts import Gallery
from mezzotint_app.viewmodel.gallery.trash import Trashed
from mezzotint_app.viewmodel.pixels import PixelLoader
from mezzotint_app.viewmodel.thumbnails import Thumbnails

NOON = 1_800_000_000.0
TODAY = date.fromtimestamp(NOON)


def item(number, **fields) -> GalleryItem:
    fields = {"made": NOON - 3600 * number, "prompt": f"image {number}", "model": "m", "seed": number} | fields
    values = {"path": f"/images/{number}.png", "width": 64, "height": 48, "bytes": 1000, "rating": 0}
    return GalleryItem(id=number, **(values | fields))


def metadata(**fields) -> ImageMetadata:
    values = dict.fromkeys(
        (
            *("prompt", "negative_prompt", "width", "height", "seed", "steps", "sampler", "schedule"),
            *("guidance_scale", "strength", "model", "model_hash", "request"),
        )
    )
    return ImageMetadata(**(values | {"program": "mezzotint", "other": {}} | fields))


def small_image(_path="") -> QImage:
    image = QImage(8, 6, QImage.Format.Format_RGB32)
    image.fill(QColor("#446688"))
    return image


class FakeTrash:
    """Moves files to the trash and back without touching disk; refuses those in `problems`, with the given reason."""

    def __init__(self, problems=()):
        self.problems = dict(problems)
        self.holds = set()

    def move(self, path):
        if path in self.problems:
            return Trashed(path=path, problem=self.problems[path])
        self.holds.add(path)
        return Trashed(path=path, place=f"/trash{path}")

    def restore(self, trashed):
        if trashed.path not in self.problems:
            self.holds.remove(trashed.path)
        return self.problems.get(trashed.path, "")


class ListLibrarian(FakeService):
    """Answers gallery queries from `items` when told to; other calls are left to the test."""

    def __init__(self, items):
        super().__init__()
        self.items = list(items)
        self.pages = 0
        self.searches = {}  # of boards, by name

    def answer_all(self):
        """Answer all open calls that it can, including follow-up calls."""
        known = (
            *("gallery.query", "gallery.models", "gallery.rate", "gallery.forget", "thumbnail"),
            *("gallery.boards", "gallery.board", "gallery.label", "gallery.looks"),
        )
        while found := [one for one in self.open() if one.method in known]:
            for one in found:
                self.answer(self._value(one), method=one.method, call=one.call)

    def _value(self, one):
        match one.method:
            case "gallery.query":
                self.pages += 1
                return self._page(one.params)
            case "gallery.models":
                return tuple(sorted({item.model for item in self.items}))
            case "gallery.rate":
                rated = set(one.params.paths)
                self.items = [
                    replace(item, rating=one.params.rating) if item.path in rated else item for item in self.items
                ]
            case "gallery.forget":
                self.items = [item for item in self.items if item.path not in one.params["paths"]]
            case "thumbnail":
                return Thumbnail(path="/cache/x.jpg", width=8, height=6)
            case _:
                return self._of_boards(one)
        return None

    def _of_boards(self, one):
        match one.method:
            case "gallery.boards":
                return self._tags()
            case "gallery.board":
                name, search = one.params.name, self.searches.pop(one.params.name, one.params.search)
                if not one.params.remove:
                    self.searches[one.params.rename or name] = search
                if one.params.rename:
                    self.items = [
                        replace(
                            item, boards=tuple(one.params.rename if board == name else board for board in item.boards)
                        )
                        for item in self.items
                    ]
            case "gallery.label":
                self.items = [self._labelled(item, one.params) for item in self.items]
                new = one.params.add if one.params.kind == "board" else ()
                self.searches |= {name: None for name in new if name not in self.searches}
        return 0 if one.method == "gallery.looks" else None

    def _tags(self):
        counts = {name: sum(name in item.boards for item in self.items) for name in self.searches}
        boards = [Board(name=name, search=self.searches[name], count=count) for name, count in counts.items()]
        return GalleryTags(boards=tuple(boards), tags=tuple(sorted({tag for item in self.items for tag in item.tags})))

    def _labelled(self, item, asked):
        if item.path not in asked.paths:
            return item
        field = f"{asked.kind}s"
        kept = [name for name in getattr(item, field) if name not in (*asked.remove, *asked.add)]
        return replace(item, **{field: (*kept, *asked.add)})

    def _page(self, query):
        found = [
            item
            for item in self.items
            if (query.board is None or query.board in item.boards)
            and query.search in item.prompt
            and query.model in (None, item.model)
            and item.rating >= query.rating
        ]
        return GalleryPage(total=len(found), items=tuple(found[query.offset : query.offset + query.limit]))


@dataclass
class Made:
    gallery: Gallery
    librarian: ListLibrarian
    runner: FakeRunner
    inline: InlineBackground
    thumbnails: Thumbnails
    settings: Stored

    def settle(self):
        """Answer until no call is open."""
        for _ in range(20):
            QCoreApplication.processEvents()
            if not [one for one in self.librarian.open() if one.method != "gallery.scan"]:
                return
            self.librarian.answer_all()


def gallery_of(items, folder, *, held=False, state=None):
    inline, librarian, runner = InlineBackground(), ListLibrarian(items), FakeRunner()
    inline.held = held
    thumbnails = Thumbnails(librarian, inline, decode=small_image)
    settings = Stored(folder / "settings.json", Settings(output_folder=str(folder / "out")), inline)
    kept = Stored(folder / "gallery.json", state or GalleryState(), inline)
    gallery = Gallery(
        librarian,
        inline,
        PixelLoader(librarian, inline),
        thumbnails,
        runner,
        settings,
        kept,
        today=lambda: TODAY,
    )
    gallery.model.begin()
    return Made(gallery, librarian, runner, inline, thumbnails, settings)


def written_pixels(folder) -> Pixels:
    """Write a file of pixels as the library service does."""
    path = folder / "rows"
    path.write_bytes(bytes(range(2 * 2 * 3)))
    return Pixels(path=str(path), layout="rgb", width=2, height=2, bytes_per_line=6, image_width=2, image_height=2)
