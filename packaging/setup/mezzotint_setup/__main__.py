"""`python -m mezzotint_setup`."""

import sys

from mezzotint_setup.command import main

if __name__ == "__main__":
    sys.exit(main())
