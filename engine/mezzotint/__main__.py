"""`python -m mezzotint` runs the `mezzotint` command."""

import sys

from mezzotint.cli import main

sys.exit(main())
