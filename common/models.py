"""The records that no room owns: how often something happened lately, and what is remembered for a while."""

from django.db import models


class RateCount(models.Model):
    """What was counted under one limit and key until `resets_at` (milliseconds since 1970, UTC); no name is kept."""

    key = models.CharField(max_length=64, primary_key=True)
    used = models.PositiveIntegerField()
    resets_at = models.BigIntegerField(db_index=True)

    class Meta:
        db_table = "rate_counts"


class CacheEntry(models.Model):
    """What Django's cache keeps until `expires_at` (milliseconds since 1970, UTC; null is for good), as JSON."""

    key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires_at = models.BigIntegerField(null=True, db_index=True)

    class Meta:
        db_table = "cache_entries"
