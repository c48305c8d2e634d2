"""Models fetched from the net."""
