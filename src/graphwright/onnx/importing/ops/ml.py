"""Operators of ai.onnx.ml but for trees: features, labels, linear models, kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

import graphwright as gw
from graphwright import Tensor
from graphwright.onnx.importing.opsets import ML, op, plain
from graphwright.onnx.importing.tensors import to_array
from graphwright.onnx.importing.values import of_objects


@op("ArrayFeatureExtractor", domain=ML)
def array_feature_extractor(x: Tensor | np.ndarray, places: Tensor) -> Any:
    """Columns of x."""
    index = places.reshape([-1])
    if isinstance(x, np.ndarray):
        return np.take(x, index.numpy(), axis=-1)
    found = gw.index_select(x, x.dim() - 1, index)
    return found.unsqueeze(0) if x.dim() == 1 else found


plain("Binarizer", lambda x, threshold: (x > threshold).to(x.dtype), "threshold", domain=ML)


@op("Scaler", domain=ML)
def scaler(
    x: Tensor, *, offset: list[float] | None = None, scale: list[float] | None = None
) -> Tensor:
    """(x - offset) scale of each feature, or of all."""
    y = x.float()
    if offset is not None:
        y = y - gw.tensor(offset)
    return y if scale is None else y * gw.tensor(scale)


@op("Normalizer", domain=ML)
def normalizer(x: Tensor, *, norm: str = "MAX") -> Tensor:
    """Each row over its largest element, its sum of sizes, or its length."""
    y = x.float()
    if norm == "MAX":
        size = gw.amax(y, -1, True)
    elif norm == "L1":
        size = gw.abs(y).sum(-1, keepdim=True)
    else:
        size = gw.sqrt((y * y).sum(-1, keepdim=True))
    return gw.where(size == 0, y, y / gw.where(size == 0, gw.ones_like(size), size))


@op("Imputer", domain=ML)
def imputer(
    x: Tensor, *, imputed_value_floats: list[float] | None = None,
    imputed_value_int64s: list[int] | None = None, replaced_value_float: float = 0.0,
    replaced_value_int64: int = 0,
) -> Tensor:  # fmt: skip
    """x with a value, NaN perhaps, replaced by another of each feature."""
    if x.dtype.is_floating_point:
        lacking = gw.isnan(x) if np.isnan(replaced_value_float) else x == replaced_value_float
        return gw.where(lacking, gw.tensor(imputed_value_floats, dtype=x.dtype), x)
    values = gw.tensor(imputed_value_int64s, dtype=x.dtype)
    return gw.where(x == replaced_value_int64, values, x)


@op("FeatureVectorizer", domain=ML)
def feature_vectorizer(*parts: Tensor, inputdimensions: list[int] | None = None) -> Tensor:
    """Features side by side, as float32."""
    rows = [part.float().reshape([part.shape[0] if part.dim() > 1 else 1, -1]) for part in parts]
    if inputdimensions is not None:
        rows = [row[:, :n] for row, n in zip(rows, inputdimensions, strict=True)]
    return gw.cat(rows, dim=1)


@op("OneHotEncoder", domain=ML)
def one_hot_encoder(
    x: Tensor | np.ndarray, *, cats_int64s: list[int] | None = None,
    cats_strings: list[str] | None = None, zeros: int = 1,
) -> Tensor:  # fmt: skip
    """1 for the category that an element is of, 0 for others."""
    if isinstance(x, np.ndarray):
        known = (x[..., np.newaxis] == np.array(cats_strings, dtype=object)).astype(np.float32)
        hot = gw.from_numpy(known)
    else:
        hot = (x.to(gw.int64).unsqueeze(-1) == gw.tensor(cats_int64s)).float()
    if not zeros and bool((hot.sum(-1) == 0).any()):
        raise ValueError("OneHotEncoder: an element is of no category")
    return hot


@op("CategoryMapper", domain=ML)
def category_mapper(
    x: Tensor | np.ndarray, *, cats_int64s: list[int], cats_strings: list[str],
    default_int64: int = -1, default_string: str = "_Unused",
) -> Any:  # fmt: skip
    """The number of each string, or the string of each number."""
    if isinstance(x, np.ndarray):
        return _mapped(x, cats_strings, cats_int64s, default_int64, np.int64)
    return _mapped(x, cats_int64s, cats_strings, default_string, object)


def _mapped(x: Any, keys: list[Any], values: list[Any], default: Any, dtype: Any) -> Any:
    """The value of each element's key, of all NaN that of NaN, or the default."""
    mapping = dict(zip(keys, values, strict=True))
    unknown = next((mapping[key] for key in mapping if key != key), default)
    found = [unknown if key != key else mapping.get(key, default)
             for key in to_array(x).reshape(-1).tolist()]
    if dtype is object:
        return of_objects(found, tuple(x.shape))
    return gw.from_numpy(np.array(found, dtype=dtype).reshape(tuple(x.shape)))


