"""Ensembles of decision trees, whose nodes are made tables where a model is loaded."""

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
          "BRANCH_MEMBER", "LEAF")
_MEMBER, _LEAF = 6, 7
_COMPARISONS = (gw.le, gw.lt, gw.ge, gw.gt, gw.eq, gw.ne)
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")


class Forest:
    """Trees as arrays: nodes with their comparison and two next nodes; a leaf leads to itself.

    Attributes:
        roots: the first node of each tree.
        splits: float64, as all numbers here; they are compared in the dtype of the rows.
        weights: (nodes, targets), what a leaf adds.
        reached: (nodes, targets), which targets a leaf is of.
        base: what is added to all scores, (targets,) or (1,); None for nothing.
    """

    def __init__(
        self, roots: list[int], features: list[int], modes: list[int], splits: Any,
        yes: list[int], no: list[int], missing: list[int],
    ) -> None:  # fmt: skip
        count = len(modes)
        lengths = {len(features), len(yes), len(no), len(missing), len(splits), count}
        if len(lengths) > 1 or any(not 0 <= n < count for n in (*yes, *no, *roots)):
            raise InvalidModel("an ensemble of trees: nodes lead outside of it")
        self.roots, self.features, self.modes, self.yes, self.no = [
            gw.tensor(numbers, dtype=gw.int64) for numbers in (roots, features, modes, yes, no)
        ]
        self.splits = gw.tensor(splits, dtype=gw.float64)
        self.missing = gw.tensor(missing, dtype=gw.bool)
        self.present = sorted({*modes} - {_LEAF})
        self.depth = _depth(roots, yes, no, modes)
        self.members: Any = None
        self.base: Any = None

    def weigh(self, places: list[int], targets: list[int], weights: Any, count: int) -> None:
        """Enter what leaves add to targets."""
        if any(not 0 <= t < count for t in targets) or len(places) != len(targets) != len(weights):
            raise InvalidModel("an ensemble of trees: a leaf is of a target that is not there")
        table = np.zeros((len(self.modes), count))
        reached = np.zeros(table.shape, dtype=bool)
        np.add.at(table, (places, targets), np.asarray(weights, dtype=np.float64))
        reached[places, targets] = True
        self.weights, self.reached = gw.from_numpy(table), gw.from_numpy(reached)

    def leaves(self, x: Tensor) -> Tensor:
        """The leaf that each row reaches in each tree: (rows, trees)."""
        node = self.roots.unsqueeze(0).expand([x.shape[0], len(self.roots)])
        splits = self.splits.to(x.dtype)
        members: Any = None if self.members is None else self.members.to(x.dtype)
        for _ in range(self.depth):
            value = gw.gather(x, 1, self.features[node])
            mode, holds = self.modes[node], gw.zeros_like(value, dtype=gw.bool)
            for number in self.present:
                if number != _MEMBER:
                    held = _COMPARISONS[number](value, splits[node])
                else:
                    held = (members[node] == value.unsqueeze(-1)).any(-1)
                holds = gw.where(mode == number, held, holds)
            holds = gw.where(gw.isnan(value), self.missing[node], holds)
            node = gw.where(holds, self.yes[node], self.no[node])
        return node

    def scores(self, x: Tensor, aggregate: str) -> Tensor:
        """What the leaves add up to: (rows, targets)."""
        leaf = self.leaves(x)
        weights = self.weights.to(x.dtype)[leaf]  # (rows, trees, targets)
        if aggregate in ("MIN", "MAX"):
            reached = self.reached[leaf]
            empty = float("inf") if aggregate == "MIN" else float("-inf")
            weights = gw.where(reached, weights, gw.full_like(weights, empty))
            best = gw.amin(weights, 1) if aggregate == "MIN" else gw.amax(weights, 1)
            total = gw.where(reached.any(1), best, gw.zeros_like(best))
        else:
            total = weights.sum(1)
            total = total / len(self.roots) if aggregate == "AVERAGE" else total
        return total if self.base is None else total + self.base.to(x.dtype)


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


