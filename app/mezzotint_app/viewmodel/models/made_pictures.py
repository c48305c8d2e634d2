"""Where pictures of models are generated, which are no results of the Create page."""

from pathlib import Path

from mezzotint.paths import cache_folder
from mezzotint.protocol import GenerateRequest


def folder() -> Path:
    """Where they are saved until a small copy is stored."""
    return cache_folder() / "made_pictures"


def is_made(path: str) -> bool:
    """Whether an image is such a picture."""
    return Path(path).parent == folder()


def makes(request: GenerateRequest) -> bool:
    """Whether a request makes such a picture."""
    return request.output.path is not None and is_made(request.output.path.replace("[[", "["))
