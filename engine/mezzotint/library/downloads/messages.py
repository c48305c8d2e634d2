"""What goes between this process and the one that reaches the net: one question in, progress and one answer out."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAtHub:
    """What is there, and what would it bring?"""

    repository: str
    revision: str | None
    endpoint: str
    token: str | None  # None: the person's own, where that may go
    environment: bool  # whether the endpoint is the one that the person's environment names


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file as the hub lists it."""

    name: str
    bytes: int
    sha256: str | None = None  # of large files
    blob: str | None = None  # of small ones: git's sha1


@dataclass(frozen=True, slots=True, kw_only=True)
class HubListing:
    """A model of the hub at one commit."""

    repository: str
    commit: str
    files: tuple[HubFile, ...]
    licence: str
    locked: bool  # whether its files are only given out after an agreement that has not been made
    index: str | None  # the text of its model_index.json


@dataclass(frozen=True, slots=True, kw_only=True)
class LookAtLink:
    """What is at the end of this link?"""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkFacts:
    """What a server says of a file."""

    name: str
    bytes: int
    validator: str  # by which the server knows this content again; empty: it gives none
    problem: str | None  # what the first bytes show it to be, if that is no model


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedFile:
    """A file to be fetched; what it will be called is not told, so that no name from the net reaches the disk there."""

    key: str  # stands for its content
    name: str  # on the hub; of a link, for messages
    bytes: int
    url: str | None = None  # of a link
    sha256: str | None = None
    blob: str | None = None
    validator: str = ""  # of a link: by which its server knows this content again


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """Bring these files."""

    folder: str
    repository: str | None
    commit: str | None
    endpoint: str
    token: str | None
    environment: bool
    files: tuple[WantedFile, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """All are there and right."""

    sums: dict[str, str]  # from key to sha256
