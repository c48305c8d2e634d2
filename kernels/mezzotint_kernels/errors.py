"""Errors of the kernels."""


class KernelsError(Exception):
    """Base of all errors of this package; the message says what happened, the value seen, and what to do."""


class KernelsUnavailable(KernelsError):
    """No library, one of another version, no driver, or no such device."""


class Unsupported(KernelsError):
    """A valid request that no kernel supports here; use another implementation."""


class InvalidArgument(KernelsError):
    """A mistake of the caller."""


class LaunchFailed(KernelsError):
    """CUDA refused to launch a kernel, or an earlier one had failed."""
