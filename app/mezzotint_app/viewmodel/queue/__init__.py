"""View models of the queue, and the runner that drains it."""
