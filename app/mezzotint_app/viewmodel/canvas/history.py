"""Undo and redo: each step holds what to put back, tile by tile."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from PySide6.QtGui import QImage

from mezzotint_app.viewmodel.canvas.tiles import Place

MOST_STEPS = 200
MOST_BYTES = 512 << 20  # of tiles that only the history holds; beyond it the oldest steps are dropped

S = TypeVar("S")
LayerTiles = dict[tuple[int, Place], QImage | None]  # by layer and place; None: no tile


@dataclass(frozen=True, slots=True, kw_only=True)
class Step(Generic[S]):
    """What restores an earlier document: its state, and the tiles that differ, by layer."""

    state: S
    tiles: LayerTiles = field(default_factory=dict)
    kind: str = ""  # steps of the same kind that follow each other become one; empty: never

    def bytes(self) -> int:
        """Return the bytes of its tiles; tiles that share their pixels count once."""
        tiles = {tile.cacheKey(): tile.sizeInBytes() for tile in self.tiles.values() if tile is not None}
        return sum(tiles.values())


class History(Generic[S]):
    """Steps back and forward; bounded in number and memory."""

    def __init__(self, apply: Callable[[Step[S]], Step[S]], most_bytes: int = MOST_BYTES) -> None:
        self._apply = apply  # puts a step into effect, and returns the one that undoes that
        self._back: deque[tuple[Step[S], int]] = deque()
        self._forward: list[tuple[Step[S], int]] = []
        self._most_bytes = most_bytes
        self._open = False  # whether the next step of the same kind joins the last one

    def record(self, step: Step[S]) -> None:
        """Add the step that undoes what was just done."""
        self._forward.clear()
        joins = self._open and step.kind and self._back and self._back[-1][0].kind == step.kind and not step.tiles
        self._open = True
        if joins:
            return  # the earlier step restores what was before both
        self._back.append((step, step.bytes()))
        while len(self._back) > 1 and (len(self._back) > MOST_STEPS or self.bytes() > self._most_bytes):
            self._back.popleft()

    def undo(self) -> bool:
        """Undo the last step; returns whether there was one."""
        return self._go(self._back, self._forward)

    def redo(self) -> bool:
        """Redo the step that was undone last; returns whether there was one."""
        return self._go(self._forward, self._back)

    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._back)

    def can_redo(self) -> bool:
        """Whether there is a step to redo."""
        return bool(self._forward)

    def close(self) -> None:
        """Let the next step be one of its own, whatever its kind."""
        self._open = False

    def clear(self) -> None:
        """Forget all steps."""
        self._back.clear()
        self._forward.clear()

    def bytes(self) -> int:
        """Return the bytes of all steps."""
        return sum(size for _, size in (*self._back, *self._forward))

    def _go(
        self,
        source: "deque[tuple[Step[S], int]] | list[tuple[Step[S], int]]",
        target: "deque[tuple[Step[S], int]] | list[tuple[Step[S], int]]",
    ) -> bool:
        self._open = False
        if not source:
            return False
        inverse = self._apply(source.pop()[0])
        target.append((inverse, inverse.bytes()))
        return True
