"""Maps Python string indices to document positions (UTF-16), where characters above U+FFFF count twice."""


class TextPlaces:
    """The places of one text."""

    def __init__(self, text: str) -> None:
        self._wide = [place for place, letter in enumerate(text) if ord(letter) > 0xFFFF]

    def position(self, index: int) -> int:
        """The document's position of an index."""
        return index + sum(1 for place in self._wide if place < index)

    def index(self, position: int) -> int:
        """The index of a document's position."""
        before = 0
        for place in self._wide:
            if place + before >= position:
                break
            before += 1
        return position - before
