"""View models of the gallery and the image viewer."""
