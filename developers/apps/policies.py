"""May an app be changed?"""

from common.problems import InvalidRequest
from developers.apps.models import App, AppStatus


def lock_open_app(app: App) -> App:
    """The app's row, locked, so that of two changes at once the second sees what the first did.

    Raises `InvalidRequest` where it is closed.
    """
    locked: App = App.objects.select_for_update(no_key=True).get(pk=app.pk)
    if locked.status == AppStatus.CLOSED:
        raise InvalidRequest("The app is closed.")
    return locked
