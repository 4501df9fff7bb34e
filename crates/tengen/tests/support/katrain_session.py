"""A game of KaTrain's without its window: the engine class of the package asks about every position."""
import sys
import time

import katrain_without_window  # noqa: F401
from pysgf import Move
from katrain.core.constants import OUTPUT_ERROR
from katrain.core.engine import KataGoEngine
from katrain.core.game_node import GameNode

PROGRAM, MODEL, CONFIG, HUMAN = sys.argv[1:5]
SIZE = 9
VISITS = 20


class Katrain:
    """Where the engine logs to and where it would open a window."""

    def __init__(self):
        self.errors = []

    def log(self, message, level=0):
        if level == OUTPUT_ERROR:
            self.errors.append(message)

    def __call__(self, *what):
        self.errors.append(what)


katrain = Katrain()
settings = {
    "katago": PROGRAM,
    "model": MODEL,
    "config": CONFIG,
    "humanlike_model": HUMAN,
    "max_visits": VISITS,
    "fast_visits": 5,
    "max_time": 8.0,
    "wide_root_noise": 0.04,
    "_enable_ownership": True,
    "allow_recovery": False,
}
engine = KataGoEngine(katrain, settings)
assert engine.check_alive(), katrain.errors

PATIENCE_SECONDS = 120


def until(condition):
    """Waits for what the engine's threads bring; queries are sent and answered on threads of their own."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(katrain.errors)


root = GameNode(properties={"SZ": [str(SIZE)], "KM": ["6.5"], "RU": ["Japanese"]})
root.analyze(engine)
node, nodes = root, [root]
for turn in range(12):
    until(lambda: node.analysis_complete)
    best = node.candidate_moves[0]["move"]
    node = node.play(Move.from_gtp(best, player=node.next_player))
    nodes.append(node)
    node.analyze(engine, report_every=0.001 if turn % 3 == 0 else None)
until(lambda: node.analysis_complete)
# Two passes end the game, and KaTrain asks about its last position to show the score.
for _ in range(2):
    node = node.play(Move(None, player=node.next_player))
    nodes.append(node)
    node.analyze(engine)
    until(lambda: node.analysis_complete)

for node in nodes:
    assert node.root_visits >= VISITS, node.root_visits
    assert 0 <= node.winrate <= 1 and node.score is not None
    assert len(node.ownership) == SIZE * SIZE and all(-1 <= owner <= 1 for owner in node.ownership)
    assert len(node.policy) == SIZE * SIZE + 1
    assert abs(sum(chance for chance in node.policy if chance >= 0) - 1) < 1e-3
    assert node.policy_ranking[0][0] >= node.policy_ranking[1][0]
    for move in node.candidate_moves:
        for field in ("move", "visits", "order", "scoreLead", "winrate", "pv", "pointsLost", "winrateLost"):
            assert field in move, (field, move)
        # Moves that came from a later position's root have what KaTrain takes from there.
        if move["order"] < 100:
            assert "prior" in move and "utility" in move, move
            assert len(move["ownership"]) == SIZE * SIZE
    assert node.comment(sgf=True) is not None
assert nodes[3].points_lost is not None

# Other ways of asking: alternatives, a region, one move looked at closely, another side of the rules.
# A later position has no symmetries, so that moves are left over.
first = nodes[5]
before = len(first.analysis["moves"])
first.analyze(engine, find_alternatives=True)
first.analyze(engine, region_of_interest=[0, 4, 0, 4])
first.analyze(engine, refine_move=Move.from_gtp(first.candidate_moves[0]["move"], player=first.next_player))
until(lambda: len(first.analysis["moves"]) > before)
until(engine.is_idle)
for rules in ("chinese", "korean", "aga", "tromp-taylor", "new zealand", "stone_scoring", '{"scoring":"TERRITORY"}'):
    other = GameNode(properties={"SZ": ["7"], "KM": ["0.5"], "RU": [rules], "AB": ["cc", "ee"], "PL": ["W"]})
    other.analyze(engine)
    until(lambda: other.analysis_complete)

# KaTrain's imitating players draw from what people would play.
answers = []
engine.request_analysis(
    nodes[4],
    callback=lambda result, partial: answers.append(result),
    include_policy=True,
    extra_settings={"humanSLProfile": "rank_8k", "ignorePreRootHistory": False},
)
until(lambda: answers)
assert abs(sum(chance for chance in answers[0]["humanPolicy"] if chance > 0) - 1) < 1e-3

# Pondering runs until it is stopped.
nodes[2].clear_analysis()
nodes[2].analyze(engine, ponder=True)
until(lambda: nodes[2].root_visits > 5 * VISITS)
engine.stop_pondering()
until(engine.is_idle)

# An illegal move is an error with its words.
wrong = []
bad = GameNode(properties={"SZ": ["9"]})
bad = bad.play(Move.from_gtp("E5", player="B"))
clash = GameNode(parent=bad, move=Move.from_gtp("E5", player="W"))
engine.request_analysis(clash, callback=lambda *_: None, error_callback=wrong.append)
until(lambda: wrong)
assert "Illegal move" in str(wrong[0]), wrong
katrain.errors = [error for error in katrain.errors if "Illegal move" not in str(error)]

assert engine.check_alive()
engine.shutdown(finish=True)
assert not katrain.errors, katrain.errors
print("all well")
