"""What `./run` is made of. Standard library only, but for `trip`, which runs inside .venv."""
