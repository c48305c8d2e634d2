"""The largest numbers that a job or a command line may say."""

MAX_SEED = 2**63 - 1
MAX_STEPS = 1000
MAX_GUIDANCE = 100.0
MAX_COUNT = 10_000
MAX_PROMPT = 65_536  # characters
MAX_CELLS = 10_000  # combinations of a matrix
MOST_TOGETHER = 64  # images that the engine takes at once