def _numbers(floats: list[float] | None, tensor: Any) -> list[float]:
    """An attribute that is given as floats or as a tensor."""
    if tensor is not None:
        return list(to_array(tensor).reshape(-1).tolist())
    return list(floats or [])


def _of_nodes(
    *, nodes_treeids: list[int], nodes_nodeids: list[int], nodes_featureids: list[int],
    nodes_modes: list[str], nodes_truenodeids: list[int], nodes_falsenodeids: list[int],
    nodes_values: list[float] | None = None, nodes_values_as_tensor: Any = None,
    nodes_hitrates: Any = None, nodes_hitrates_as_tensor: Any = None,
    nodes_missing_value_tracks_true: list[int] | None = None,
    base_values: list[float] | None = None, base_values_as_tensor: Any = None,
) -> tuple[Forest, dict[tuple[int, int], int]]:  # fmt: skip
    """The forest of nodes that are numbered by tree, and the position of each."""
    place = {key: i for i, key in enumerate(zip(nodes_treeids, nodes_nodeids, strict=True))}
    unknown = set(nodes_modes) - {*_MODES[:_MEMBER], "LEAF"}
    if unknown:
        raise InvalidModel(f"an ensemble of trees: no mode {min(unknown)!r}")
    modes = [_MODES.index(mode) for mode in nodes_modes]
    yes, no = [
        [i if modes[i] == _LEAF else place.get((tree, target), -1)
         for i, (tree, target) in enumerate(zip(nodes_treeids, targets, strict=True))]
        for targets in (nodes_truenodeids, nodes_falsenodeids)
    ]
    inner = {n for i, mode in enumerate(modes) if mode != _LEAF for n in (yes[i], no[i])}
    forest = Forest(
        [i for i in range(len(modes)) if i not in inner], nodes_featureids, modes,
        _numbers(nodes_values, nodes_values_as_tensor), yes, no,
        nodes_missing_value_tracks_true or [0] * len(modes),
    )
    base = _numbers(base_values, base_values_as_tensor)
    forest.base = gw.tensor(base, dtype=gw.float64) if base else None
    return forest, place


def _regressor(
    *, target_treeids: list[int], target_nodeids: list[int], target_ids: list[int],
    target_weights: list[float] | None = None, target_weights_as_tensor: Any = None,
    n_targets: int = 1, aggregate_function: str = "SUM", post_transform: str = "NONE",
    **nodes: Any,
) -> dict[str, Any]:  # fmt: skip
    forest, place = _of_nodes(**nodes)
    leaves = [place[key] for key in zip(target_treeids, target_nodeids, strict=True)]
    weights = _numbers(target_weights, target_weights_as_tensor)
    forest.weigh(leaves, target_ids, weights, n_targets)
    return {"forest": forest, "aggregate": aggregate_function, "post_transform": post_transform}


def _ensemble(
    *, aggregate_function: int = 1, leaf_targetids: list[int], leaf_weights: Any,
    membership_values: Any = None, n_targets: int = 1, nodes_falseleafs: list[int],
    nodes_falsenodeids: list[int], nodes_featureids: list[int], nodes_hitrates: Any = None,
    nodes_missing_value_tracks_true: list[int] | None = None, nodes_modes: Any,
    nodes_splits: Any, nodes_trueleafs: list[int], nodes_truenodeids: list[int],
    post_transform: int = 0, tree_roots: list[int],
) -> dict[str, Any]:  # fmt: skip
    modes, splits, weights = [
        _numbers(None, tensor) for tensor in (nodes_modes, nodes_splits, leaf_weights)
    ]
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
        tree_roots, [*nodes_featureids, *fill], [*map(int, modes), *[_LEAF] * leaves],
        [*splits, *fill], [*yes, *own], [*no, *own],
        [*(nodes_missing_value_tracks_true or [0] * inner), *fill],
    )
    forest.members = _members(forest.modes.tolist(), membership_values)
    forest.weigh(own, leaf_targetids, weights, n_targets)
    return {"forest": forest, "aggregate": _AGGREGATES[aggregate_function],
            "post_transform": _TRANSFORMS[post_transform]}


