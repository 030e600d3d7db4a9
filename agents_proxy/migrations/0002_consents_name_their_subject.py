from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Lower

BY_EMAIL = ("profile", "enrichment", "brand_affinity", "activation")


def name_primary_addresses(apps, schema_editor):
    """Who agreed before named nothing: that holds for their primary verified address, and for no number."""
    addresses = apps.get_model("account", "EmailAddress").objects.using(schema_editor.connection.alias)
    primary = addresses.filter(user=models.OuterRef("user"), verified=True, primary=True).order_by("pk")
    using = models.Q(*[("purposes__icontains", f'"{purpose}"') for purpose in BY_EMAIL], _connector=models.Q.OR)
    consents = apps.get_model("agents_proxy", "ProcessingConsent").objects.using(schema_editor.connection.alias)
    live = consents.filter(using, withdrawn_at=None, email="").annotate(
        own=models.Subquery(primary.values(lowered=Lower("email"))[:1])
    )
    live.filter(own__isnull=False).update(email=models.F("own"))


class Migration(migrations.Migration):
    dependencies = [
        ("agents_proxy", "0001_initial"),
        ("account", "0001_initial"),
        ("developers", "0003_invitations_of_people"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="processingconsent",
            name="email",
            field=models.CharField(
                blank=True, db_default="", default="", max_length=254, verbose_name="e-mail address"
            ),
        ),
        migrations.AddField(
            model_name="processingconsent",
            name="end_reason",
            field=models.CharField(
                blank=True,
                choices=[
                    ("number_verified_by_another", "number_verified_by_another"),
                    ("number_removed", "number_removed"),
                    ("email_removed", "email_removed"),
                ],
                db_default="",
                default="",
                max_length=32,
                verbose_name="ended because",
            ),
        ),
        migrations.AddField(
            model_name="processingconsent",
            name="number_digest",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.AddConstraint(
            model_name="processingconsent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("end_reason", ""),
                    models.Q(
                        ("end_reason__in", ["number_verified_by_another", "number_removed", "email_removed"]),
                        ("withdrawn_at__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="processing_end_together",
            ),
        ),
        # SQLite keeps the order in which constraints are added, and Django's look at a table there (`_get_column_collations`)
        # ends at the one with the backslash: whatever has texts of its own has to come before it
        migrations.RemoveConstraint(model_name="processingconsent", name="processing_destinations_together"),
        migrations.AddConstraint(
            model_name="processingconsent",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("purposes__icontains", '"activation"'), models.Q(("destinations", []), _negated=True)),
                    models.Q(models.Q(("purposes__icontains", '"activation"'), _negated=True), ("destinations", [])),
                    _connector="OR",
                ),
                name="processing_destinations_together",
            ),
        ),
        migrations.RunPython(name_primary_addresses, migrations.RunPython.noop),
    ]
