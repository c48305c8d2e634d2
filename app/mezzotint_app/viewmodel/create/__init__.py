"""The Create page: what is asked for, checked and kept."""
