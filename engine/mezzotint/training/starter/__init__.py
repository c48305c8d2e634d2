"""The bundled model: its little world, its networks, and the recipe that makes it from nothing."""
