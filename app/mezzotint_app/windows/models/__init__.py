"""The Models page and its dialogs."""
