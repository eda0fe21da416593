"""Elementary functions, written once over the builder's operations for both syntaxes.

Each takes and gives float32 or float64 values of any lane count, without branches on the way
(huge arguments of sin, cos and tan aside), and states its largest error in units in the last
place (ulp), as the tests measure it against higher precision, on CPUs with fma (older ones: up
to half an ulp more). Exact cases, infinities, nan,
signed zeros and denormals come out as C99's Annex F has them.
"""
