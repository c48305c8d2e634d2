"""The Gallery page: all images by date, to search, view, rate and reuse."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QGuiApplication, QImage, QKeySequence, QShowEvent
from PySide6.QtWidgets import QSplitter, QStackedLayout, QVBoxLayout, QWidget

from mezzotint.library_protocol import GalleryItem, GalleryQuery
from mezzotint_app.viewmodel.gallery.gallery import BrokenRole, HeadingRole, RatingRole, ThumbnailRole
from mezzotint_app.viewmodel.gallery.parts import Gallery
from mezzotint_app.viewmodel.queue.texts import images_count
from mezzotint_app.viewmodel.thumbnails import side_for
from mezzotint_app.widgets.confirm import confirm
from mezzotint_app.widgets.empty_state import EmptyState
from mezzotint_app.widgets.images.grid_view import GridView
from mezzotint_app.widgets.images.thumbnail_delegate import ThumbnailDelegate
from mezzotint_app.widgets.notice_bar import NoticeBar
from mezzotint_app.widgets.queue_list import selected_count, selected_rows
from mezzotint_app.windows.gallery.bar import LARGEST, SMALLEST, GalleryBar
from mezzotint_app.windows.gallery.boards_menu import BoardsMenu, ask_tags
from mezzotint_app.windows.gallery.boards_panel import BoardsPanel
from mezzotint_app.windows.gallery.page_actions import PANEL, PageActions
from mezzotint_app.windows.gallery.side_panel import GallerySidePanel
from mezzotint_app.windows.gallery.similarity_notice import SimilarityNotice
from mezzotint_app.windows.gallery.status import GalleryStatus
from mezzotint_app.windows.gallery.trash_notice import TrashNotice
from mezzotint_app.windows.gallery.upscale_dialog import ask_upscale
from mezzotint_app.windows.gallery.upscale_notice import UpscaleNotice

_NEIGHBOURS = 500  # images on either side that the full-screen viewer can browse


class GalleryPage(QWidget):
    """A grid with filters above it and the current image's settings beside it."""

    show_settings_of = Signal(str)  # opens the dialog that compares an image's settings with the current ones
    use_as_input = Signal(str)
    edit_image = Signal(str)
    style_asked = Signal(str)  # save its settings as a style
    open_in_canvas = Signal(str)
    open_full_screen = Signal(list, int)  # paths, and index of the one to show
    compare = Signal(list)  # paths, two to four
    create_asked = Signal()
    remix_asked = Signal(str)
    variations_asked = Signal(list)  # paths
    other_model_asked = Signal(list, object)  # paths, and where on the screen to ask
    message = Signal(str)  # a message for the status bar

    def __init__(self, gallery: Gallery, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._gallery = gallery
        self._unlisted = False  # whether the notice says that the list could not be read
        state = gallery.state.value()
        self.grid = GridView()
        self._delegate = ThumbnailDelegate(
            thumbnail=ThumbnailRole,
            broken=BrokenRole,
            heading=HeadingRole,
            rating=RatingRole,
            tooltip=Qt.ItemDataRole.DisplayRole,
            parent=self,
        )
        self.actions_of_images = self._make_actions()
        side = min(max(state.side, SMALLEST), LARGEST)  # the value from the file may be out of range
        self.bar = GalleryBar(gallery.model, side, details=state.details, boards=state.boards)
        self.panel = GallerySidePanel(gallery.details, [self.actions_of_images[name] for name in PANEL])
        self.boards = BoardsPanel(gallery.boards, gallery.model)
        self.problem = NoticeBar("error", "danger", closable=True)
        self.trashed = TrashNotice(gallery.trash)
        self.upscaled = UpscaleNotice(gallery.upscaling)
        self.looked_at = SimilarityNotice(gallery.similarity)
        self.status = GalleryStatus(gallery.model, gallery.scanner)
        self.empty = EmptyState("gallery")
        self._build()
        self._connect()
        self._set_side(side)
        self.panel.setVisible(state.details)
        self.boards.setVisible(state.boards)
        self._show_rows()

    def focus_first(self) -> None:
        """Give the focus to the images, or to the placeholder's button if there are none."""
        (self.grid if self._stack.currentIndex() == 0 else self.empty.button).setFocus()

    def sizeHint(self) -> QSize:  # noqa: N802  Qt's name
        """Room for a grid and the panel."""
        return QSize(960, 640)

    def showEvent(self, event: QShowEvent) -> None:  # noqa: N802  Qt's name
        """Check for images that other programs have saved meanwhile."""
        super().showEvent(event)
        self._gallery.rescan_if_needed()

    def show_image(self, path: str) -> None:
        """Make the image of this path the current one, if its row is known."""
        model, current = self._gallery.model, self._current()
        item = model.find(path)
        row = None if item is None else model.row_of(item.id)
        if row is not None and (current is None or current.path != path):  # a selection of several stays
            self.grid.setCurrentIndex(model.index(row))

    # ---- setup

    def _make_actions(self) -> PageActions:
        acts, do = self._gallery.actions, self._with_current
        return PageActions(
            self.grid,
            {
                "open": self._open,
                "settings": do(lambda one: self.show_settings_of.emit(one.path)),
                "remix": do(lambda one: self.remix_asked.emit(one.path)),
                "variations": lambda: self._with_selected(lambda items: self.variations_asked.emit(_paths(items))),
                "other_model": lambda: self._with_selected(self._choose_model),
                "as_input": do(lambda one: self.use_as_input.emit(one.path)),
                "edit": do(lambda one: self.edit_image.emit(one.path)),
                "as_style": do(lambda one: self.style_asked.emit(one.path)),
                "in_canvas": do(lambda one: self.open_in_canvas.emit(one.path)),
                "upscale": lambda: self._with_selected(lambda items: ask_upscale(self._gallery.upscaling, items, self)),
                "cut_out": lambda: self._with_selected(self._remove_backgrounds),
                "compare": lambda: self._with_selected(lambda items: self.compare.emit(_paths(items))),
                "similar": do(lambda one: self._gallery.similarity.sort_by(one.path)),
                "boards": lambda: self._with_selected(self._choose_boards),
                "tags": lambda: self._with_selected(lambda items: ask_tags(self._gallery.boards, items, self)),
                "copy_image": do(acts.copy_pixels),
                "copy_settings": do(acts.copy_settings),
                "copy_prompt": do(acts.copy_prompt),
                "copy_command": do(acts.copy_command),
                "reveal": do(lambda one: self._gallery.reveal.show(one.path)),
                "trash": lambda: self._with_selected(self._trash_items),
                "star": lambda: self._with_selected(acts.toggle_star),
            },
            lambda stars: self._with_selected(lambda items: acts.rate(items, stars)),
        )

    def _build(self) -> None:
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.bar)
        column = QVBoxLayout()
        column.setContentsMargins(16, 8, 16, 8)
        column.setSpacing(8)
        column.addWidget(self.problem)
        column.addWidget(self.trashed)
        column.addWidget(self.upscaled)
        column.addWidget(self.looked_at)
        column.addWidget(self.status)
        self._stack = QStackedLayout()
        self._stack.addWidget(_split("gallery", (self.grid, 680), (self.panel, 280), wide=0))
        self._stack.addWidget(self.empty)
        images = QWidget()
        images.setLayout(self._stack)
        column.addWidget(_split("gallery-boards", (self.boards, 190), (images, 970), wide=1), 1)
        page.addLayout(column, 1)
        self.grid.setItemDelegate(self._delegate)
        self.grid.setModel(self._gallery.model)
        self.grid.setAccessibleName(self.tr("Images"))
        self.grid.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._page_actions()

    def _page_actions(self) -> None:
        """Add shortcuts that work wherever the focus is on this page."""
        for key, do in (
            (QKeySequence(QKeySequence.StandardKey.Find), self._to_search),
            (QKeySequence("Ctrl++"), lambda: self._zoom(32)),
            (QKeySequence("Ctrl+="), lambda: self._zoom(32)),
            (QKeySequence("Ctrl+-"), lambda: self._zoom(-32)),
            (QKeySequence("Ctrl+I"), self.bar.details.toggle),
            (QKeySequence("Ctrl+B"), self.bar.boards.toggle),
            (QKeySequence(QKeySequence.StandardKey.Undo), self._gallery.trash.undo),
        ):
            action = QAction(self)
            action.setShortcut(key)
            action.setShortcutContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            action.triggered.connect(lambda _checked=False, do=do: do())
            self.addAction(action)

    def _connect(self) -> None:
        gallery, model = self._gallery, self._gallery.model
        self.grid.visible_rows_changed.connect(self._in_sight)
        self.grid.activated.connect(lambda _index: self._open())
        self.grid.customContextMenuRequested.connect(self._show_menu)
        self.grid.selectionModel().currentChanged.connect(lambda *_: self._current_changed())
        self.grid.selectionModel().selectionChanged.connect(lambda *_: self._enable_actions())
        for changed in (model.answered, model.modelReset, model.rowsRemoved, model.dataChanged):
            changed.connect(self._show_rows)
        self.bar.side_changed.connect(self._set_side)
        self.bar.details_toggled.connect(self._show_panel)
        self.bar.boards_toggled.connect(self._show_boards)
        self.panel.rated.connect(lambda stars: self._with_current(lambda one: gallery.actions.rate([one], stars))())
        model.query_changed.connect(self._keep_order)
        model.failed.connect(self._not_listed)
        for failed in (part.failed for part in (gallery.actions, gallery.scanner, gallery.reveal, gallery.upscaling)):
            failed.connect(self.problem.show_text)
        for failed in (gallery.boards.failed, gallery.similarity.failed):
            failed.connect(self.problem.show_text)
        gallery.actions.message.connect(self.message)
        gallery.actions.copy_image.connect(_image_to_clipboard)
        gallery.actions.copy_text.connect(lambda text: QGuiApplication.clipboard().setText(text))
        self.empty.button.clicked.connect(self._on_from_empty)

    # ---- display

    def _not_listed(self, why: str) -> None:
        self._unlisted = True
        self.problem.show_text(why)

    def _show_rows(self, *_: object) -> None:
        model = self._gallery.model
        if self._unlisted and model.is_up_to_date():
            self._unlisted = False
            self.problem.show_text("")
        empty = model.is_loaded() and model.rowCount() == 0
        if empty:
            self._show_empty()
        self._stack.setCurrentIndex(1 if empty else 0)
        if not self.grid.currentIndex().isValid() and model.rowCount() and model.peek(0) is not None:
            self.grid.setCurrentIndex(model.index(0))
        self._look_at_current()
        self._enable_actions()

    def _show_empty(self) -> None:
        query = self._gallery.model.query()
        if query == GalleryQuery(order=query.order, board=query.board) and query.board is not None:
            self.empty.show_words(
                self.tr("Nothing on this board"),
                self.tr("Drop images on it, or press B in the gallery."),
                self.tr("Show all images"),
                self.tr("Clear search and filters"),
            )
        elif self._gallery.model.is_narrowed():
            self.empty.show_words(
                self.tr("No matching images"),
                self.tr("Try other search words, fewer stars or another model."),
                self.tr("Show all images"),
                self.tr("Clear search and filters"),
            )
        else:
            self.empty.show_words(
                self.tr("Your images appear here"),
                self.tr("Every image you generate is saved in your image folder, and can be found here by its prompt."),
                self.tr("Create images"),
                self.tr("Open the Create page (Ctrl+1)"),
            )

    def _on_from_empty(self) -> None:
        if self._gallery.model.is_narrowed():
            self._gallery.model.widen()
        else:
            self.create_asked.emit()

    def _in_sight(self, first: int, last: int) -> None:
        self._gallery.model.show_rows(first, last)
        self.status.show_first(first)

    def _current_changed(self) -> None:
        self._look_at_current()
        self._enable_actions()

    def _look_at_current(self) -> None:
        index = self.grid.currentIndex()
        item = self._gallery.model.peek(index.row()) if index.isValid() else None
        if item is not None or not index.isValid():
            self._gallery.details.set_current(item)

    def _enable_actions(self) -> None:
        current, selected = self._current(), selected_count(self.grid)
        self.status.show_selected(selected)
        self.actions_of_images.enable(
            selected, current=current is not None, prompt=current is not None and bool(current.prompt)
        )

    def _set_side(self, side: int) -> None:
        self._delegate.set_side(side)
        self.grid.set_cell(self._delegate.cell())
        self._gallery.model.set_thumbnails(side_for(side * self.devicePixelRatioF()), 2 * self.grid.columns())
        self._gallery.state.change(side=side)

    def _zoom(self, by: int) -> None:
        self.bar.slider.setValue(max(SMALLEST, min(LARGEST, self.bar.slider.value() + by)))

    def _show_panel(self, shown: bool) -> None:
        self.panel.setVisible(shown)
        self._gallery.state.change(details=shown)

    def _show_boards(self, shown: bool) -> None:
        self.boards.setVisible(shown)
        self._gallery.state.change(boards=shown)
        if not shown:
            self._gallery.boards.show(None)  # nothing would say which board is shown

    def _keep_order(self) -> None:
        order = self._gallery.model.query().order
        if order != "similar":
            self._gallery.state.change(order=order)

    def _to_search(self) -> None:
        self.bar.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.bar.search.selectAll()

    # ---- actions

    def _current(self) -> GalleryItem | None:
        index = self.grid.currentIndex()
        return self._gallery.model.peek(index.row()) if index.isValid() else None

    def _with_current(self, then: Callable[[GalleryItem], object]) -> Callable[[], None]:
        def do() -> None:
            current = self._current()
            if current is not None:
                then(current)

        return do

    def _with_selected(self, then: Callable[[list[GalleryItem]], None]) -> None:
        rows = selected_rows(self.grid)
        if rows:
            self._gallery.model.gather(rows, then)

    def _open(self) -> None:
        index = self.grid.currentIndex()
        if not index.isValid():
            return
        row, model = index.row(), self._gallery.model
        around = [at for at in range(max(0, row - _NEIGHBOURS), row + _NEIGHBOURS + 1) if model.peek(at) is not None]
        if row in around:
            paths = [one.path for at in around if (one := model.peek(at)) is not None]
            self.open_full_screen.emit(paths, around.index(row))

    def _choose_model(self, items: list[GalleryItem]) -> None:
        self.other_model_asked.emit(_paths(items), self._at_current())

    def _choose_boards(self, items: list[GalleryItem]) -> None:
        BoardsMenu(self._gallery.boards, items, self).popup(self._at_current())

    def _at_current(self) -> QPoint:
        return self.grid.viewport().mapToGlobal(self.grid.visualRect(self.grid.currentIndex()).center())

    def _remove_backgrounds(self, items: list[GalleryItem]) -> None:
        self._gallery.upscaling.remove_backgrounds([one.path for one in items])

    def _trash_items(self, items: list[GalleryItem]) -> None:
        def agreed(do_not_ask: bool) -> None:
            if do_not_ask:
                self._gallery.state.change(confirm_trash=False)
            self._to_trash(items)

        if not self._gallery.state.value().confirm_trash:
            self._to_trash(items)
            return
        confirm(
            self,
            self.tr("Move to trash"),
            self.tr("Move {0} to the trash? Files can be restored from there.").format(images_count(len(items))),
            self.tr("Move to trash"),
            agreed,
            do_not_ask=self.tr("Do not ask again"),
        )

    def _to_trash(self, items: list[GalleryItem]) -> None:
        stay = self.grid.currentIndex().row()
        self._gallery.actions.move_to_trash(items)
        count = self._gallery.model.rowCount()
        if count:
            self.grid.setCurrentIndex(self._gallery.model.index(min(stay, count - 1)))

    def _show_menu(self, at: QPoint) -> None:
        if not selected_count(self.grid):
            return
        menu = self.actions_of_images.menu(self)
        menu.popup(self.grid.viewport().mapToGlobal(at))


def _split(name: str, *parts: tuple[QWidget, int], wide: int) -> QSplitter:
    """Place widgets of these widths beside each other; the one with the index `wide` takes what is left."""
    splitter = QSplitter(Qt.Orientation.Horizontal)
    for part, _ in parts:
        splitter.addWidget(part)
    splitter.setStretchFactor(wide, 1)
    splitter.setChildrenCollapsible(False)
    splitter.setSizes([width for _, width in parts])
    splitter.setObjectName(name)
    return splitter


def _paths(items: Sequence[GalleryItem]) -> list[str]:
    return [one.path for one in items]


def _image_to_clipboard(image: QImage) -> None:
    QGuiApplication.clipboard().setImage(image)
