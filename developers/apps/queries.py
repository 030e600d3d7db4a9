"""What is asked about apps more than once."""

from developers.apps.models import App


def app_by_id(app_id: str) -> App | None:
    """The app with this public id."""
    return App.objects.select_related("application").filter(app_id=app_id).first()
