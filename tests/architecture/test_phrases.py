"""Words for people: phrases that nobody understood at once and that may not come back, in English and in German."""

import re
from collections.abc import Iterator

import pytest
from django.conf import settings

# what stood in the pages, and what says it now
REPLACED = {
    "No value, not even whether": "They never see a value until you approve.",
    "Keinen Wert, nicht einmal, ob": "Werte sehen sie nie, bevor du zustimmst.",
    "The same again": "Repeat passphrase",
    "Dieselbe noch einmal": "Passphrase wiederholen",
    "I have it. Go on": "Continue",
    "Save and go on": "Save",
    "Speichern und weiter": "Speichern",
    "Done. Go to the inbox": "Finish",
    "So that we both know": "This checks that you saved it.",
    "Damit wir beide wissen": "So prüfst du, ob du ihn gespeichert hast.",
    "What you can count on here": "How we protect you",
    "Worauf du dich hier verlassen kannst": "Wie wir dich schützen",
    "Every decision, read, look and end": "Everything that happened with your data.",
    "jedes Nachsehen und jedes Ende": "Alles, was mit deinen Daten geschehen ist.",
    "Is this how it was?": "Check this history",
    "Ist es so gewesen?": "Diesen Verlauf prüfen",
    "Verify my history": "Check this history",
    "Verify a receipt": "Check a receipt",
    "Keep what is shown here": "Download these entries",
    "Behalte, was hier gezeigt wird": "Diese Einträge herunterladen",
    "things to look at": "things to know",
    "More than registered": "wants more than it told us",
    "Nothing is ticked. Tick": "Choose at least one thing to share, or deny.",
    "Nichts ist angekreuzt. Kreuze": "Wähle mindestens eine Angabe zum Freigeben, oder lehne ab.",
    "The lock of your data": "Unlocking your vault",
    "Das Schloss deiner Daten": "Tresor entsperren",
    "The key behind it": "Vault key",
    "Der Schlüssel dahinter": "Tresorschlüssel",
    "Change the key of my data": "Replace the vault key",
    "Is your recovery code still good": "Test your recovery code",
    "Gilt dein Wiederherstellungscode noch": "Wiederherstellungscode testen",
    "What works now": "Unlock with",
    "No longer unlocks your data afterwards": "Stops working for good",
    "Nothing is left: begin anew": "I have none of these: start over",
    "Nichts ist mehr da: neu anfangen": "Ich habe nichts davon: neu anfangen",
    "I have something left": "Go back",
    "Ich habe noch etwas": "Zurück",
    "Take all of it out": "Export everything",
    "Alles herausnehmen": "Alles exportieren",
    "Bring in, take out": "Import and export",
    "Hereinholen, herausnehmen": "Importieren und exportieren",
    "Bring it in": "Import",
    "Work and means": "Work and income",
    "Arbeit und Auskommen": "Arbeit und Einkommen",
    "thing kept": "entry",
    "things kept": "entries",
    "Angaben aufbewahrt": "Einträge",
    "Changed now": "Changed just now",
    "This address only does": "This page cannot be opened like this",
    "Diese Adresse tut nur": "Diese Seite lässt sich so nicht öffnen",
    "without small print": "Read all of our limits",
    "ohne Kleingedrucktes": "Alle unsere Grenzen lesen",
    "What you were told": "Terms",
    "Was dir gesagt wurde": "Bedingungen",
    "for a second one of you to approve": "awaiting a second approval",
    "that the newest checkpoint of the public log is over": "log entries not yet signed",
    "über die der neueste Prüfpunkt": "Protokolleinträge, die noch nicht unterschrieben sind",
}
WHOLE = {"Discoveries", "Ends", "I have it", "Give it up", "Sealed to"}  # words that are fine inside of others
NAME = re.compile(r'^(?:msgid|msgid_plural|msgstr(?:\[\d\])?) ((?:"[^\n]*"\n?)+)', re.MULTILINE)


def phrases_of_catalogues() -> Iterator[str]:
    for path in sorted((settings.ROOT / "locale").rglob("*.po")):
        for words in NAME.findall(path.read_text()):
            yield "".join(line[1:-1] for line in words.splitlines())


def phrases_of_sources() -> Iterator[str]:
    for folder, kind in (("templates", "*.html"), ("templates", "*.txt"), ("static/js", "*.js")):
        for path in sorted((settings.ROOT / folder).rglob(kind)):
            yield path.read_text()


@pytest.mark.parametrize("phrase", REPLACED)
def test_a_phrase_that_nobody_understood_stays_away(phrase: str) -> None:
    found = [words[:120] for words in [*phrases_of_catalogues(), *phrases_of_sources()] if phrase in words]

    assert not found, f"say “{REPLACED[phrase]}” instead"


def test_a_word_that_needs_another_beside_it_does_not_stand_alone() -> None:
    assert not WHOLE & set(phrases_of_catalogues())


def test_the_catalogues_are_read() -> None:
    phrases = set(phrases_of_catalogues())

    assert {"Check this history", "Diesen Verlauf prüfen"} <= phrases
