"""No library underneath may reach the network."""

import subprocess
import sys

from mezzotint.offline import offline_environment


def test_what_was_said_otherwise_is_overruled():
    environ = {"HF_HUB_OFFLINE": "0", "HOME": "/home/me"}
    offline_environment(environ)
    assert environ["HF_HUB_OFFLINE"] == "1"
    assert environ["HF_HUB_DISABLE_TELEMETRY"] == "1"
    assert environ["HF_HUB_DISABLE_IMPLICIT_TOKEN"] == "1"
    assert environ["DO_NOT_TRACK"] == "1"
    assert environ["DIFFUSERS_DISABLE_REMOTE_CODE"] == "true"
    assert environ["TOKENIZERS_PARALLELISM"] == "false"
    assert environ["HOME"] == "/home/me"


def test_the_hub_library_understands_it():
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "import os; os.environ['HF_HUB_OFFLINE'] = '0'\n"
        "from mezzotint.offline import offline_environment\n"
        "offline_environment()\n"
        "from huggingface_hub import constants\n"
        "assert constants.HF_HUB_OFFLINE and constants.HF_HUB_DISABLE_TELEMETRY\n"
        "assert constants.HF_HUB_DISABLE_IMPLICIT_TOKEN\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
