"""What each app calls the people whom it met."""

from django.db import models

from accounts.identifiers import new_user_id


class AppPerson(models.Model):
    """One app's own name for one person, its `user_id`: 128 random bits that no other app has, made at first contact.

    Nothing leads from one to another but this table. A sandbox person's is their own, since one app alone reaches them.
    """

    app = models.ForeignKey("developers.App", on_delete=models.CASCADE, related_name="people", db_index=False)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="known_to_apps")
    pairwise_id = models.CharField(max_length=64, unique=True, editable=False, default=new_user_id)
    connected_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "app_people"
        constraints = [models.UniqueConstraint(fields=["app", "user"], name="app_person_once")]
