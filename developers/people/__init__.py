"""People as each app knows them: under a name that no other app has."""
