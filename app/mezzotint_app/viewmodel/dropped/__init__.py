"""What was dropped on the window, and what images say of themselves."""
