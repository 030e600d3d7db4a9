"""Why a change of the public profile is refused. They stay on the person's own pages: no program meets them."""


class InvalidHandle(Exception):
    """Not lower-case letters, digits and single hyphens, or too short or too long."""


class ReservedHandle(Exception):
    """A word that would pass for the service itself."""


class HandleTaken(Exception):
    """Somebody has it, or gave it up a short while ago."""


class TooManyHandles(Exception):
    """So many within a day that others would run out of them."""


class NotAsPreviewed(Exception):
    """The text is another one than the person looked at, or is gone."""


class NotShown(Exception):
    """Whose page is off is in no directory either."""
