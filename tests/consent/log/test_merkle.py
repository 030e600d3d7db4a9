"""The tree of RFC 9162, as the server proves it and as readers verify it; each half is written once and held against
the other, against the definition of the RFC, and against the reference vectors of Certificate Transparency.
"""

import os
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consent.log import merkle as server
from consent_bridge import merkle as reader

# the leaves and roots by which implementations of RFC 6962 and 9162 are commonly tried
LEAVES = [
    bytes.fromhex(text)
    for text in (
        "", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f",
    )
]  # fmt: skip
ROOTS = (
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)


def mth(leaves: list[bytes]) -> bytes:
    """The Merkle tree hash as the RFC defines it."""
    if len(leaves) < 2:
        return server.leaf_hash(leaves[0]) if leaves else server.EMPTY_ROOT
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return server.node_hash(mth(leaves[:split]), mth(leaves[split:]))


def over(leaves: list[bytes], ranges: list[server.Range]) -> list[bytes]:
    """The hashes of a proof, by the definition."""
    return [mth(leaves[start:end]) for start, end in ranges]


def test_roots_are_those_of_the_reference_vectors() -> None:
    frontier = server.Frontier()
    assert frontier.root() == reader.EMPTY_ROOT

    found = []
    for leaf in LEAVES:
        frontier.append([leaf])
        found.append(frontier.root().hex())
    assert tuple(found) == ROOTS


def test_proofs_are_those_of_the_reference_vectors() -> None:
    leaf = [server.leaf_hash(entry).hex() for entry in LEAVES]

    assert [digest.hex() for digest in over(LEAVES[:3], server.inclusion_ranges(2, 3))] == [ROOTS[1]]
    assert [digest.hex() for digest in over(LEAVES[:5], server.inclusion_ranges(1, 5))] == [
        leaf[0], "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e", leaf[4],
    ]  # fmt: skip
    assert [digest.hex() for digest in over(LEAVES[:5], server.consistency_ranges(2, 5))] == [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e", leaf[4],
    ]  # fmt: skip
    assert server.consistency_ranges(0, 5) == server.consistency_ranges(5, 5) == []


@given(size=st.integers(1, 70), data=st.data())
def test_every_inclusion_that_is_proved_verifies_and_nothing_else(size: int, data: st.DataObject) -> None:
    leaves = [bytes([number]) for number in range(size)]
    root, index = mth(leaves), data.draw(st.integers(0, size - 1))
    proof = over(leaves, server.inclusion_ranges(index, size))

    assert reader.includes(leaves[index], index, size, proof, root)
    assert not reader.includes(b"another", index, size, proof, root)
    assert not reader.includes(leaves[index], index, size, [*proof, root], root)
    assert not any(reader.includes(leaves[index], other, size, proof, root) for other in range(size) if other != index)
    assert not any(reader.includes(leaves[index], place, size, proof, root) for place in (-1, size))
    if proof:
        assert not reader.includes(leaves[index], index, size, proof[:-1], root)
        assert not reader.includes(leaves[index], index, size, [bytes(32), *proof[1:]], root)


@given(new=st.integers(0, 70), data=st.data())
def test_every_consistency_that_is_proved_verifies_and_nothing_else(new: int, data: st.DataObject) -> None:
    leaves = [bytes([number]) for number in range(new)]
    old = data.draw(st.integers(0, new))
    before, after = mth(leaves[:old]), mth(leaves)
    proof = over(leaves, server.consistency_ranges(old, new))

    assert reader.is_consistent(old, before, new, after, proof)
    assert not reader.is_consistent(old, before, new, after, [*proof, after])
    assert not reader.is_consistent(old, bytes(32), new, after, proof)
    if old:
        assert not reader.is_consistent(old, before, new, bytes(32), proof)
        assert not reader.is_consistent(new + 1, before, new, after, proof)
    if proof:
        assert not reader.is_consistent(old, before, new, after, proof[1:])


def test_a_tree_that_grew_in_batches_gives_the_tiles_and_proofs_of_the_definition() -> None:
    dice, leaves = random.Random(16), []
    frontier, tiles = server.Frontier(), {}
    while len(leaves) < 700:
        batch = [os.urandom(32) for _ in range(dice.randrange(1, 300))]
        leaves += batch
        tiles |= {(tile.level, tile.number): tile for tile in frontier.append(batch)}
        assert frontier == server.Frontier.from_bytes(frontier.size, frontier.to_bytes())
        assert frontier.root() == mth(leaves)
    assert [server.tile_width(0, number, 700) for number in range(4)] == [256, 256, 188, 0]
    assert tiles[0, 1].hashes == b"".join(map(server.leaf_hash, leaves[256:512]))

    tiles |= {(level, frontier.tile(level).number): frontier.tile(level) for level in range(2)}
    for size in (1, 2, 255, 256, 257, 511, 512, len(leaves)):
        for leaf in {0, size // 2, size - 1}:
            for start, end in server.inclusion_ranges(leaf, size) + server.consistency_ranges(leaf, size):
                nodes = server.complete_subtrees((start, end))
                found = server.fold([tiles[server.tile_of(node)].node(node) for node in nodes])
                assert found == mth(leaves[start:end])


def test_an_edge_of_another_size_is_refused() -> None:
    frontier = server.Frontier()
    frontier.append([b"a", b"b"])

    with pytest.raises(ValueError, match="not that of a tree of 3 leaves"):
        server.Frontier.from_bytes(3, frontier.to_bytes())
