"""KaTrain's own node class reads the analysis that a record carries."""
import sys

import katrain_without_window  # noqa: F401
from pysgf import BaseGoGame
from katrain.core.game_node import GameNode

RECORD, VISITS = sys.argv[1], int(sys.argv[2])


class Record(BaseGoGame[GameNode]):
    NODE_TYPE = GameNode


nodes = [Record.parse_file(RECORD)]
while nodes[-1].children:
    nodes.append(nodes[-1].children[0])
for node in nodes:
    assert node.load_analysis(), node
    assert node.analysis_complete and node.root_visits == VISITS
area = nodes[0].board_size[0] ** 2
for node in nodes:
    assert 0 <= node.winrate <= 1 and node.score is not None
    assert len(node.ownership) == area and all(-1 <= owner <= 1 for owner in node.ownership)
    chances = [chance for chance in node.policy if chance >= 0]
    assert len(node.policy) == area + 1 and abs(sum(chances) - 1) < 1e-2
    taken = [move for earlier in nodes[: nodes.index(node) + 1] for move in earlier.moves if not move.is_pass]
    # No stone was captured: just the stones' points are not legal.
    assert len(chances) == area + 1 - len(taken)
    best = node.candidate_moves[0]
    assert best["order"] == 0 and best["pv"][0] == best["move"] and abs(best["pointsLost"]) >= 0
assert all(node.points_lost is not None for node in nodes[1:])
# As many moves as the game has, and the last one led to what the record says of it.
print(len(nodes), round(nodes[-1].score, 3))
