"""An app meets a person."""

from accounts.identifiers import new_user_id
from accounts.sharing_ids.actions import use_sharing_id
from accounts.sharing_ids.secrets import is_sharing_id
from developers.people.models import AppPerson


def meet(*, app_pk: int, user_pk: int, named: str) -> str | None:
    """What the app calls this person, from the first time on; `named` is how it named them this time.

    A sharing ID serves this app from then on: None where it ended meanwhile, or another app used it first. In the
    transaction of what the app does; of two that meet at once the second finds the name that the first made.
    """
    if is_sharing_id(named) and not use_sharing_id(named, app_pk=app_pk):
        return None
    new = AppPerson(app_id=app_pk, user_id=user_pk, pairwise_id=new_user_id())
    known = AppPerson.objects.filter(app=app_pk, user=user_pk).values_list("pairwise_id", flat=True)
    found = known.first()
    if found is None:
        AppPerson.objects.bulk_create([new], ignore_conflicts=True)
        found = known.get()
    return found
