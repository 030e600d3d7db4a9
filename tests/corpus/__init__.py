"""A recorded corpus: what every documented address answers, byte for byte, held against what it answers now.

`recorded/` has one JSON file for each area. Each is a list of exchanges in the order in which they were played: what
was sent, the status, every header, and the exact body. `test_replay.py` plays them anew, on SQLite and PostgreSQL
alike, and compares. The plays (`plays/`) go through the project's own WSGI application, so middleware, URL
configuration and error handlers take part, and CSRF tokens and sessions are checked as in a deployment.

What is held still: the wall clock, the monotonic clock and PostgreSQL's clock (`clock.py`) begin at one moment and move
by a second with each exchange, so times, ages and limits are recorded as they are. What cannot be held still is random:
identifiers, digests, signatures, sealed tokens, request IDs, ports of stand-ins. `placeholders.py` replaces these, and
nothing else, by names in the order of first appearance (`<req_1>`). Each rule fixes prefix, alphabet and length, so an
identifier of another form is a difference. Of a signed or sealed token the header, the claims and the length of each
part are recorded where it first appears.

A JSON body is recorded as JSON together with the way in which it was written (`compact` or `spaced`), which gives the
bytes back; every other body is recorded as text. Pages for people are recorded as status and headers only: their words
may be improved. The admin's addresses are not recorded: they are Django's own. Nor are calls that are held open until
something happens (`wait`, the rest of a stream): the lifecycle tests are about those.

To record anew: `python -m tests.corpus.record`, or with the names of areas for these alone. This is legitimate only
where an answer changes on purpose. The difference in `recorded/` is then part of the change, is read in its review like
code, and is explained in the message of the commit. A rebuild of the inside changes nothing here.
"""
