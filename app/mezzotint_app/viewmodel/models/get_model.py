"""Downloading a model: the curated list, and details of a download. Nothing is downloaded without being requested."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import GetRequest, KnownModel, KnownModelsRequest, Offer
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.models.models import ModelLibrary


class GetModel(QObject):
    """The chosen model, the offer to download it, and the start of the download."""

    changed = Signal()

    def __init__(self, librarian: Service, library: ModelLibrary, endpoint: str = "") -> None:
        super().__init__(library)
        self._librarian, self._library, self._endpoint = librarian, library, endpoint
        self.known: tuple[KnownModel, ...] = ()
        self.source = ""
        self.token = ""
        self.offer: Offer | None = None
        self.looking = False
        self.problem = ""
        self._call: int | None = None

    def load(self, vram_bytes: int | None = None) -> None:
        """Request the curated list for a GPU with `vram_bytes`; it is part of the program, so nothing goes online."""
        request = KnownModelsRequest(vram_bytes=vram_bytes)
        self._librarian.ask(
            "known_models", request, answer=tuple[KnownModel, ...], then=self._known, failed=self._failed
        )

    def choose(self, source: str) -> None:
        """Choose another model or link, which discards the current offer."""
        if source.strip() != self.source:
            self._drop()
            self.source, self.offer, self.problem = source.strip(), None, ""
            self.changed.emit()

    def set_token(self, token: str) -> None:
        """Set the user's access token for gated models; it is not stored."""
        self.token = token.strip()

    def look(self) -> None:
        """Ask the hub for the download's details: size, license, free disk space."""
        if not self.source:
            self.problem = self.tr("Enter a model, such as owner/name, or a link that begins with https://")
            self.changed.emit()
            return
        self._drop()
        self.looking, self.offer, self.problem = True, None, ""
        self._call = self._librarian.ask(
            "offer", self._request(), answer=Offer, then=self._offered, failed=self._failed
        )
        self.changed.emit()

    def can_get(self) -> bool:
        """Whether there is an offer without a problem."""
        return self.offer is not None and self.offer.problem is None

    def get(self) -> int:
        """Start the download; returns its job."""
        return self._library.get(self._request())

    def _request(self) -> GetRequest:
        revision = self.offer.revision if self.offer is not None and self.offer.revision else None
        return GetRequest(
            source=self.source, revision=revision, token=self.token or None, endpoint=self._endpoint or None
        )

    def _drop(self) -> None:
        if self._call is not None:
            self._librarian.cancel(self._call)
            self._call, self.looking = None, False

    def _known(self, known: Iterable[KnownModel]) -> None:
        self.known = tuple(known)
        self.changed.emit()

    def _offered(self, offer: Offer) -> None:
        if offer.source == self.source:
            self._call, self.looking, self.offer = None, False, offer
            self.changed.emit()

    def _failed(self, failure: Failure) -> None:
        if failure.kind != "cancelled":
            self._call, self.looking, self.problem = None, False, failure.message
            self.changed.emit()
