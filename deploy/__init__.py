"""How this project is run: here by `./run`, elsewhere by the examples beside this."""
