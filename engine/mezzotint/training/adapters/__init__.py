"""What can be trained: parameters beside networks that stay as they are."""
