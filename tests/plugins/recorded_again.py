"""What an image says of how it was made, with the files of its request found again."""

from dataclasses import replace

from mezzotint.images import metadata
from mezzotint.library.recorded_files import RecordedFiles


def read_metadata(path):
    """The metadata of an image, as a command or the window starts from it."""
    found = metadata.read_metadata(path)
    if found.request is None:
        return found
    return replace(found, request=RecordedFiles(folders=(path.parent,)).located(found.request))
