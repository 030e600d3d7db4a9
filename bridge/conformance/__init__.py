"""What every client of Consent Runtime has to take and to refuse, played against a program in whatever language."""
