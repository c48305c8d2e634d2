"""What can go wrong while packaging, as one line for the person who builds."""


class PackagingError(Exception):
    """An installer cannot be built: what happened, and what to do."""