def _members(modes: list[int], values: Any) -> Any:
    """(nodes, members) of the sets that nodes test, filled with NaN."""
    if values is None:
        return None
    sets: list[list[float]] = [[]]
    for number in _numbers(None, values):
        if number != number:
            sets.append([])
        else:
            sets[-1].append(number)
    longest = max(len(members) for members in sets) or 1
    left = iter(sets)
    rows = [next(left, []) if mode == _MEMBER else [] for mode in modes]
    return gw.tensor([[*row, *[float("nan")] * (longest - len(row))] for row in rows],
                     dtype=gw.float64)


def _rows(x: Tensor) -> Tensor:
    """Rows in the dtype that trees of numbers in float32 compute in."""
    return x if x.dtype == gw.float64 else x.float()


@op("TreeEnsemble", domain=ML, prepare=_ensemble)
def tree_ensemble(x: Tensor, *, forest: Any, aggregate: str, post_transform: str) -> Tensor:
    """The weights of the leaves that each row reaches, added up or combined: (rows, targets)."""
    return transformed(forest.scores(x, aggregate), post_transform)


@op("TreeEnsembleRegressor", domain=ML, prepare=_regressor, options_of=(_of_nodes,))
def tree_ensemble_regressor(
    x: Tensor, *, forest: Any, aggregate: str, post_transform: str
) -> Tensor:
    """The same."""
    return transformed(forest.scores(_rows(x), aggregate), post_transform)


def _classifier(
    *, class_treeids: list[int], class_nodeids: list[int], class_ids: list[int],
    class_weights: list[float] | None = None, class_weights_as_tensor: Any = None,
    classlabels_int64s: list[int] | None = None, classlabels_strings: list[str] | None = None,
    post_transform: str = "NONE", **nodes: Any,
) -> dict[str, Any]:  # fmt: skip
    forest, place = _of_nodes(**nodes)
    leaves = [place[key] for key in zip(class_treeids, class_nodeids, strict=True)]
    weights = _numbers(class_weights, class_weights_as_tensor)
    labels = classlabels_int64s or classlabels_strings or []
    forest.weigh(leaves, class_ids, weights, max(len(labels), max(class_ids, default=0) + 1))
    only = class_ids[0] if len(labels) == 2 and len(set(class_ids)) == 1 else None
    if only is not None and forest.base is not None:
        forest.base = forest.base[-1:]
    return {"forest": forest, "ints": classlabels_int64s, "strings": classlabels_strings,
            "post_transform": post_transform, "only": only,
            "positive": min(weights, default=0.0) >= 0}


@op("TreeEnsembleClassifier", domain=ML, prepare=_classifier, options_of=(_of_nodes,))
def tree_ensemble_classifier(
    x: Tensor, *, forest: Any, ints: list[int] | None, strings: list[str] | None,
    post_transform: str, only: int | None, positive: bool,
) -> Any:  # fmt: skip
    """The label of the class that the leaves add most to, and the scores of all classes.

    Args:
        only: of two classes the one that all leaves are of; None where there are more.
        positive: whether all leaves add to it.
    """
    scores = forest.scores(_rows(x), "SUM")
    if only is None:
        index = gw.argmax(scores, dim=-1)
        return labels_of(index, ints, strings), transformed(scores, post_transform).float()
    score = scores[:, only]
    limit = 0.5 if positive and post_transform != "LOGISTIC" else 0.0
    labels = labels_of((score > limit).to(gw.int64), ints, strings)
    if post_transform == "LOGISTIC":
        both = gw.stack([gw.sigmoid(-score), gw.sigmoid(score)], dim=-1)
    else:
        both = gw.stack([1 - score if positive else -score, score], dim=-1)
        both = transformed(both, post_transform)
    return labels, both.float()
