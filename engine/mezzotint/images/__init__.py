"""Image files and their metadata: untrusted input read safely, output written atomically."""
