"""Second names of dtypes, some of which are also those of Python's own types."""

from __future__ import annotations

from graphwright.runtime.tensor import dtypes

half = dtypes.float16
float = dtypes.float32
double = dtypes.float64
cfloat = dtypes.complex64
chalf = dtypes.complex32
cdouble = dtypes.complex128
short = dtypes.int16
int = dtypes.int32
long = dtypes.int64
