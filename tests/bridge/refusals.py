"""What a refusal of the command line is."""


def refusal(done):
    """The one line that a refusal is."""
    assert done.returncode == 1, done
    assert done.stdout == b""
    lines = done.stderr.decode("ascii").splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("consent-bridge: ")
    return lines[0].removeprefix("consent-bridge: ")
