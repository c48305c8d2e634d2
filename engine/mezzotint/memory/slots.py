"""A slot of the arena: memory at one address through which the same blocks pass in turn."""

from collections.abc import Callable, Mapping

from mezzotint.memory.copying import Copier, Mark, Ticket
from mezzotint.memory.loads import Load


class Slot:
    """Holds one of its blocks at a time, and fetches the next as soon as one has been used.

    Which is next is what came next the last time; at first, the order in which the blocks are given. When something
    else comes after all, it is copied then and there: the order decides about time, never about what is computed.
    """

    def __init__(
        self, blocks: Mapping[str, Load], copier: Copier, arrived: Callable[[str], None] = lambda _: None
    ) -> None:
        """`arrived` is told of a block each time that it has come, before computing goes on."""
        self._blocks, self._copier, self._arrived = blocks, copier, arrived
        names = list(blocks)
        self._following = dict(zip(names, [*names[1:], names[0]], strict=True))
        self._held = ""
        self._latest = ""  # that was used
        self._ticket: Ticket | None = None
        self._first = names[0]
        self.misses = 0  # how often a block was not yet on its way when it was wanted

    def prepare(self, after: Mark) -> None:
        """Fetch the first block."""
        self._fetch(self._first, after)

    def before(self, block: str) -> None:
        """Have the block here before computing goes on."""
        if self._latest:
            self._following[self._latest] = block
        self._latest = block
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

    def renew(self) -> None:
        """Have no block here that was told of; one on its way may come."""
        if self._ticket is None:
            self._held = ""

    def after(self, block: str) -> None:
        """The block has been used, as far as what computing was asked for goes: fetch the next."""
        following = self._following[block]
        if following != self._held:
            self._fetch(following, self._copier.mark())

    def settle(self) -> None:
        """Have nothing written any more."""
        if self._ticket is not None:
            self._ticket.settle()

    def _fetch(self, block: str, after: Mark) -> None:
        self.settle()  # should something else still be on its way
        self._held, self._ticket = "", None
        self._ticket = self._copier.start(self._blocks[block], after)
        self._held = block
