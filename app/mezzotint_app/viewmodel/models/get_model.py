"""Getting a model: the curated list, and what fetching one would bring. Nothing is fetched unless asked."""

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal

from mezzotint.library_protocol import GetRequest, KnownModel, KnownModelsRequest, Offer
from mezzotint_app.processes.service import Failure, Service
from mezzotint_app.viewmodel.models.models import ModelLibrary


class GetModel(QObject):
    """Which model, its offer, and the start of its download."""

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
        """Ask for the curated list, for a card of so many bytes; it is in the program and nothing goes online."""
        request = KnownModelsRequest(vram_bytes=vram_bytes)
        self._librarian.ask(
            "known_models", request, answer=tuple[KnownModel, ...], then=self._known, failed=self._failed
        )

    def choose(self, source: str) -> None:
        """Another model, or another link; the offer before is gone."""
        if source.strip() != self.source:
            self._drop()
            self.source, self.offer, self.problem = source.strip(), None, ""
            self.changed.emit()

    def set_token(self, token: str) -> None:
        """The person's key for models that ask for one; it is kept nowhere."""
        self.token = token.strip()

    def look(self) -> None:
        """Ask the hub what fetching would bring: size, licence, room on the disk."""
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
        """Whether there is an offer that can be taken."""
        return self.offer is not None and self.offer.problem is None

    def get(self) -> int:
        """Fetch it."""
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
