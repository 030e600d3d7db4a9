"""Scripts, styles and icons of a page, in all templates (settings); the first two with the hash of the manifest."""

from django import template
from django.conf import settings
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from consent.release import current, manifest
from consent.release.manifest import Release

register = template.Library()


@register.simple_tag
def script(name: str) -> SafeString:
    """A classic script under the static address."""
    return format_html("<script{}></script>", _of(name, "src"))


@register.simple_tag
def module(name: str) -> SafeString:
    """A script that is a module, and what it imports: all at once, since a chain costs a way there and back each.

    By tags of their own: what is preloaded by a link is told as refused where scripts are turned off. What is imported
    later, the import map holds to the release. Of low priority, since a page is seen once its styles are there.
    """
    served = static(name).removeprefix(settings.STATIC_URL)
    every = (*current.needed_by(served), served)
    tag = '<script type="module" fetchpriority="low"{}></script>'
    return format_html_join("", tag, ((_members(each, "src"),) for each in every))


@register.simple_tag
def stylesheet(name: str) -> SafeString:
    """A style sheet under the static address."""
    return format_html('<link rel="stylesheet"{}>', _of(name, "href"))


@register.simple_tag
def import_map() -> SafeString:
    """The import map, before the first module; nothing without a release."""
    text = current.import_map()
    # ours alone: names and hashes of our files, and to the letter what the policy has the hash of
    return SafeString(f'<script type="importmap">{text}</script>' if text else "")  # nosec B703  # as said


@register.simple_tag
def icon(name: str, css: str = "", alt: str = "") -> SafeString:
    """One of static/img/icons.svg; by a tag and not a template, since a page may have fifty."""
    attributes = 'role="img" aria-label="{}"' if alt else 'aria-hidden="true"{}'
    svg = f'<svg class="icon{{}}{{}}" {attributes} focusable="false"><use href="{{}}#{{}}"></use></svg>\n'
    return format_html(svg, " " if css else "", css, alt, static("img/icons.svg"), name)


@register.simple_tag
def release() -> Release | None:
    """The release that is served, for the foot of a page."""
    return current.release()


def _of(name: str, attribute: str) -> SafeString:
    return _members(static(name).removeprefix(settings.STATIC_URL), attribute)


def _members(served: str, attribute: str) -> SafeString:
    """Of a file by the name as it is served."""
    found = current.release()
    members = [(attribute, f"{settings.STATIC_URL}{served}")]
    if digest := found.assets.get(served) if found is not None else None:
        members.append(("integrity", manifest.integrity(digest)))
    return format_html_join("", ' {}="{}"', members)
