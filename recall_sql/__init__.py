"""Agent memory as tables you can read, and the memory pipeline as SQL you can read."""
