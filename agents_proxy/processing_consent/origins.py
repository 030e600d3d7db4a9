"""What is asked about the apps whose pages may call the agents."""

from dataclasses import dataclass

from django.apps import apps


@dataclass(frozen=True)
class App:
    """An active app, as far as this room needs it."""

    pk: int
    name: str


def app_of_origin(origin: str) -> App | None:
    """The active live app that registered this browser origin; the oldest, where several did.

    What a test app calls its origin, nobody has approved. Any path on an origin may be returned to: origins are the
    browser's line. One that lets strangers publish can leak the token, which staff look at before they approve an app.
    """
    model = apps.get_model("developers.App")
    candidates = model._default_manager.filter(status="active", mode="live", origins__icontains=origin).order_by("pk")
    found = (
        App(pk, name) for pk, name, origins in candidates.values_list("pk", "name", "origins") if origin in origins
    )
    return next(found, None)
