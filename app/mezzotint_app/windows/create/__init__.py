"""The Create page and its panels."""
