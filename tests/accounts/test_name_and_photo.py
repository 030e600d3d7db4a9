"""A person's own name and photo: kept, shown to them alone, and gone with them."""

import base64
import hashlib
import io
import struct
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client, override_settings
from PIL import Image

from accounts.erasure.rows import export
from accounts.models import User, UserPhoto
from accounts.name_and_photo.actions import photo_of
from tests.developers.pictures import bomb, picture, upload
from tests.factories import PersonFactory

pytestmark = pytest.mark.django_db

HERE = "/account/name/"
PHOTO = f"{HERE}photo/"
PROFILE = "/account/public-profile/"


@pytest.fixture
def person(client: Client) -> User:
    made: User = PersonFactory(email="zoe@example.org")
    client.force_login(made)
    return made


def save(client: Client, **typed: Any) -> Any:
    return client.post(HERE, {"display_name": "", **typed})


def text_of(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_a_name_is_kept_and_shown_on_every_page(client: Client, person: User) -> None:
    assert save(client, display_name="  Žoé Quinn ")["Location"] == PROFILE

    person.refresh_from_db()
    assert person.display_name == "Žoé Quinn"
    assert 'class="ava" aria-hidden="true">Ž<' in text_of(client.get("/consent/"))


def test_without_a_name_they_are_called_by_their_address(client: Client, person: User) -> None:
    save(client, display_name="Zoe")
    save(client, display_name="")

    assert "<bdi>zoe</bdi>" in text_of(client.get(HERE, follow=True))


@pytest.mark.parametrize("name", ["a\u202eb", "a\x00b", "z" * 101, "two\nlines"])
def test_a_name_that_does_not_fit_is_refused_and_stays_to_be_mended(client: Client, person: User, name: str) -> None:
    answer = save(client, display_name=name)

    assert answer.status_code == 200
    assert 'aria-invalid="true"' in text_of(answer)
    assert User.objects.get(pk=person.pk).display_name == person.display_name


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_photo_is_kept_small_clean_and_encrypted(client: Client, person: User, kind: str) -> None:
    exif = Image.Exif()
    exif[0x010E] = "Example Street 7"
    data = picture(kind, exif=exif.tobytes())
    assert b"Example Street" in data

    save(client, photo=upload(data))

    answer = client.get(PHOTO)
    shown = Image.open(io.BytesIO(answer.content))
    assert (answer["Content-Type"], shown.format, shown.size) == ("image/webp", "WEBP", (256, 128))
    assert answer["Cache-Control"] == "private, max-age=86400"
    assert b"Example Street" not in answer.content
    kept = UserPhoto.objects.get(user=person).webp
    assert base64.b64encode(answer.content[:30]).decode() not in kept
    person.refresh_from_db()
    assert person.photo_digest == hashlib.sha256(answer.content).hexdigest()
    assert f'<img src="{PHOTO}?{person.photo_digest[:12]}" alt="">' in text_of(client.get("/consent/"))


def test_a_photo_taken_upright_stays_upright(client: Client, person: User) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was held on its side

    save(client, photo=upload(picture("JPEG", exif=exif)))

    assert Image.open(io.BytesIO(client.get(PHOTO).content)).size == (128, 256)


def test_metadata_that_cannot_be_written_again_is_left_behind_like_all_of_it(client: Client, person: User) -> None:
    width = (0x0100, 9, 1, -5)  # a width of less than nothing
    orientation = (0x0112, 3, 1, 6)
    exif = struct.pack("<2sHIHHHIiHHIII", b"II", 42, 8, 2, *width, *orientation, 0)

    assert save(client, photo=upload(picture("JPEG", exif=b"Exif\0\0" + exif))).status_code == 302

    assert Image.open(io.BytesIO(client.get(PHOTO).content)).size == (128, 256)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", "PNG, JPEG or WebP"),
        (picture("GIF"), "PNG, JPEG or WebP"),
        (picture("PNG")[:100], "PNG, JPEG or WebP"),
        (bomb(), "pixels"),
        (picture("PNG", (4096, 4096)), "pixels"),
        (picture("WEBP", (2049, 2048)), "pixels"),
        (b"a" * (512 * 1024 + 1), "512 KiB"),
        (b"", "empty"),
    ],
)
def test_what_is_no_photo_is_refused_and_the_one_before_and_the_name_stay(
    client: Client, person: User, data: bytes, why: str
) -> None:
    save(client, display_name="Zoe", photo=upload())
    before = client.get(PHOTO).content

    answer = save(client, display_name="Typed", photo=SimpleUploadedFile("x.png", data))

    assert answer.status_code == 200
    assert why in text_of(answer)
    assert 'value="Typed"' in text_of(answer)
    assert client.get(PHOTO).content == before
    assert User.objects.get(pk=person.pk).display_name == "Zoe"


def test_saving_the_name_alone_keeps_the_photo(client: Client, person: User) -> None:
    save(client, photo=upload())
    save(client, display_name="Zoe")

    assert client.get(PHOTO).status_code == 200


def test_a_removed_photo_is_gone_and_removing_it_twice_is_no_error(client: Client, person: User) -> None:
    save(client, photo=upload())
    for _ in range(2):
        assert client.post(f"{PHOTO}remove/")["Location"] == PROFILE

    assert client.get(PHOTO).status_code == 404
    assert not UserPhoto.objects.exists()
    assert User.objects.get(pk=person.pk).photo_digest == ""
    assert "Remove the photo" not in text_of(client.get(HERE, follow=True))


def test_nobody_else_gets_it(client: Client, person: User) -> None:
    save(client, photo=upload())
    other = Client()
    assert other.get(PHOTO).status_code == 302
    other.force_login(PersonFactory())

    assert other.get(PHOTO).status_code == 404


def test_so_many_photos_within_an_hour_and_no_more(client: Client, person: User) -> None:
    for _ in range(30):
        assert save(client, photo=upload()).status_code == 302

    assert "Try again later" in text_of(save(client, photo=upload()))


def test_under_a_key_that_is_gone_there_is_no_photo(client: Client, person: User) -> None:
    save(client, photo=upload())

    with override_settings(DATA_ENCRYPTION_KEYS=["MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="]):
        assert photo_of(person) is None


def test_it_is_in_what_the_service_hands_to_the_person(client: Client, person: User) -> None:
    assert export(person)["photo"] == ""
    save(client, photo=upload())

    assert base64.b64decode(export(person)["photo"]) == client.get(PHOTO).content
