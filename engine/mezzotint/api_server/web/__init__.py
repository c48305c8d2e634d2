"""The API over HTTP, by uvicorn and Starlette: what is read of a request, and how its answer is sent."""
