"""The Batch page: forms, runs and what they tell."""
