"""The attention operation and its implementations."""
