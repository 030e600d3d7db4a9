"""The one record that no room owns: how often something happened lately."""

from django.db import models


class RateCount(models.Model):
    """What was counted under one limit and key until `resets_at` (milliseconds since 1970, UTC); no name is kept."""

    key = models.CharField(max_length=64, primary_key=True)
    used = models.PositiveIntegerField()
    resets_at = models.BigIntegerField(db_index=True)

    class Meta:
        db_table = "rate_counts"
