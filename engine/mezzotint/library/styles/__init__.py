"""Styles: named sets of options, in files of their own."""
