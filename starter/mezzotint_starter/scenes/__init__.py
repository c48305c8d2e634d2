"""Scenes of everyday things: pictures of things from published sets, composed with drawn scenery, and their captions."""
