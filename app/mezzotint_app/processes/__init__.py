"""The engine and the library service: processes, what they write, and starting them again."""
