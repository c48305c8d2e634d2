"""Where the window stood, and what was open in it."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState:
    """Kept as it changes, so that a crash loses nothing of it."""

    geometry: str = ""  # Qt's own bytes in base64; empty: as Qt places it
    maximized: bool = False
    page: int = 0
    parts: dict[str, tuple[int, ...]] = field(default_factory=dict)  # pixels of splitters and columns, by their names
    engine_seconds: float = 0.0  # that the engine took to start the last time; 0: not known
    libraries_seconds: float = 0.0  # that its first job took until it told something
    told_go_on: bool = False  # whether it was explained that the queue goes on without the window
