"""A library service or an engine that is what a file says at startup: the real one, or one with a fault.

python switched_server.py FILE MODULE       FILE contains `real`, `well` (a fake without a fault), or a startup
                                            fault of fake_server.py
"""

import os
import sys
from pathlib import Path

FAKE = Path(__file__).with_name("fake_server.py")

how = Path(sys.argv[1]).read_text()
command = ["-m", sys.argv[2]] if how == "real" else [str(FAKE), "--start", how]
if os.name == "nt":
    import subprocess

    sys.exit(subprocess.call([sys.executable, "-P", *command]))
os.execv(sys.executable, [sys.executable, "-P", *command])
