"""Find the models on this machine. Read-only: nothing is copied or moved."""

from mezzotint.catalog.catalog import Catalog, FoundModel

__all__ = ["Catalog", "FoundModel"]