@op("LabelEncoder", domain=ML)
def label_encoder(
    x: Tensor | np.ndarray, *, default_float: float = -0.0, default_int64: int = -1,
    default_string: str = "_Unused", default_tensor: Any = None,
    keys_floats: list[float] | None = None, keys_int64s: list[int] | None = None,
    keys_strings: list[str] | None = None, keys_tensor: Any = None,
    values_floats: list[float] | None = None, values_int64s: list[int] | None = None,
    values_strings: list[str] | None = None, values_tensor: Any = None,
    classes_strings: list[str] | None = None,
) -> Any:  # fmt: skip
    """The value of each key, or the default."""
    if classes_strings is not None:  # version 1: strings and their positions
        return category_mapper(
            x, cats_int64s=list(range(len(classes_strings))), cats_strings=classes_strings,
            default_int64=default_int64, default_string=default_string,
        )
    choices: list[Any] = [keys_floats, keys_int64s, keys_strings, _elements(keys_tensor)]
    keys = next((one for one in choices if one is not None), None)
    if keys is None:
        raise ValueError("LabelEncoder: no keys")
    for values, default, dtype in (
        (values_floats, default_float, np.float32), (values_int64s, default_int64, np.int64),
        (values_strings, default_string, object),
    ):  # fmt: skip
        if values is not None:
            return _mapped(x, keys, values, default, dtype)
    if values_tensor is None or default_tensor is None:
        raise ValueError("LabelEncoder: no values, or no default for those of a tensor")
    default = _elements(default_tensor)[0]
    return _mapped(x, keys, _elements(values_tensor), default, to_array(values_tensor).dtype)


def _elements(tensor: Any) -> Any:
    """The elements of an attribute that is a tensor."""
    return None if tensor is None else to_array(tensor).reshape(-1).tolist()


def transformed(scores: Tensor, post_transform: str) -> Tensor:
    """Scores as "NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO" or "PROBIT" make them."""
    if post_transform == "SOFTMAX":
        return gw.softmax(scores, dim=-1)
    if post_transform == "LOGISTIC":
        return gw.sigmoid(scores)
    if post_transform == "SOFTMAX_ZERO":
        zero = scores == 0
        weights = gw.exp(scores - gw.amax(scores, -1, True)).masked_fill(zero, 0.0)
        return weights / weights.sum(-1, keepdim=True).clamp(min=1e-38)
    if post_transform == "PROBIT":
        return 1.4142135623730951 * gw.erfinv(2 * scores - 1)
    return scores


def labels_of(
    index: Tensor, ints: list[int] | None, strings: list[str] | None
) -> Any:
    """The labels of classes by position."""
    if strings:
        return of_objects([strings[i] for i in index.tolist()], tuple(index.shape))
    return gw.tensor(ints, dtype=gw.int64)[index] if ints else index


