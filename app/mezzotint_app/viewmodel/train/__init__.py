"""The Train page without widgets: its form, the check of the dataset, and the runs."""
