"""A slot of the arena: memory at a fixed address through which blocks are streamed in turn."""

from collections.abc import Callable, Mapping

from mezzotint.memory.copying import Copier, Mark, Ticket
from mezzotint.memory.loads import Load

_CONTEXT = 3  # blocks used last, by which the next is predicted: a training turns round within a step


class Slot:
    """Holds one of its blocks at a time, and prefetches the next as soon as one has been used.

    The next block is the one that followed last time after the same blocks, as many as are known, initially in the
    given order. If another is needed, it is copied on demand: the order affects only time, never results.
    """

    def __init__(
        self, blocks: Mapping[str, Load], copier: Copier, arrived: Callable[[str], None] = lambda _: None
    ) -> None:
        """`arrived` is called with a block each time it has arrived, before computation continues."""
        self._blocks, self._copier, self._arrived = blocks, copier, arrived
        names = list(blocks)
        self._following: dict[tuple[str, ...], str] = {
            (name,): after for name, after in zip(names, [*names[1:], names[0]], strict=True)
        }
        self._held = ""
        self._latest: tuple[str, ...] = ()  # the blocks used last
        self._ticket: Ticket | None = None
        self._first = names[0]
        self.misses = 0  # how often a block was needed that was not being fetched yet

    def prepare(self, after: Mark) -> None:
        """Prefetch the first block."""
        self._fetch(self._first, after)

    def before(self, block: str) -> None:
        """Make the block available before computation continues."""
        for start in range(len(self._latest)):
            self._following[self._latest[start:]] = block
        self._latest = (*self._latest, block)[-_CONTEXT:]
        if self._held != block:
            self.misses += 1
            self._fetch(block, self._copier.mark())
        if self._ticket is not None:
            ticket, self._ticket = self._ticket, None
            try:
                ticket.wait()
                self._arrived(block)
            except BaseException:
                self._held, self._ticket = "", ticket
                raise

    def invalidate(self) -> None:
        """Drop a block that already arrived; one still in flight is kept."""
        if self._ticket is None:
            self._held = ""

    def after(self, block: str) -> None:
        """The block's computation has been queued: prefetch the next."""
        contexts = (self._latest[start:] for start in range(len(self._latest)))
        following = next((self._following[each] for each in contexts if each in self._following), block)
        if following != self._held:
            self._fetch(following, self._copier.mark())

    def drain(self) -> None:
        """Make sure that no copy is still writing."""
        if self._ticket is not None:
            self._ticket.drain()

    def _fetch(self, block: str, after: Mark) -> None:
        self.drain()  # in case another copy is still in flight
        self._held, self._ticket = "", None
        self._ticket = self._copier.start(self._blocks[block], after)
        self._held = block
