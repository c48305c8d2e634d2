"""`python -m mezzotint_app` opens the window."""

import sys

from mezzotint_app.main import main

sys.exit(main())
