"""The canvas as a view: display, tools and their input."""
