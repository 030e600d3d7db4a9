"""The parts of `./run bench chaos`."""
