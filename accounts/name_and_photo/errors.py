"""Why a picture is refused. It stays on the person's own page: no program meets it."""


class TooManyPhotos(Exception):
    """So many within an hour that the server would do little else."""
