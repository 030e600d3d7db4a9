"""The starter registry: the scopes that a fresh deployment can be asked for."""

from django.db import migrations

from pkm.starter import install_starter_registry, remove_starter_registry


def install(apps, _schema_editor):
    install_starter_registry(apps)


def remove(apps, _schema_editor):
    remove_starter_registry(apps)


class Migration(migrations.Migration):
    dependencies = [("pkm", "0001_initial")]

    operations = [migrations.RunPython(install, remove)]
