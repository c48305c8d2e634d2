"""Networks that look at images: what is where, how far, and in which pose."""
