"""The parts of the benches that break a service of their own: `chaos`, `away` and `backups`."""