@op("LinearRegressor", domain=ML)
def linear_regressor(
    x: Tensor, *, coefficients: list[float] | None = None, intercepts: list[float] | None = None,
    post_transform: str = "NONE", targets: int = 1,
) -> Tensor:  # fmt: skip
    """x times coefficients plus intercepts."""
    weights = gw.tensor(coefficients).reshape([targets, -1])
    y = gw.matmul(x.float(), weights.t())
    return transformed(y if not intercepts else y + gw.tensor(intercepts), post_transform)


@op("LinearClassifier", domain=ML)
def linear_classifier(
    x: Tensor, *, classlabels_ints: list[int] | None = None,
    classlabels_strings: list[str] | None = None, coefficients: list[float],
    intercepts: list[float] | None = None, multi_class: int = 0, post_transform: str = "NONE",
) -> Any:  # fmt: skip
    """The label of the largest linear score, and the scores of all classes."""
    rows = x.float() if x.dim() > 1 else x.float().unsqueeze(0)
    weights = gw.tensor(coefficients).reshape([-1, rows.shape[-1]])
    scores = gw.matmul(rows, weights.t())
    if intercepts:
        scores = scores + gw.tensor(intercepts)
    n_labels = len(classlabels_ints or classlabels_strings or [])
    if scores.shape[-1] == 1 and n_labels == 2:
        if post_transform == "LOGISTIC":
            scores = gw.sigmoid(scores)
            scores = gw.cat([1 - scores, scores], dim=-1)
            index = (scores[:, 1] > 0.5).to(gw.int64)
        else:
            scores = transformed(gw.cat([-scores, scores], dim=-1), post_transform)
            index = (scores[:, 1] > 0).to(gw.int64)
        return labels_of(index, classlabels_ints, classlabels_strings), scores
    index = gw.argmax(scores, dim=-1)
    scores = transformed(scores, post_transform)
    return labels_of(index, classlabels_ints, classlabels_strings), scores


def _kernel(x: Tensor, vectors: Tensor, kind: str, parameters: list[float] | None) -> Tensor:
    """The kernel of each row with each vector: (rows, vectors)."""
    gamma, coefficient, degree = parameters or [0.0, 0.0, 0.0]
    if kind == "RBF":
        return gw.exp(-gamma * ((x.unsqueeze(1) - vectors) ** 2).sum(-1))
    product = gw.matmul(x, vectors.t())
    if kind == "POLY":
        return (gamma * product + coefficient) ** degree
    return gw.tanh(gamma * product + coefficient) if kind == "SIGMOID" else product


@op("SVMRegressor", domain=ML)
def svm_regressor(
    x: Tensor, *, coefficients: list[float], kernel_params: list[float] | None = None,
    kernel_type: str = "LINEAR", n_supports: int = 0, one_class: int = 0,
    post_transform: str = "NONE", rho: list[float] | None = None,
    support_vectors: list[float] | None = None,
) -> Tensor:  # fmt: skip
    """The kernels with support vectors times coefficients; 1 or -1 for one class."""
    rows = x.float()
    if n_supports:
        vectors = gw.tensor(support_vectors).reshape([n_supports, -1])
        rows = _kernel(rows, vectors, kernel_type, kernel_params)
    scores = gw.matmul(rows, gw.tensor(coefficients).reshape([-1, 1])) + (rho[0] if rho else 0.0)
    if one_class:
        return gw.where(scores > 0, 1.0, -1.0)
    return transformed(scores, post_transform)


@op("ZipMap", domain=ML)
def zip_map(
    x: Tensor, *, classlabels_int64s: list[int] | None = None,
    classlabels_strings: list[str] | None = None,
) -> list[dict[Any, float]]:  # fmt: skip
    """For each row a dict from labels to scores."""
    labels: list[Any] = list(classlabels_strings or classlabels_int64s or [])
    return [dict(zip(labels, row, strict=True)) for row in x.tolist()]
