"""The whole window without processes, for every test of the app."""

from collected_here import collected_here  # noqa: F401  for every test
from window_parts import asked, program, used, window  # noqa: F401  fixtures
