"""`python -m mezzotint.library.fetching`: our only process that accesses the network, and only on request.

Reads one request from stdin; writes progress lines and one result to stdout. Exits when stdin closes, with its parent.
"""

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from mezzotint.checkpoints.plain_text import plain
from mezzotint.codec import encode, from_json, to_json
from mezzotint.errors import MezzotintError
from mezzotint.library.downloads.look import look_at_hub, look_at_link
from mezzotint.library.downloads.messages import Fetch, Fetched, LookAtHub, LookAtLink, SearchHub
from mezzotint.library.downloads.net import headers, prepare_client, token_for
from mezzotint.library.downloads.partial import Partial
from mezzotint.library.downloads.search import search
from mezzotint.library.downloads.transfer import download_file
from mezzotint.protocol import Progress

_TELL_EVERY = 0.1  # seconds between progress events

Tell = Callable[[dict[str, object]], None]


def fetch(asked: Fetch, tell: Tell) -> Fetched:
    """Download and verify all files."""
    from huggingface_hub import hf_hub_url

    token = token_for(asked.endpoint, asked.token, environment=asked.environment) if asked.repository else None
    partial = Partial(Path(asked.folder))
    counter = _Counter(sum(file.bytes for file in asked.files), tell)
    sums = {}
    for file in asked.files:
        url = file.url or hf_hub_url(asked.repository or "", file.name, revision=asked.commit, endpoint=asked.endpoint)
        prepare_client(url)
        counter.what = file.name
        sums[file.key] = download_file(file, url, partial, headers(token), counter.add, counter.check)
    return Fetched(sums=sums)


class _Counter:
    """Reports download progress, rate-limited."""

    def __init__(self, total: int, tell: Tell) -> None:
        self._total = total
        self._tell = tell
        self._done = 0
        self._reported_at = 0.0
        self.what = ""

    def add(self, count: int) -> None:
        """Count received bytes; negative if a file is restarted."""
        self._done += count
        now = time.monotonic()
        if now - self._reported_at >= _TELL_EVERY or self._done == self._total:
            self._reported_at = now
            self._say(plain(self.what))

    def check(self) -> None:
        """Report that the file is being checked, since checksums of large files take a while."""
        self._say(f"checking {plain(self.what)}")

    def _say(self, what: str) -> None:
        self._tell({"event": encode(Progress(what=what, done=self._done, total=self._total, unit="bytes"))})


def answer(kind: str, question: bytes, tell: Tell) -> object:
    """Run the request of the given kind."""
    match kind:
        case "hub":
            return look_at_hub(from_json(LookAtHub, question))
        case "search":
            return search(from_json(SearchHub, question))
        case "link":
            return look_at_link(from_json(LookAtLink, question))
        case _:
            return fetch(from_json(Fetch, question), tell)


def main() -> int:
    """Run the fetching process."""
    from mezzotint.rpc.process import claim_streams

    reader, writer = claim_streams()
    kind, question = sys.argv[1], reader.readline()

    def tell(message: dict[str, object]) -> None:
        writer.write(to_json(message).encode("ascii") + b"\n")
        writer.flush()

    threading.Thread(target=_end_with, args=(reader,), daemon=True).start()
    try:
        tell({"result": encode(answer(kind, question, tell))})
    except MezzotintError as error:
        tell({"error": {"kind": error.kind, "message": str(error), "exit_code": error.exit_code}})
        return error.exit_code
    return 0


def _end_with(reader: BinaryIO) -> None:
    """Exit when stdin closes: the parent is gone and nobody would use the result."""
    while reader.read(1):
        continue
    os._exit(1)


if __name__ == "__main__":
    sys.exit(main())
