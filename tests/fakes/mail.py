"""A real mail server on loopback: takes every message and keeps it."""

import email
import email.policy
import socketserver
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage

from tests.fakes.serving import serving


class MailServer(socketserver.ThreadingTCPServer):
    """SMTP, as much of it as Django's client speaks."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.taken: list[EmailMessage] = []

    @property
    def url(self) -> str:
        """As `EMAIL_URL` names it."""
        return f"smtp://127.0.0.1:{self.server_address[1]}"

    def to(self, address: str) -> list[EmailMessage]:
        return [message for message in self.taken if message["To"] == address]


class _Conversation(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        self._say("220 mail.test")
        while line := self.rfile.readline():
            match line.decode().split(maxsplit=1)[0].upper() if line.strip() else "":
                case "DATA":
                    self._say("354 go on")
                    self._take()
                    self._say("250 taken")
                case "QUIT":
                    return self._say("221 bye")
                case _:
                    self._say("250 fine")
        return None

    def _take(self) -> None:
        lines = []
        while (line := self.rfile.readline()) not in (b".\r\n", b""):
            lines.append(line.removeprefix(b".") if line.startswith(b"..") else line)
        message = email.message_from_bytes(b"".join(lines), policy=email.policy.default)
        assert isinstance(self.server, MailServer)
        assert isinstance(message, EmailMessage)
        self.server.taken.append(message)

    def _say(self, line: str) -> None:
        self.wfile.write(f"{line}\r\n".encode())


@contextmanager
def mail_server() -> Iterator[MailServer]:
    server = MailServer()
    with serving(server):
        yield server
