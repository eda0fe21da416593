"""Ensembles of decision trees."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.errors import InvalidModel
from graphwright.onnx.importing.ops.ml import labels_of, transformed
from graphwright.onnx.importing.opsets import ML, op
from graphwright.onnx.importing.tensors import to_array

_MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ",
          "BRANCH_MEMBER")
_LEAF = len(_MODES)
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


class Forest:
    """Trees as arrays: nodes with their comparison and two next nodes; a leaf leads to itself.

    Attributes:
        roots: the first node of each tree.
        weights: (nodes, targets), what a leaf adds.
        reached: (nodes, targets), which targets a leaf is of.
    """

    def __init__(
        self, roots: list[int], features: list[int], modes: list[int], splits: Any,
        yes: list[int], no: list[int], missing: list[int], dtype: gw.dtype,
    ) -> None:  # fmt: skip
        count = len(modes)
        lengths = {len(features), len(yes), len(no), len(missing), len(splits), count}
        if len(lengths) > 1 or any(not 0 <= n < count for n in (*yes, *no, *roots)):
            raise InvalidModel("an ensemble of trees: nodes lead outside of it")
        self.roots = gw.tensor(roots, dtype=gw.int64)
        self.features = gw.tensor(features, dtype=gw.int64)
        self.modes = gw.tensor(modes, dtype=gw.int64)
        self.splits = gw.tensor(splits, dtype=dtype)
        self.yes, self.no = gw.tensor(yes, dtype=gw.int64), gw.tensor(no, dtype=gw.int64)
        self.missing = gw.tensor(missing, dtype=gw.bool)
        self.present = sorted(set(modes))
        self.depth = _depth(roots, yes, no, modes)
        self.members: Any = None
        self.weights: Any = None
        self.reached: Any = None

    def leaves(self, x: Tensor) -> Tensor:
        """The leaf that each row reaches in each tree: (rows, trees)."""
        node = self.roots.unsqueeze(0).expand([x.shape[0], len(self.roots)])
        for _ in range(self.depth):
            value = gw.gather(x, 1, self.features[node])
            holds = self._holds(node, value)
            holds = gw.where(gw.isnan(value), self.missing[node], holds)
            node = gw.where(holds, self.yes[node], self.no[node])
        return node

    def _holds(self, node: Tensor, value: Tensor) -> Tensor:
        split, mode = self.splits[node], self.modes[node]
        comparisons = (gw.le, gw.lt, gw.ge, gw.gt, gw.eq, gw.ne)
        holds = gw.zeros_like(value, dtype=gw.bool)
        for number in self.present:
            if number < len(comparisons):
                holds = gw.where(mode == number, comparisons[number](value, split), holds)
            elif number == _MODES.index("BRANCH_MEMBER"):
                inside = (self.members[node] == value.unsqueeze(-1)).any(-1)
                holds = gw.where(mode == number, inside, holds)
        return holds

    def scores(self, x: Tensor, aggregate: str) -> Tensor:
        """What the leaves add up to: (rows, targets)."""
        leaf = self.leaves(x)
        weights = self.weights[leaf]  # (rows, trees, targets)
        if aggregate in ("MIN", "MAX"):
            reached = self.reached[leaf]
            empty = float("inf") if aggregate == "MIN" else float("-inf")
            weights = gw.where(reached, weights, gw.full_like(weights, empty))
            best = gw.amin(weights, 1) if aggregate == "MIN" else gw.amax(weights, 1)
            return gw.where(reached.any(1), best, gw.zeros_like(best))
        total = weights.sum(1)
        return total / len(self.roots) if aggregate == "AVERAGE" else total


def _depth(roots: list[int], yes: list[int], no: list[int], modes: list[int]) -> int:
    """Steps from a root to the farthest leaf; a tree that leads back to itself has none."""
    level, depth = set(roots), 0
    while True:
        level = {n for node in level if modes[node] != _LEAF for n in (yes[node], no[node])}
        if not level:
            return max(depth, 1)
        depth += 1
        if depth > len(modes):
            raise InvalidModel("an ensemble of trees: a node leads back to itself")


def _of_nodes(
    treeids: list[int], nodeids: list[int], features: list[int], modes: list[str], values: Any,
    yes: list[int], no: list[int], missing: list[int] | None, dtype: gw.dtype,
) -> tuple[Forest, dict[tuple[int, int], int]]:  # fmt: skip
    """The forest of nodes that are numbered by tree, and the position of each."""
    place = {key: i for i, key in enumerate(zip(treeids, nodeids, strict=True))}
    unknown = set(modes) - {*_MODES[:6], "LEAF"}
    if unknown:
        raise InvalidModel(f"an ensemble of trees: no mode {min(unknown)!r}")
    numbers = [_LEAF if mode == "LEAF" else _MODES.index(mode) for mode in modes]
    leads = []
    for targets in (yes, no):
        leads.append([
            i if numbers[i] == _LEAF else place.get((tree, target), -1)
            for i, (tree, target) in enumerate(zip(treeids, targets, strict=True))
        ])
    inner = {leads[k][i] for i, mode in enumerate(numbers) if mode != _LEAF for k in (0, 1)}
    roots = [i for i in range(len(numbers)) if i not in inner]
    forest = Forest(
        roots, features, numbers, values, leads[0], leads[1], missing or [0] * len(numbers),
        dtype,
    )
    return forest, place


def _weigh(
    forest: Forest, places: list[int], targets: list[int], weights: Any, count: int,
    dtype: gw.dtype,
) -> None:  # fmt: skip
    """Enter what leaves add to targets."""
    nodes = len(forest.modes)
    if any(not 0 <= t < count for t in targets) or len(places) != len(targets) != len(weights):
        raise InvalidModel("an ensemble of trees: a leaf is of a target that is not there")
    table = np.zeros((nodes, count))
    reached = np.zeros((nodes, count), dtype=bool)
    np.add.at(table, (places, targets), np.asarray(weights, dtype=np.float64))
    reached[places, targets] = True
    forest.weights = gw.tensor(table.tolist(), dtype=dtype).reshape([nodes, count])
    forest.reached = gw.from_numpy(reached)


@op("TreeEnsembleRegressor", domain=ML)
def tree_ensemble_regressor(
    x: Tensor, *, nodes_treeids: list[int], nodes_nodeids: list[int],
    nodes_featureids: list[int], nodes_modes: list[str], nodes_truenodeids: list[int],
    nodes_falsenodeids: list[int], target_treeids: list[int], target_nodeids: list[int],
    target_ids: list[int], nodes_values: list[float] | None = None,
    nodes_values_as_tensor: Any = None, target_weights: list[float] | None = None,
    target_weights_as_tensor: Any = None, base_values: list[float] | None = None,
    base_values_as_tensor: Any = None, n_targets: int = 1, aggregate_function: str = "SUM",
    post_transform: str = "NONE", nodes_hitrates: Any = None, nodes_hitrates_as_tensor: Any = None,
    nodes_missing_value_tracks_true: list[int] | None = None,
) -> Tensor:  # fmt: skip
    """The weights of the leaves that each row reaches, added up or combined: (rows, targets)."""
    dtype = gw.float64 if x.dtype == gw.float64 else gw.float32
    forest, place = _of_nodes(
        nodes_treeids, nodes_nodeids, nodes_featureids, nodes_modes,
        _numbers(nodes_values, nodes_values_as_tensor), nodes_truenodeids, nodes_falsenodeids,
        nodes_missing_value_tracks_true, dtype,
    )
    leaves = [place[key] for key in zip(target_treeids, target_nodeids, strict=True)]
    weights = _numbers(target_weights, target_weights_as_tensor)
    _weigh(forest, leaves, target_ids, weights, n_targets, dtype)
    scores = forest.scores(x.to(dtype), aggregate_function)
    base = _numbers(base_values, base_values_as_tensor)
    if base:
        scores = scores + gw.tensor(base, dtype=dtype)
    return transformed(scores, post_transform)


@op("TreeEnsembleClassifier", domain=ML)
def tree_ensemble_classifier(
    x: Tensor, *, nodes_treeids: list[int], nodes_nodeids: list[int],
    nodes_featureids: list[int], nodes_modes: list[str], nodes_truenodeids: list[int],
    nodes_falsenodeids: list[int], class_treeids: list[int], class_nodeids: list[int],
    class_ids: list[int], nodes_values: list[float] | None = None,
    nodes_values_as_tensor: Any = None, class_weights: list[float] | None = None,
    class_weights_as_tensor: Any = None, base_values: list[float] | None = None,
    base_values_as_tensor: Any = None, classlabels_int64s: list[int] | None = None,
    classlabels_strings: list[str] | None = None, post_transform: str = "NONE",
    nodes_hitrates: Any = None, nodes_hitrates_as_tensor: Any = None,
    nodes_missing_value_tracks_true: list[int] | None = None,
) -> Any:  # fmt: skip
    """The label of the class that the leaves add most to, and the scores of all classes."""
    dtype = gw.float64 if x.dtype == gw.float64 else gw.float32
    forest, place = _of_nodes(
        nodes_treeids, nodes_nodeids, nodes_featureids, nodes_modes,
        _numbers(nodes_values, nodes_values_as_tensor), nodes_truenodeids, nodes_falsenodeids,
        nodes_missing_value_tracks_true, dtype,
    )
    leaves = [place[key] for key in zip(class_treeids, class_nodeids, strict=True)]
    weights = _numbers(class_weights, class_weights_as_tensor)
    count = len(classlabels_int64s or classlabels_strings or [])
    _weigh(forest, leaves, class_ids, weights, max(count, max(class_ids, default=0) + 1), dtype)
    scores = forest.scores(x.to(dtype), "SUM")
    base = _numbers(base_values, base_values_as_tensor)
    binary = count == 2 and len(set(class_ids)) == 1
    if binary:
        only = scores[:, class_ids[0]]
        only = only + (base[-1] if base else 0.0)
        return _of_one_score(
            only, min(weights, default=0.0) >= 0, post_transform, classlabels_int64s,
            classlabels_strings,
        )
    if base:
        scores = scores + gw.tensor(base, dtype=dtype)
    index = gw.argmax(scores, dim=-1)
    labels = labels_of(index, classlabels_int64s, classlabels_strings)
    return labels, transformed(scores, post_transform).float()


def _of_one_score(
    score: Tensor, positive: bool, post_transform: str, ints: list[int] | None,
    strings: list[str] | None,
) -> Any:  # fmt: skip
    """Label and two scores where the leaves are of one class of two."""
    if positive and post_transform == "NONE":
        index = (score > 0.5).to(gw.int64)
        scores = gw.stack([1 - score, score], dim=-1)
    elif post_transform == "LOGISTIC":
        index = (score > 0).to(gw.int64)
        scores = gw.stack([gw.sigmoid(-score), gw.sigmoid(score)], dim=-1)
    else:
        index = (score > (0.5 if positive else 0.0)).to(gw.int64)
        first = 1 - score if positive else -score
        scores = transformed(gw.stack([first, score], dim=-1), post_transform)
    return labels_of(index, ints, strings), scores.float()


def _numbers(floats: list[float] | None, tensor: Any) -> list[float]:
    """An attribute that is given as floats or as a tensor."""
    if tensor is not None:
        return list(to_array(tensor).reshape(-1).tolist())
    return list(floats or [])


@op("TreeEnsemble", domain=ML)
def tree_ensemble(
    x: Tensor, *, aggregate_function: int = 1, leaf_targetids: list[int], leaf_weights: Any,
    membership_values: Any = None, n_targets: int = 1, nodes_falseleafs: list[int],
    nodes_falsenodeids: list[int], nodes_featureids: list[int], nodes_hitrates: Any = None,
    nodes_missing_value_tracks_true: list[int] | None = None, nodes_modes: Any,
    nodes_splits: Any, nodes_trueleafs: list[int], nodes_truenodeids: list[int],
    post_transform: int = 0, tree_roots: list[int],
) -> Tensor:  # fmt: skip
    """The weights of the leaves that each row reaches, combined: (rows, targets)."""
    dtype = x.dtype
    modes = to_array(nodes_modes).reshape(-1).tolist()
    splits = to_array(nodes_splits).reshape(-1).tolist()
    weights = to_array(leaf_weights).reshape(-1).tolist()
    inner, leaves = len(modes), len(weights)
    yes, no = [
        [target + inner if leaf else target for target, leaf in zip(targets, is_leaf, strict=True)]
        for targets, is_leaf in (
            (nodes_truenodeids, nodes_trueleafs), (nodes_falsenodeids, nodes_falseleafs)
        )
    ]
    own = list(range(inner, inner + leaves))
    fill = [0] * leaves
    forest = Forest(
        tree_roots, [*nodes_featureids, *fill], [*modes, *[_LEAF] * leaves], [*splits, *fill],
        [*yes, *own], [*no, *own], [*(nodes_missing_value_tracks_true or [0] * inner), *fill],
        dtype,
    )
    forest.members = _members(modes, leaves, membership_values, dtype)
    _weigh(forest, own, leaf_targetids, weights, n_targets, dtype)
    scores = forest.scores(x, _AGGREGATES[aggregate_function])
    return transformed(scores, _TRANSFORMS[post_transform])


def _members(modes: list[int], leaves: int, values: Any, dtype: gw.dtype) -> Any:
    """(nodes, members) of the sets that nodes test, filled with NaN."""
    if values is None:
        return None
    sets: list[list[float]] = [[]]
    for number in to_array(values).reshape(-1).tolist():
        if number != number:
            sets.append([])
        else:
            sets[-1].append(number)
    longest = max(len(members) for members in sets) or 1
    nan = float("nan")
    left = iter(sets)
    rows = []
    for mode in modes:
        members = next(left, []) if mode == _MODES.index("BRANCH_MEMBER") else []
        rows.append([*members, *[nan] * (longest - len(members))])
    rows += [[nan] * longest] * leaves
    return gw.tensor(rows, dtype=dtype)
