"""Plain, accessible pages: one style sheet, no scripts, readable at 320 pixels, light and dark."""

from html import escape

from examples.neighbourhood.serving import Response

STYLE_PATH = "/style.css"
_STYLE = """\
:root { color-scheme: light dark; --ink: #1d2025; --quiet: #565c66; --page: #f6f6f3; --sheet: #fff; --line: #c9ccd1;
  --accent: #1b4f9c; --on-accent: #fff; --good: #17693a; --bad: #a32020; --bubble: #e4edf9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e9eb; --quiet: #a9afb8; --page: #16181b; --sheet: #1f2226;
  --line: #454a52; --accent: #8db8f5; --on-accent: #10151d; --good: #7fd19b; --bad: #f19a9a; --bubble: #24344a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
main.phone { max-width: 26rem; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 .5rem; }
h2 { font-size: 1.1rem; margin: 1.5rem 0 .5rem; }
p { margin: .5rem 0; overflow-wrap: anywhere; }
.quiet { color: var(--quiet); }
.good { color: var(--good); } .bad { color: var(--bad); }
a { color: var(--accent); }
ul { list-style: none; margin: 1rem 0; padding: 0; }
li, form { background: var(--sheet); border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem;
  margin: .75rem 0; }
li p:first-child { margin-top: 0; } li p:last-child { margin-bottom: 0; }
li.bubble { background: var(--bubble); border-radius: 1rem 1rem 1rem .25rem; }
form.bare { background: none; border: 0; padding: 0; }
fieldset { border: 0; margin: 0; padding: 0; } legend { font-weight: 600; padding: 0; }
label { display: block; padding: .35rem 0; }
input[type=text], input[type=password] { display: block; width: 100%; font: inherit; padding: .5rem; color: inherit;
  background: var(--page); border: 1px solid var(--quiet); border-radius: .25rem; }
button { font: inherit; padding: .5rem 1rem; border-radius: .25rem; border: 1px solid var(--accent);
  background: var(--accent); color: var(--on-accent); cursor: pointer; }
form.bare button { background: none; color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: .85rem; margin: .5rem 0; }
"""


def page(title: str, body: str, *, status: int = 200, phone: bool = False) -> Response:
    written = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><link rel="stylesheet" href="{STYLE_PATH}">'
        f"<title>{escape(title)}</title></head>"
        f"<body><main{' class=phone' if phone else ''}><h1>{escape(title)}</h1>{body}</main></body></html>"
    )
    return Response(status, written.encode(), "text/html; charset=utf-8")


def style() -> Response:
    return Response(200, _STYLE.encode(), "text/css; charset=utf-8")


def text(content: object) -> str:
    """Any content as text of a page."""
    return escape(str(content))
