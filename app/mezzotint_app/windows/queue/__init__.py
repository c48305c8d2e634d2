"""The Queue page."""
