"""JSON-RPC 2.0 over stdin and stdout, for both processes of the engine."""
