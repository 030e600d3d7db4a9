"""What a vault keeps for itself: one small sealed record that only the person can read."""
