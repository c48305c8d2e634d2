"""The window's position and layout."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowState:
    """Saved as it changes, so that a crash does not lose it."""

    geometry: str = ""  # Qt's geometry bytes in base64; empty: placed by Qt
    maximized: bool = False
    page: int = 0
    parts: dict[str, tuple[int, ...]] = field(default_factory=dict)  # pixel sizes of splitters and columns, by name
    engine_seconds: float = 0.0  # how long the engine took to start last time; 0: unknown
    libraries_seconds: float = 0.0  # how long its first job took until its first event
    told_go_on: bool = False  # whether the user was told that the queue continues without the window
    engine_build: str = ""  # of an installation of the engine that was begun and has not ended; empty: none
    engine_folder: str = ""  # where to; empty: where the program is
