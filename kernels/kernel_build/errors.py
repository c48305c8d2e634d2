"""Errors of building and checking the kernels."""


class BuildError(Exception):
    """Base error; the message says what happened, the value seen, and what to do."""
