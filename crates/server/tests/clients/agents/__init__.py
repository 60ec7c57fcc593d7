"""The clients that are programs of their own."""
