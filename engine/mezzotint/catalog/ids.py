"""A unique, reproducible id for every model."""

from collections import Counter
from collections.abc import Sequence

from mezzotint.catalog.place import Candidate


def with_ids(candidates: Sequence[Candidate]) -> dict[str, Candidate]:
    """Candidates by id, in order.

    The id is the short name if it is unique, and otherwise the long one, so that a file added later never silently
    takes over another's id. Bundled models keep their names.
    """
    bundled = {candidate.name.casefold() for candidate in candidates if candidate.source == "bundled"}
    bearers = Counter(candidate.name.casefold() for candidate in candidates)
    ids: dict[str, Candidate] = {}
    taken: set[str] = set()
    for candidate in candidates:
        name = candidate.name.casefold()
        own = bearers[name] == 1 or (candidate.source == "bundled" and name in bundled)
        wanted = candidate.name if own else candidate.long_name
        identity = _unique(wanted, taken)
        taken.add(identity.casefold())
        ids[identity] = candidate
    return ids


def _unique(wanted: str, taken: set[str]) -> str:
    identity, number = wanted, 1
    while identity.casefold() in taken:
        number += 1
        identity = f"{wanted}~{number}"
    return identity
