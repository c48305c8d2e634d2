"""The models of a job: loaded, kept, placed, and made room for."""
