"""The service: an HTTP API, pages and tools for assistants over the studies and jobs of a store."""
