"""What a person's vault signs, so that a session alone can let nobody read."""
