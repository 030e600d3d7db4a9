"""The secrets of authenticator apps and of recovery codes, which stood in clear, are encrypted in place."""

from django.db import migrations

from accounts.sign_in.second_factors import open_secrets, seal_secrets


def seal(apps, schema_editor):
    seal_secrets(apps.get_model("mfa", "Authenticator").objects.order_by("pk"))


def unseal(apps, schema_editor):
    open_secrets(apps.get_model("mfa", "Authenticator").objects.order_by("pk"))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0003_sessions_by_digest"), ("mfa", "0003_authenticator_type_uniq")]

    operations = [migrations.RunPython(seal, unseal)]
