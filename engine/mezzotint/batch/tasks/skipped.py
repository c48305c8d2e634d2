"""Inputs that yield no task, and why."""

from dataclasses import dataclass

IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".webp", ".avif", ".tif", ".tiff", ".bmp", ".gif")
_UNREADABLE = ("image_refused", "storage")  # kinds of errors


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file or row that yields no task."""

    input: str  # relative to the input folder, with / as separator; or the row, such as "prompts.csv, line 7"
    reason: str
    # image_refused, not_an_image, no_mask, not_a_file, link, name, no_prompt, usage, storage, twice; or, for what a job
    # has beside its rows: unused_columns, unused_wildcards
    kind: str

    @property
    def is_failure(self) -> bool:
        """Whether it is a selected input that cannot be read; the others are merely skipped."""
        return self.kind in _UNREADABLE


def kind_of_refused(name: str, kind: str) -> str:
    """Return the kind for an input that could not be opened; without an image suffix it is only skipped."""
    is_image = name.lower().endswith(IMAGE_SUFFIXES)
    return "not_an_image" if kind == "image_refused" and not is_image else kind
