"""Print definitions that nothing uses, and exit with an error if there are any."""

import sys
from pathlib import Path

from vulture import Vulture

ROOT = Path(__file__).resolve().parents[1]
PATHS = ("engine", "app", "bench", "kernels/kernel_build", "kernels/mezzotint_kernels", "packaging", "tests")
CALLED_BY_OTHERS = {
    # Qt
    *("expandingDirections", "hasHeightForWidth", "heightForWidth", "highlightBlock", "horizontalOffset", "mimeTypes"),
    "filterAcceptsRow",
    *("createEditor", "setEditorData", "setModelData", "updateEditorGeometry"),
    *("columnCount", "setSelection", "startDrag", "supportedDragActions", "supportedDropActions"),
    # Python's HTTP server, and uvicorn
    *("log_message", "send_400_response"),
    # Pillow's reader of PNG, by the kind of chunk
    *("chunk_iCCP", "chunk_iTXt", "chunk_tEXt", "chunk_zTXt"),
    # Python's imports and coverage, and Ray by a name in text
    *("create_module", "get_code", "hello", "standard_node"),
}


def unused(paths: list[Path]) -> list[str]:
    """Return the classes, functions and methods outside of tests that no code in these folders refers to."""
    scan = Vulture()
    scan.scavenge([str(path) for path in paths])
    return [
        f"{item.filename}:{item.first_lineno}: {item.typ} {item.name} is used by nobody"
        for item in scan.get_unused_code()
        if item.typ in ("class", "function", "method", "property")
        and "tests" not in item.filename.relative_to(ROOT).parts
        and item.name not in CALLED_BY_OTHERS
        and not item.name.startswith("pytest_")
        and not item.name.endswith("Event")
    ]


if __name__ == "__main__":
    found = unused([ROOT / path for path in PATHS])
    print("\n".join(found))
    sys.exit(bool(found))
