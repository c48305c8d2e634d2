"""Patterns that depend on the tensors are their definitions."""

import pytest
import torch

from mezzotint.attention.blocks.chosen import Centroids, drawn_rotations, hashed_table, hashes, routed_table, top_table


def random(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("nq", "nk"), [(64, 96), (70, 90), (40, 20)])
def test_the_best_blocks_are_those_of_the_largest_pooled_scores(nq, nk):
    q, k = random(2, 4, nq, 8), random(2, 2, nk, 8, seed=1)
    seen = top_table(q, k, 2, block=16).seen()
    assert seen.shape == (2, 4, nq, nk)
    for b, h, row in torch.cartesian_prod(torch.arange(2), torch.arange(4), torch.arange(-(-nq // 16))).tolist():
        mean = q[b, h, row * 16 : row * 16 + 16].mean(0)
        scores = [float(mean @ part.mean(0)) for part in k[b, h // 2].split(16)]
        best = sorted(range(len(scores)), key=lambda column: -scores[column])[:2]
        wanted = torch.tensor([j // 16 in best for j in range(nk)])
        assert (seen[b, h, row * 16 : row * 16 + 16] == wanted).all()


def test_more_blocks_than_there_are():
    assert top_table(random(1, 1, 40, 8), random(1, 1, 40, 8), 99, block=16).seen().all()


@pytest.mark.parametrize(("tokens", "chunk"), [(64, 16), (70, 16), (70, 10)])
def test_hashed_tokens_see_their_chunk_and_the_one_before(tokens, chunk):
    x = random(2, 3, tokens, 8)
    seen, found = hashed_table(x, 8, chunk=chunk, seed=3, block=16).seen(), hashes(x, drawn_rotations(3, 8, 8, 3))
    assert seen.shape == (2, 3, tokens, tokens) and found.min() >= 0 and found.max() < 8
    for b, h in torch.cartesian_prod(torch.arange(2), torch.arange(3)).tolist():
        line = sorted(range(tokens), key=lambda token: (int(found[b, h, token]), token))
        place = {token: number // chunk for number, token in enumerate(line)}
        wanted = [[place[i] - place[j] in (0, 1) for j in range(tokens)] for i in range(tokens)]
        assert torch.equal(seen[b, h], torch.tensor(wanted))


def test_hashes_are_of_directions_and_by_head():
    x = random(1, 2, 200, 8)
    x[:, 1] = x[:, 0]
    rotations = drawn_rotations(2, 8, 8, 0)
    found = hashes(x, rotations)
    assert torch.equal(found, hashes(x * 3, rotations)) and not torch.equal(found[:, 0], found[:, 1])
    assert ((hashes(-x, rotations) - found).abs() == 4).all()  # argmax [xR; -xR] of the opposite direction


@pytest.mark.parametrize("tokens", [64, 61])
def test_queries_see_the_keys_of_their_cluster(tokens):
    q, k, centroids = random(2, 3, tokens, 8), random(2, 3, tokens, 8, seed=1), Centroids.seeded(3, 4, 8, seed=2)
    seen = routed_table(q, k, centroids, block=16).seen()

    def clusters(x, h):
        """Each cluster in turn takes the 16 nearest of the tokens that are left."""
        left, found = set(range(tokens)), {}
        for cluster, mean in enumerate(centroids.means[h]):
            nearest = sorted(left, key=lambda token: -float(torch.cosine_similarity(x[token], mean, dim=0)))[:16]
            found |= dict.fromkeys(nearest, cluster)
            left -= set(nearest)
        return found

    for b, h in torch.cartesian_prod(torch.arange(2), torch.arange(3)).tolist():
        of_q, of_k = clusters(q[b, h], h), clusters(k[b, h], h)
        wanted = torch.tensor([[of_q[i] == of_k[j] for j in range(tokens)] for i in range(tokens)])
        assert torch.equal(seen[b, h], wanted)


def test_more_clusters_than_whole_ones():
    table = routed_table(random(1, 1, 9, 8), random(1, 1, 9, 8), Centroids.seeded(1, 8, 8, seed=0), block=16)
    assert table.seen().sum(-1).flatten().tolist() == [2] * 8 + [1] or table.seen().sum() == 4 * 4 + 1


def test_centroids_come_to_the_tokens_near_them():
    directions = torch.nn.functional.normalize(random(2, 8), dim=-1)
    x = (directions[torch.arange(200) % 2] + 0.05 * random(200, 8, seed=1))[None, None]
    centroids = Centroids.seeded(1, 3, 8, seed=0)
    centroids = Centroids(
        means=torch.cat([centroids.means[:, :1] + directions[0], centroids.means[:, :2] + directions[1]], 1)
    )
    centroids = Centroids(means=torch.nn.functional.normalize(centroids.means, dim=-1))
    for _ in range(60):
        centroids = centroids.updated(x, decay=0.8)
    assert torch.allclose(centroids.means.norm(dim=-1), torch.ones(1, 3))
    assert (centroids.means[0] @ directions.T).amax(0).min() > 0.99


def test_a_centroid_without_tokens_stays():
    centroids = Centroids.seeded(1, 2, 4, seed=0)
    x = centroids.means[:, :1].expand(1, 5, 4)[None]
    moved = centroids.updated(x + 0.1, decay=0.5)
    assert torch.equal(moved.means[:, 1], centroids.means[:, 1])
    assert not torch.equal(moved.means[:, 0], centroids.means[:, 0])
