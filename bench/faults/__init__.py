"""A service of one's own that is broken while people decide, and what must be true of it all the same."""
