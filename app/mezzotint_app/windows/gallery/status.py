"""The line between filters and images: the date at the top of the view, the number of images and scan progress."""

from PySide6.QtCore import QLocale, QSize
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QToolButton, QWidget

from mezzotint_app.resources import icon
from mezzotint_app.viewmodel.gallery.gallery import GalleryModel
from mezzotint_app.viewmodel.gallery.scan import GalleryScanner
from mezzotint_app.viewmodel.queue.texts import images_count
from mezzotint_app.widgets.labels import plain_label


class GalleryStatus(QWidget):
    """Keeps the current date visible while its images are scrolled."""

    def __init__(self, model: GalleryModel, scanner: GalleryScanner, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model, self._scanner = model, scanner
        self._first = 0
        self._selected = 0
        self._date: QLabel = plain_label(role="heading")
        self._count: QLabel = plain_label(role="muted")
        self._scan: QLabel = plain_label(role="muted")
        self._bar = QProgressBar()
        self._stop = QToolButton()
        self._build()
        for changed in (model.counted, model.answered, model.modelReset):
            changed.connect(self._show)
        scanner.changed.connect(self._show_scan)
        self._show()
        self._show_scan()

    def show_first(self, row: int) -> None:
        """Set the first visible row."""
        self._first = row
        self._show()

    def show_selected(self, count: int) -> None:
        """Set how many images are selected; said if there are several."""
        self._selected = count
        self._show()

    def texts(self) -> tuple[str, str, str]:
        """The shown date, count and scan state."""
        return self._date.text(), self._count.text(), self._scan.text() if self._scanner.is_running() else ""

    def _build(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        self._bar.setMaximumHeight(8)
        self._bar.setAccessibleName(self.tr("Scan progress"))
        self._stop.setIcon(icon("cancel"))
        self._stop.setIconSize(QSize(16, 16))
        self._stop.setProperty("role", "quiet")
        self._stop.setAccessibleName(self.tr("Stop scanning"))
        self._stop.setToolTip(self.tr("Stop scanning for images; images found so far are kept"))
        self._stop.clicked.connect(self._scanner.cancel)
        row.addWidget(self._date)
        row.addWidget(self._count)
        row.addStretch()
        for part in (self._scan, self._bar, self._stop):
            row.addWidget(part)

    def _show(self, *_: object) -> None:
        total = self._model.rowCount()
        self._date.setText(self._model.section(self._first) if total else "")
        self._date.setVisible(bool(self._date.text()))
        count = images_count(total) if self._model.is_loaded() else ""
        if count and self._selected > 1:
            count = self.tr("{images}, {count} selected").format(images=count, count=QLocale().toString(self._selected))
        self._count.setText(count)

    def _show_scan(self) -> None:
        running, progress = self._scanner.is_running(), self._scanner.progress()
        for part in (self._scan, self._bar, self._stop):
            part.setVisible(running)
        if not running:
            return
        locale = QLocale()
        if progress is None or progress.total is None:
            self._bar.setRange(0, 0)
            self._scan.setText(self.tr("Scanning for images"))
        else:
            self._bar.setRange(0, max(1, progress.total))
            self._bar.setValue(progress.done)
            self._scan.setText(
                self.tr("Reading images: {0} of {1}").format(
                    locale.toString(progress.done), locale.toString(progress.total)
                )
            )
