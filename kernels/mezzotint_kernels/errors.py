"""What can go wrong with the kernels."""


class KernelsError(Exception):
    """Base of all errors of this package; the message says what happened, the value seen, and what to do."""


class KernelsUnavailable(KernelsError):
    """No library, one of another version, no driver, or no such device."""


class Unsupported(KernelsError):
    """A request that is well formed, but that no kernel can serve here: another implementation must."""


class InvalidArgument(KernelsError):
    """A caller's mistake."""


class LaunchFailed(KernelsError):
    """CUDA refused to queue a kernel, or an earlier one had failed."""
