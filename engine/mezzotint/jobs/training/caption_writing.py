"""Writes the captions of an image into the text file beside it."""

from pathlib import Path

from mezzotint.atomic import atomic_write
from mezzotint.errors import UsageError
from mezzotint.training.dataset.caption_files import MAX_CAPTION_FILE
from mezzotint.training.dataset.listing import CAPTION_SUFFIXES, IMAGE_SUFFIXES
from mezzotint.training_protocol import CaptionEdit
from mezzotint.trouble import shown


def write_captions(edit: CaptionEdit) -> Path:
    """Write the captions, one a line, into the file that is read: an existing one, else NAME.txt.

    Raises UsageError for what is not an image, and captions that are too long; StorageError.
    """
    image = Path(edit.image)
    if not image.is_absolute() or "\0" in edit.image or image.suffix.lower() not in IMAGE_SUFFIXES:
        raise UsageError(f"{shown(image)} is not the absolute path of an image")
    if not image.is_file():
        raise UsageError(f"{shown(image)} is not there any more")
    lines = [" ".join(caption.split()) for caption in edit.captions]
    data = "".join(f"{line}\n" for line in lines if line).encode()
    if len(data) > MAX_CAPTION_FILE:
        raise UsageError(f"the caption has {len(data)} bytes; at most {MAX_CAPTION_FILE} are read: shorten it")
    beside = [image.with_suffix(suffix) for suffix in CAPTION_SUFFIXES]
    path = next((one for one in beside if one.is_file()), beside[0])
    atomic_write(path, data, overwrite=True)
    return path
