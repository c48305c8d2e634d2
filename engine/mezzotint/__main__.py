"""`python -m mezzotint` is `mezzotint`."""

import sys

from mezzotint.cli import main

sys.exit(main())
