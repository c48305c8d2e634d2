"""Mezzotint's bootstrap: gets, proves, switches and starts versions of the program. Standard library only."""
