"""The Merkle tree of RFC 9162, section 2.1, as C2SP's tlog-tiles cuts it into tiles. Pure: no database, no clock.

This is the half of a log that appends and proves. The half that verifies belongs to readers: bridge/ has it in Python,
bridge-js/src/formats in JavaScript, and the tests hold them against each other.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

HASH = 32  # bytes
HEIGHT = 8  # levels of the tree in one level of tiles
WIDTH = 1 << HEIGHT  # hashes of a full tile
EMPTY_ROOT = hashlib.sha256(b"").digest()

Range = tuple[int, int]  # of leaves: the first, and the one after the last
Node = tuple[int, int]  # a complete subtree: its height, and its number among those of that height


def leaf_hash(entry: bytes) -> bytes:
    return hashlib.sha256(b"\x00" + entry).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash over two subtrees."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def inclusion_ranges(index: int, size: int) -> list[Range]:
    """Over which leaves each hash of an inclusion proof is, from the leaf's sibling up (2.1.3.1)."""
    start, end = 0, size
    ranges: list[Range] = []
    while end - start > 1:
        split = _split(start, end)
        if index < split:
            ranges.append((split, end))
            end = split
        else:
            ranges.append((start, split))
            start = split
    return ranges[::-1]


def consistency_ranges(old: int, new: int) -> list[Range]:
    """Over which leaves each hash of a consistency proof is (2.1.4.1); none where `old` is 0 or `new`."""
    start, end = 0, new
    ranges: list[Range] = []
    if old in (0, new):
        return ranges
    while end != old:
        split = _split(start, end)
        if old <= split:
            ranges.append((split, end))
            end = split
        else:
            ranges.append((start, split))
            start = split
    if start:
        ranges.append((start, end))
    return ranges[::-1]


def _split(start: int, end: int) -> int:
    """Where the left subtree ends: the largest power of two below the number of leaves."""
    return start + (1 << (end - start - 1).bit_length() - 1)


def complete_subtrees(leaves: Range) -> list[Node]:
    """The complete subtrees that a range of a proof is made of, from left to right."""
    start, end = leaves
    nodes: list[Node] = []
    while start < end:
        height = (end - start).bit_length() - 1
        nodes.append((height, start >> height))
        start += 1 << height
    return nodes


def fold(hashes: Sequence[bytes]) -> bytes:
    """The hash over complete subtrees that shrink from left to right."""
    *others, digest = hashes
    for left in reversed(others):
        digest = node_hash(left, digest)
    return digest


def subtree(hashes: bytes) -> bytes:
    """The root over neighbouring hashes, whose number is a power of two."""
    row = [hashes[at : at + HASH] for at in range(0, len(hashes), HASH)]
    while len(row) > 1:
        row = [node_hash(row[at], row[at + 1]) for at in range(0, len(row), 2)]
    return row[0]


@dataclass(frozen=True)
class Tile:
    """Hashes that stand side by side: 256 of a full tile. On level 0 they are of leaves, above of full tiles."""

    level: int
    number: int
    hashes: bytes

    def node(self, node: Node) -> bytes:
        """The hash of a complete subtree that has its root in this tile."""
        first, count = (node[1] << node[0] % HEIGHT) % WIDTH, 1 << node[0] % HEIGHT
        return subtree(self.hashes[first * HASH : (first + count) * HASH])


def tile_of(node: Node) -> tuple[int, int]:
    """Level and number of the tile that a complete subtree has its root in."""
    height, number = node
    return height // HEIGHT, number << height % HEIGHT >> HEIGHT


def tile_width(level: int, number: int, size: int) -> int:
    """How many hashes a tile has in a tree of this size; 0 where it is not there."""
    return max(0, min(WIDTH, (size >> HEIGHT * level) - number * WIDTH))


@dataclass
class Frontier:
    """The right edge of a tree: how many leaves it has, and on each level the tile that is not full yet.

    All that appending needs: some kilobytes, whatever the size.
    """

    size: int = 0
    levels: list[bytearray] = field(default_factory=list)

    @classmethod
    def from_bytes(cls, size: int, kept: bytes) -> "Frontier":
        """What `to_bytes` made of it; how much is of which level follows from the size."""
        levels, at, level = [], 0, 0
        while size >> HEIGHT * level:
            count = (size >> HEIGHT * level) % WIDTH * HASH
            levels.append(bytearray(kept[at : at + count]))
            at, level = at + count, level + 1
        if at != len(kept):
            raise ValueError(f"an edge of {len(kept)} bytes is not that of a tree of {size} leaves")
        return cls(size, levels)

    def to_bytes(self) -> bytes:
        """The tiles that are not full, one after another, from level 0 up."""
        return b"".join(self.levels)

    def append(self, entries: Sequence[bytes]) -> list[Tile]:
        """Add leaves; returns the tiles that became full."""
        filled = list(self._add(0, b"".join(map(leaf_hash, entries))))
        self.size += len(entries)
        return filled

    def _add(self, level: int, hashes: bytes) -> Iterator[Tile]:
        if level == len(self.levels):
            self.levels.append(bytearray())
        edge, number = self.levels[level], self.size >> HEIGHT * (level + 1)
        edge += hashes
        roots = b""
        while len(edge) >= WIDTH * HASH:
            tile = Tile(level, number, bytes(edge[: WIDTH * HASH]))
            del edge[: WIDTH * HASH]
            yield tile
            roots, number = roots + subtree(tile.hashes), number + 1
        if roots:
            yield from self._add(level + 1, roots)

    def tile(self, level: int) -> Tile:
        """The tile of a level that is not full yet."""
        hashes = bytes(self.levels[level]) if level < len(self.levels) else b""
        return Tile(level, self.tile_number(level), hashes)

    def tile_number(self, level: int) -> int:
        return self.size >> HEIGHT * (level + 1)

    def root(self) -> bytes:
        """The Merkle tree hash of all leaves."""
        if not self.size:
            return EMPTY_ROOT
        parts = []
        for edge in reversed(self.levels):
            for height, number in complete_subtrees((0, len(edge) // HASH)):
                parts.append(subtree(bytes(edge[(number << height) * HASH : (number + 1 << height) * HASH])))
        return fold(parts)
