"""Django's PostgreSQL backend for a server that notices when the database is away."""
