"""The log as it is kept, for whoever asks for tiles and proofs."""

from collections.abc import Iterable

from consent.log import merkle, proof_read
from consent.log.models import LogLeaf, LogState


def newest_edge() -> merkle.Frontier:
    """Where the log stands. Whoever reads it first and tiles after it, may take each tile from there that it has."""
    state = LogState.objects.get(pk=1)
    return merkle.Frontier.from_bytes(state.size, bytes(state.frontier))


def inclusion_proof(index: int, size: int, edge: merkle.Frontier | None = None) -> list[bytes]:
    """The hashes that lead from a leaf to the root of the first `size` leaves, from the leaf's sibling up."""
    return _hashes(merkle.inclusion_ranges(index, size), edge or newest_edge())


def consistency_proof(old: int, new: int) -> list[bytes]:
    """The hashes that show that the first `new` leaves begin with the first `old` ones."""
    return _hashes(merkle.consistency_ranges(old, new), newest_edge())


def tile(level: int, number: int, width: int) -> bytes | None:
    """The first hashes of a tile, or None where the tree does not have so many."""
    found = _tiles({(level, number)}, newest_edge()).get((level, number))
    hashes = found.hashes[: width * merkle.HASH] if found is not None else b""
    return hashes if len(hashes) == width * merkle.HASH else None


def entry_bundle(number: int, width: int) -> bytes | None:
    """Leaves as tlog-tiles bundles them, each after its length; None where the tree does not have so many."""
    first = number << merkle.HEIGHT
    rows = LogLeaf.objects.filter(log_index__gte=first, log_index__lt=first + width).order_by("log_index")
    entries = [bytes(entry) for entry in rows.values_list("entry_hash", flat=True)]
    return b"".join(len(entry).to_bytes(2, "big") + entry for entry in entries) if len(entries) == width else None


def _hashes(ranges: Iterable[merkle.Range], edge: merkle.Frontier) -> list[bytes]:
    """The hash over each range of leaves; one query for all tiles."""
    parts = [merkle.complete_subtrees(leaves) for leaves in ranges]
    tiles = _tiles({merkle.tile_of(node) for nodes in parts for node in nodes}, edge)
    return [merkle.fold([tiles[merkle.tile_of(node)].node(node) for node in nodes]) for nodes in parts]


def _tiles(places: set[tuple[int, int]], edge: merkle.Frontier) -> dict[tuple[int, int], merkle.Tile]:
    """The tiles at these levels and numbers, as full as they are; what is not there is left out.

    The edge was read first: a tile that it still calls incomplete may be full by now, and its beginning is the same.
    """
    own = {(level, number): edge.tile(level) for level, number in places if edge.tile_number(level) == number}
    wanted = [place for place in places if place not in own and merkle.tile_width(*place, edge.size)]
    full = ((row["level"], row["number"], bytes(row["hashes"])) for row in proof_read.tiles(wanted))
    return own | {(level, number): merkle.Tile(level, number, hashes) for level, number, hashes in full}
