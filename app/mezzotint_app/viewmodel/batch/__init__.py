"""View models of the Batch page: forms, runs and their texts."""
