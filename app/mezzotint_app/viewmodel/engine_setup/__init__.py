"""Installing, switching and repairing the engine, by the bootstrap that installed the program."""
