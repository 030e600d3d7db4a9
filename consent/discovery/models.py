"""Who asked what somebody could share, and who keeps guessing."""

from django.db import models
from django.utils.formats import date_format
from django.utils.translation import gettext_lazy as _


class Discovery(models.Model):
    """How often an app looked at what a person could share, a row a day."""

    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="discoveries", db_index=False)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="discoveries", db_index=False)
    day = models.DateField()
    count = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "discovery_log"
        verbose_name = _("discovery")
        verbose_name_plural = _("discoveries")
        constraints = [models.UniqueConstraint(fields=["app", "user", "day"], name="discovery_once_a_day")]
        indexes = [
            models.Index(fields=["user", "-day"], name="discovery_of_user"),
            models.Index(fields=["day"], name="discovery_age"),
        ]

    def __str__(self) -> str:
        return f"{self.app}, {date_format(self.day, 'DATE_FORMAT')}"


class DirectoryFind(models.Model):
    """That an app found a person in the directory, a row a day; `at` is when it first did that day."""

    app = models.ForeignKey("developers.App", on_delete=models.PROTECT, related_name="directory_finds", db_index=False)
    user = models.ForeignKey("accounts.User", on_delete=models.CASCADE, related_name="directory_finds", db_index=False)
    day = models.DateField()
    at = models.DateTimeField()

    class Meta:
        db_table = "directory_finds"
        verbose_name = _("find in the directory")
        verbose_name_plural = _("finds in the directory")
        constraints = [models.UniqueConstraint(fields=["app", "user", "day"], name="directory_find_once_a_day")]
        indexes = [
            models.Index(fields=["user", "-at"], name="directory_find_of_user"),
            models.Index(fields=["day"], name="directory_find_age"),
        ]

    def __str__(self) -> str:
        return f"{self.app}, {date_format(self.day, 'DATE_FORMAT')}"
