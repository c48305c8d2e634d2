"""What can go wrong while kernels are compiled and looked at."""


class BuildError(Exception):
    """The message says what happened, the value seen, and what to do."""
