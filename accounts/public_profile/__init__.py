"""The public profile: what a person typed for others to see, off until they previewed it and switched it on."""
