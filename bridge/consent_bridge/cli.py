"""The command line. Opened JSON goes to standard output; a refusal is exit 1 with one line on standard error."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from consent_bridge import commands, login
from consent_bridge.arguments import parser
from consent_bridge.errors import BadAnswer, BridgeError, Problem, one_line

EXIT_REFUSED = 1
EXIT_INTERRUPTED = 130
_WITH_A_DIGEST = ("--digest", "--accept-owner-key")
_DIGEST = re.compile(r"-[A-Za-z0-9_-]{42}\Z")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = parser().parse_args(_with_digests(sys.argv[1:] if argv is None else argv))
    run: Callable[[argparse.Namespace], Any] = arguments.run
    try:
        result = run(arguments)
        if result is not None:
            _print(result)
    except commands.Undone as undone:
        _print(undone.result)
        return _refuse(str(undone))
    except (Problem, BadAnswer) as error:
        return _refuse(f"{login.address(arguments)}: {error}" if hasattr(arguments, "base_url") else str(error))
    except BridgeError as error:
        return _refuse(str(error))
    except BrokenPipeError:
        # Whoever read our output went away; nothing is left to say, not even at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_REFUSED
    except UnicodeError:
        return _refuse("an argument is not UTF-8")
    except RecursionError:
        return _refuse("the content is nested too deep to be printed")
    except MemoryError:
        return _refuse("not enough memory for this input")
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    return 0


def _with_digests(given: Sequence[str]) -> list[str]:
    """`--digest -x…` as `--digest=-x…`: one digest of 64 begins with a hyphen, which argparse takes for an option."""
    found: list[str] = []
    for each in given:
        if found and found[-1] in _WITH_A_DIGEST and _DIGEST.match(each):
            found[-1] += f"={each}"
        else:
            found.append(each)
    return found


def _print(result: object) -> None:
    text = json.dumps(result, ensure_ascii=False, indent=2) + "\n"
    sys.stdout.buffer.write(text.encode("utf-8"))
    sys.stdout.buffer.flush()


def _refuse(reason: str) -> int:
    text = f"consent-bridge: {one_line(reason, 1000)}\n"
    sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
    return EXIT_REFUSED


if __name__ == "__main__":
    sys.exit(main())
