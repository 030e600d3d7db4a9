"""The plays: one module for each area, whose `play` calls the addresses of that area in a fixed order."""
