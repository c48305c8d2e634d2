"""The gallery as a list model: all images matching a query, of which only those near the visible rows are held."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

from PySide6.QtCore import QMimeData, QModelIndex, QObject, Qt, QTimer, QUrl, Signal

from mezzotint.library_protocol import GalleryItem, GalleryOrder, GalleryPage, GalleryQuery, Rating
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.dates import moment, section
from mezzotint_app.viewmodel.paged_model import ROW_FLAGS, Index, OnError, OnPage, PagedModel
from mezzotint_app.viewmodel.thumbnails import ThumbnailKey, Thumbnails

ItemRole = Qt.ItemDataRole.UserRole + 1  # GalleryItem, or None while it is being fetched
ThumbnailRole = ItemRole + 1  # QImage, or None
BrokenRole = ItemRole + 2  # why there is no thumbnail
HeadingRole = ItemRole + 3  # the date, at the start of a new section
RatingRole = ItemRole + 4

STARS = 5
MAX_PER_REQUEST = 1000  # images per request
_SEARCH_DELAY = 250  # milliseconds after the last keystroke


@dataclass(frozen=True, slots=True, kw_only=True)
class GalleryState:
    """Persistent preferences of the gallery."""

    side: int = 192  # size of a list item in device-independent pixels
    order: GalleryOrder = "newest"
    confirm_trash: bool = True
    details: bool = True  # whether the side panel is shown
    boards: bool = False  # whether the list of boards is shown


class GalleryModel(PagedModel[GalleryItem]):
    """Images in pages fetched from the library service, with their thumbnails."""

    query_changed = Signal()
    models_changed = Signal()

    def __init__(
        self,
        librarian: Service,
        thumbnails: Thumbnails,
        parent: QObject | None = None,
        *,
        order: GalleryOrder = "newest",
        today: Callable[[], date] = date.today,
    ) -> None:
        super().__init__(self._ask_librarian, lambda item: item.id, parent, ready=False)
        self._librarian, self._thumbnails, self._today = librarian, thumbnails, today
        self._query = GalleryQuery(order=order)
        self._models: tuple[str, ...] = ()
        self._side, self._margin = 256, 0
        self._sought = ""
        self._search_later = QTimer(self)
        self._search_later.setSingleShot(True)
        self._search_later.setInterval(_SEARCH_DELAY)
        self._search_later.timeout.connect(self.search_now)
        thumbnails.changed.connect(self._thumbnail_changed)
        self.answered.connect(self._want_thumbnails)
        self.rowsRemoved.connect(self._want_thumbnails)

    # ---- query

    def query(self) -> GalleryQuery:
        """Return the current query."""
        return self._query

    def is_narrowed(self) -> bool:
        """Whether the query filters out images."""
        return replace(self._query, order="newest", similar_to=None) != GalleryQuery()

    def search(self, text: str) -> None:
        """Search for this text once the user has stopped typing."""
        self._sought = text
        self._search_later.start()

    def search_now(self) -> None:
        """Search for the text typed so far."""
        self._search_later.stop()
        self.narrow(search=self._sought.strip())

    def narrow(self, **fields: Any) -> None:  # noqa: ANN401  those of GalleryQuery
        """Change the query: search, model, rating, order, folder, board, image to be similar to."""
        query = replace(self._query, **fields)
        if query.order != "similar":
            query = replace(query, similar_to=None)
        if query == self._query:
            return
        self._sought = query.search
        self._search_later.stop()
        self._query = query
        self.restart()
        self.query_changed.emit()

    def widen(self) -> None:
        """Remove all filters, keeping the order."""
        self.narrow(search="", model=None, rating=0, folder=None, board=None)

    def models(self) -> tuple[str, ...]:
        """Return the models that images were generated with."""
        return self._models

    def find(self, path: str) -> GalleryItem | None:
        """Return the image of this path if its page is loaded."""
        items = (self.peek(row) for row in self.known_rows())
        return next((item for item in items if item is not None and item.path == path), None)

    def ask_models(self) -> None:
        """Reload the list of models."""
        self._librarian.ask("gallery.models", answer=tuple[str, ...], then=self._have_models, failed=lambda _why: None)

    def _have_models(self, models: tuple[str, ...]) -> None:
        if models != self._models:
            self._models = models
            self.models_changed.emit()

    def _ask_librarian(self, offset: int, limit: int, on_page: OnPage[GalleryItem], on_error: OnError) -> None:
        self._librarian.ask(
            "gallery.query",
            replace(self._query, offset=offset, limit=limit),
            answer=GalleryPage,
            then=lambda page: on_page(page.total, page.items),
            failed=lambda failure: on_error(failure.message),
        )

    # ---- interface for views

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:  # noqa: ANN401
        """Return the data of an image."""
        if not index.isValid():
            return None
        item = self.item(index.row())
        match role:
            case _ if role == ItemRole:
                return item
            case _ if role == ThumbnailRole:
                return None if item is None else self._thumbnails.thumbnail(self._thumbnail_of(item))
            case _ if role == BrokenRole:
                return None if item is None else self._thumbnails.why_broken(self._thumbnail_of(item))
            case _ if role == HeadingRole:
                return self.heading(index.row())
            case _ if role == RatingRole:
                return 0 if item is None else item.rating
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return self._sentence(item)
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Images can be dragged into other programs."""
        return ROW_FLAGS if index.isValid() else Qt.ItemFlag.NoItemFlags

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:  # noqa: N802  Qt's name
        """Return the URLs of the files."""
        items = [self.peek(index.row()) for index in sorted(indexes, key=lambda index: index.row())]
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(item.path) for item in items if item is not None])
        return data

    def mimeTypes(self) -> list[str]:  # noqa: N802  Qt's name
        """Files."""
        return ["text/uri-list"]

    def supportedDragActions(self) -> Qt.DropAction:  # noqa: N802  Qt's name
        """Copy only: dragging never removes an image from the gallery."""
        return Qt.DropAction.CopyAction

    def section(self, row: int) -> str:
        """Return the row's date section; "" if rows are not in chronological order."""
        item = self.peek(row)
        if item is None or self._query.order in ("best", "similar"):
            return ""
        return section(item.made, self._today())

    def heading(self, row: int) -> str:
        """Return the section if it differs from the previous row's, otherwise ""."""
        found = self.section(row)
        if row > 0 and (not self.section(row - 1) or self.section(row - 1) == found):
            return ""
        return found

    def _sentence(self, item: GalleryItem | None) -> str:
        if item is None:
            return self.tr("Loading")
        words = [item.prompt or self.tr("No prompt"), moment(item.made), f"{item.width} × {item.height}"]
        if item.rating:
            words.append(self.tr("Stars: %n", "", item.rating))
        return ", ".join(words)

    # ---- thumbnails

    def show_rows(self, first: int, last: int) -> None:
        """Set the visible rows."""
        super().show_rows(first, last)
        self._want_thumbnails()

    def set_thumbnails(self, side: int, margin: int) -> None:
        """Set the thumbnail side in pixels, and the number of rows prefetched on either side of the visible ones."""
        self._side, self._margin = side, margin
        self._want_thumbnails()

    def try_again(self) -> None:
        """Reload everything, including thumbnails that failed."""
        self._thumbnails.forget_failures()
        self.begin()
        self._want_thumbnails()
        self.ask_models()

    def _thumbnail_of(self, item: GalleryItem) -> ThumbnailKey:
        return ThumbnailKey(path=item.path, side=self._side, stamp=item.made)

    def _want_thumbnails(self) -> None:
        shown = self.shown_rows()
        beyond = range(shown.stop, shown.stop + self._margin)
        before = range(shown.start - 1, max(-1, shown.start - 1 - self._margin), -1)
        items = [self.peek(row) for rows in (shown, beyond, before) for row in rows]
        self._thumbnails.show([self._thumbnail_of(item) for item in items if item is not None], viewer="gallery")

    def _thumbnail_changed(self, path: str) -> None:
        for row in self.shown_rows():
            item = self.peek(row)
            if item is not None and item.path == path:
                self.dataChanged.emit(self.index(row), self.index(row), [ThumbnailRole, BrokenRole])

    # ---- ratings

    def rate(self, items: Iterable[GalleryItem], stars: int) -> None:
        """Set the rating of images; shown at once, and reverted if saving fails."""
        items = [item for item in items if item.rating != stars]
        if not items:
            return
        self._show_stars(items, stars)
        for first in range(0, len(items), MAX_PER_REQUEST):
            some = items[first : first + MAX_PER_REQUEST]
            self._librarian.ask(
                "gallery.rate",
                Rating(paths=tuple(item.path for item in some), rating=stars),
                then=lambda _none: self.refresh(),
                failed=partial(self._not_rated, some),
            )

    def rating_of(self, path: str) -> int:
        """Return the rating of an image if its page is loaded, otherwise 0."""
        item = self.find(path)
        return 0 if item is None else item.rating

    def _show_stars(self, items: Iterable[GalleryItem], stars: int | None) -> None:
        for item in items:
            rating = item.rating if stars is None else stars
            self.update_optimistically(item.id, lambda old, rating=rating: replace(old, rating=rating))  # type: ignore[misc]

    def _not_rated(self, items: list[GalleryItem], failure: Failure) -> None:
        self._show_stars(items, None)
        self.failed.emit(self.tr("The rating was not saved: {0}").format(failure.message))
