"""What the pages of a deployment are made of: the signed manifest of its release, and whether the files are those."""
