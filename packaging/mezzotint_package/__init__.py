"""Builds Mezzotint's installers; `make package KIND=...` runs it."""
