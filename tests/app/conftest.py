"""The whole window without processes, for every test of the app."""

from window_parts import asked, program, used, window  # noqa: F401  fixtures
