"""`python -m tests.faults [words …]`: break the service in the way of each patch, and see that its test is red.

Each patch begins with the test that has to find it, and with the database where one alone does. It is applied to a copy
of the last commit, never to this folder.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def _test_of(patch: Path) -> str:
    return patch.read_text().partition("\n")[0].removeprefix("red: ")


def is_found(patch: Path, copy: Path) -> bool:
    """Whether the test that the patch names is red with it."""
    test = _test_of(patch).partition(" ")[0]
    subprocess.run(["git", "apply", "-p0", "--unidiff-zero", str(patch)], cwd=copy, check=True)
    try:
        command = [sys.executable, "-m", "pytest", "-n0", "-x", "--no-header", test]
        ran = subprocess.run(command, cwd=copy, capture_output=True, text=True)
    finally:
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=copy, check=True)
    return ran.returncode == 1 and "failed" in ran.stdout  # not an error on the way to the test


def main() -> int:
    wanted = [patch for patch in sorted(HERE.glob("*.patch")) if not sys.argv[1:] or patch.stem in sys.argv[1:]]
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(copy), "HEAD"], cwd=ROOT, check=True)
        try:
            missed = []
            for patch in wanted:
                if "PostgreSQL" in _test_of(patch) and not os.environ.get("DATABASE_URL", "").startswith("postgres"):
                    sys.stdout.write(f"{patch.stem}: on PostgreSQL alone\n")
                    continue
                found = is_found(patch, copy)
                missed += [] if found else [patch.stem]
                sys.stdout.write(f"{patch.stem}: {'red' if found else 'GREEN'}\n")
                sys.stdout.flush()
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(copy)], cwd=ROOT, check=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
