"""What is no task, and why."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A file or row that is passed over."""

    input: str  # from the input folder, with / between folders; or the row, such as "prompts.csv, line 7"
    reason: str
    kind: str  # image_refused, no_mask, not_a_file, link, name, no_prompt, usage, storage, twice
