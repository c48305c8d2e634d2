"""Scenes of everyday things: published pictures of things, composed with drawn scenery, and their captions."""
