"""What the service calls a person, and the small picture beside it: for their own eyes."""
