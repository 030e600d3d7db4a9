"""Reference agents: a small program of its own that knows what can be known offline, and says how it knows."""
