"""`./run count`: the lines of what git keeps here, by kind; without what others wrote and without lock files."""

from collections import Counter
from pathlib import Path
from subprocess import CalledProcessError, run

from deploy.local.place import ROOT, echo, fail

_CODE = {".py", ".js", ".mjs", ".ts", ".css"}
_LOCKS = {"package-lock.json", "requirements.lock", "requirements-tracing.lock", "requirements-dev.lock"}


def count() -> int:
    """Print the lines of each kind, and of the product: all but tests and benches."""
    command = ["git", "ls-files", "-z"]
    try:
        listed = run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, CalledProcessError):
        fail("Counting needs git and a clone.")
    kinds: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for name in filter(None, listed.split("\0")):
        kind = kind_of(Path(name))
        if kind and (ROOT / name).is_file():
            kinds[kind] += len((ROOT / name).read_bytes().splitlines())
            files[kind] += 1
    for kind, lines in kinds.most_common():
        echo(f"{kind:12} {lines:8,} lines in {files[kind]:5,} files")
    echo(f"{'product':12} {kinds.total() - kinds['bench'] - kinds['tests']:8,} lines without tests and bench")
    return 0


def kind_of(path: Path) -> str:
    """What a file counts as; nothing where it is a lock, a document, or of somebody else."""
    if path.name in _LOCKS or "vendor" in path.parts:
        return ""
    if path.parts[0] in ("tests", "bench"):
        return path.parts[0]
    if path.parts[0] == "templates":
        return "templates"
    if "migrations" in path.parts:
        return "migrations"
    return path.suffix.removeprefix(".") if path.suffix in _CODE else ""
