"""The gallery and the viewer."""
