"""One mailbox, however its domain is spelled."""

import idna


def mailbox(email: str) -> str:
    """The address in lower case, its domain as DNS has it (IDNA 2008): `bücher.example` is `xn--bcher-kva.example`.

    Browsers send it so from a field for addresses; programs and lists of addresses may not.
    """
    local, at, domain = email.strip().lower().rpartition("@")
    if not domain.isascii():
        try:
            domain = idna.encode(domain, uts46=True).decode()
        except idna.IDNAError:  # the form says that this is no address
            return f"{local}{at}{domain}"
    return f"{local}{at}{domain}"
