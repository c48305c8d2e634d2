"""The models of a job: loading, caching, placement, and recovery from memory shortage."""
