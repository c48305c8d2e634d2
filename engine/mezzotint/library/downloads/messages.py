"""Messages to and from the fetching process: one request in, progress and one result out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAtHub:
    """Request: list a hub model."""

    repository: str
    revision: str | None
    endpoint: str
    token: str | None  # None: the user's own, where it may be sent
    environment: bool  # whether the endpoint comes from the user's environment


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file as the hub lists it."""

    name: str
    bytes: int
    sha256: str | None = None  # for large files
    blob: str | None = None  # for small files: git blob sha1


@dataclass(frozen=True, slots=True, kw_only=True)
class HubListing:
    """Result: a hub model at one commit."""

    repository: str
    commit: str
    files: tuple[HubFile, ...]
    licence: str
    locked: bool  # whether the model is gated and access was not granted
    index: str | None  # the text of its model_index.json
    config: str | None = None  # without an index: the text of its config.json


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHub:
    """Request: find a hub's image models by words of their names."""

    words: str
    endpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HubEntry:
    """A model as a search lists it."""

    id: str
    tags: tuple[str, ...]
    licence: str
    downloads: int | None
    bytes: int | None
    gated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HubEntries:
    """Result: the models found, the most downloaded first."""

    entries: tuple[HubEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAtLink:
    """Request: query the file at a link."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFacts:
    """Result: what the server reports about the file at a link."""

    name: str
    bytes: int
    validator: str  # strong etag that identifies this content; empty if the server gives none
    problem: str | None  # what the file is according to its first bytes, if not a model


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """A file to download, stored under `key`: the fetching process writes no names from the network to disk."""

    key: str  # identifies its content
    name: str  # on the hub; for links, only for messages
    bytes: int
    url: str | None = None  # for links
    sha256: str | None = None
    blob: str | None = None
    validator: str = ""  # for links: strong etag of this content


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """Request: download these files."""

    folder: str
    repository: str | None
    commit: str | None
    endpoint: str
    token: str | None
    environment: bool
    files: tuple[WantedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """Result: all files are downloaded and verified."""

    sums: dict[str, str]  # from key to sha256
