"""Calls as programs write them: keywords, lists for tuples, negative dims, numbers, out=, methods.

An expression is evaluated in a library of PyTorch's names, as in surroundings.py; each is made of
the values that `names` gives: few elements in several shapes and dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[], object]

# expressions, parted by " ;"
FORMS = {
    "reductions along dims": """
        x.sum(-1) ; x.sum(dim=1) ; x.sum(dim=(0,1)) ; x.sum([0,1]) ; x.sum(0, keepdim=True) ;
        m.sum(x, dim=-1, keepdim=True) ; x.mean(-1) ; x.mean(dim=[0, 1]) ;
        x.mean(dim=1, keepdim=True) ; x.sum(axis=1) ; x.sum(dtype=m.float64) ;
        x.mean(0, dtype=m.float64)
    """,
    "extremes": """
        x.max(dim=1) ; x.max(-1, keepdim=True) ; x.min(dim=-1) ; x.argmax() ; x.argmax(-1) ;
        x.argmax(dim=1, keepdim=True) ; x.argmin(0) ; x.amax() ; x.amax(-1) ; x.amax(dim=(0,1)) ;
        x.amin([1]) ; x.max() ; x.min() ; m.max(x, y) ; x.maximum(y) ; m.aminmax(x) ;
        m.aminmax(x, dim=1)
    """,
    "truths and numbers": """
        x.prod() ; x.prod(0) ; x.prod(dim=-1, keepdim=True) ; x.any() ; x.all() ; mask.any(1) ;
        mask.all(dim=-1) ; mask.sum() ; mask.sum(-1) ; mask.float() ; mask.long() ; mask.int() ;
        mask.to(m.float32) ; mask.float().mean() ; n.sum() ; n.sum(0) ; n.float().mean() ;
        n.max() ; n.max(1) ; n.argmax(-1) ; n.prod() ; n.cumsum(-1)
    """,
    "moments and norms": """
        x.var() ; x.var(-1) ; x.var(dim=1, unbiased=False) ; x.var(dim=1, correction=0) ;
        x.std(dim=0, keepdim=True) ; x.std(0, unbiased=False) ; m.var_mean(x, -1) ;
        m.std_mean(x, dim=1) ; m.var(x, (0,1)) ; x.logsumexp(-1) ; m.logsumexp(x, dim=(0,1)) ;
        x.norm(dim=1) ; x.norm(2, -1) ; x.norm(p=1) ; x.norm(p=2, dim=-1, keepdim=True) ;
        m.linalg.norm(x) ; m.linalg.norm(x, dim=-1) ; m.linalg.norm(x, 'fro') ;
        m.linalg.vector_norm(x, dim=1) ; m.linalg.vector_norm(x, ord=1, dim=-1, keepdim=True) ;
        m.linalg.matrix_norm(x)
    """,
    "scans": """
        x.cumsum(-1) ; x.cumsum(dim=1) ; m.cumsum(x, dim=0) ; x.cumprod(-1) ; m.cummax(x, -1) ;
        m.cummin(x, dim=1) ; x.logcumsumexp(-1) ; m.diff(v) ; m.diff(x, dim=0) ; m.diff(x, n=2) ;
        m.trapezoid(v) ; m.trapezoid(x, dx=0.5) ; x.count_nonzero() ; m.count_nonzero(x, dim=1)
    """,
    "orders": """
        x.sort() ; x.sort(-1) ; x.sort(dim=0, descending=True) ; m.sort(x, -1, True) ;
        m.sort(x, stable=True) ; x.argsort(-1) ; x.argsort(dim=-1, descending=True) ; x.topk(3) ;
        x.topk(3, -1) ; x.topk(k=3, dim=0) ; x.topk(3, largest=False) ; m.topk(v, 1) ;
        m.topk(x, 2, sorted=False) ; x.kthvalue(2) ; x.median() ; x.median(-1) ; x.mode() ;
        x.quantile(0.5) ; x.quantile(0.5, dim=1) ; m.quantile(x, tq, dim=0) ; m.nanmedian(x) ;
        m.msort(x)
    """,
    "shapes": """
        x.view(10, 10) ; x.view((100,)) ; x.view([4, 25]) ; x.view(-1, 10) ; x.view(m.int32) ;
        x.reshape(-1) ; x.reshape(4, -1) ; x.reshape([10, 10]) ; x.reshape((100,)) ;
        m.reshape(x, (20, 5)) ; m.reshape(x, [-1]) ; x.flatten(0) ; x.flatten(0, 1) ;
        x.flatten(start_dim=0) ; z.flatten(1) ; z.flatten(2) ; z.flatten(start_dim=1, end_dim=2) ;
        z.flatten(-2) ; x.unflatten(0, (2, 5)) ; x.unflatten(-1, [2, -1]) ;
        x.unflatten(dim=1, sizes=(5, 2))
    """,
    "orders of dims": """
        z.permute(0, 2, 3, 1) ; z.permute((0, 2, 3, 1)) ; z.permute([0, 2, 3, 1]) ;
        m.permute(z, (0, 3, 1, 2)) ; m.permute(z, dims=(0, 3, 1, 2)) ; z.permute(0, -1, 1, 2) ;
        z.permute(dims=(0, 2, 3, 1)) ; x.transpose(-1, -2) ; x.transpose(0, -1) ;
        z.transpose(1, 2) ; x.mT ; x.T ; z.mT ; x.swapaxes(0, 1) ; x.swapdims(0, 1) ;
        m.transpose(x, dim0=0, dim1=1) ; z.movedim(1, -1) ; z.movedim((1, 2), (2, 3)) ;
        z.movedim([1, 2], [2, 3]) ; m.moveaxis(z, 1, -1) ; x.adjoint()
    """,
    "dims more and fewer": """
        x.unsqueeze(-1) ; x.unsqueeze(dim=1) ; x[None] ; x[:, None] ; x[..., None] ;
        x[None, :, None] ; o.squeeze(0) ; o.squeeze(-1) ; o.squeeze() ; o.squeeze((0, 2)) ;
        o.squeeze(dim=0) ; m.squeeze(o, (0,)) ; x.expand(2, -1, -1) ; v.expand(10, 10) ;
        v.expand(10, -1) ; v.expand((10, 10)) ; v.expand([10, 10]) ; x.expand_as(x) ;
        v.expand_as(x) ; m.broadcast_to(v, (10, 10)) ; x.repeat(2, 1) ; x.repeat((2, 2)) ;
        x.repeat([1, 2]) ; v.repeat(3) ; x.tile(2) ; x.tile((2, 1)) ; m.tile(x, (2, 2)) ;
        x.repeat_interleave(2) ; x.repeat_interleave(2, 0) ; x.repeat_interleave(2, dim=-1) ;
        m.repeat_interleave(v, 3) ; m.repeat_interleave(v, r)
    """,
    "taken apart": """
        x.split(5) ; x.split(5, 1) ; x.split(5, dim=-1) ; x.split([3, 7]) ;
        x.split((3, 7), dim=1) ; m.split(x, [3, 3, 4], dim=-1) ; m.split(x, 2, -1) ; x.chunk(2) ;
        x.chunk(2, -1) ; x.chunk(2, dim=1) ; m.chunk(x, chunks=5, dim=0) ; m.chunk(x, 3) ;
        x.tensor_split(3) ; x.tensor_split((1, 3)) ; x.tensor_split([1, 3], dim=1) ;
        m.tensor_split(x, 2, -1) ; x.hsplit(2) ; x.vsplit(2) ; m.hsplit(x, [1, 4]) ;
        m.vsplit(x, (2, 3)) ; z.dsplit(2) ; x.unbind() ; x.unbind(1) ; x.unbind(-1) ;
        x.unbind(dim=0) ; m.unbind(x) ; m.unbind(x, dim=1) ; tuple(x) ; [r for r in x] ;
        m.unsafe_split(x, 5) ; m.unsafe_chunk(x, 2) ; m.split_with_sizes(x, (3, 7))
    """,
    "joined": """
        m.cat((x, y)) ; m.cat([x, y], dim=-1) ; m.cat([x, y], dim=1) ; m.cat((v, v, v)) ;
        m.cat([x, n]) ; m.cat([z, z], 1) ; m.concat([x, y], -1) ; m.concatenate((x, y)) ;
        m.stack((x, y)) ; m.stack([x, y], dim=1) ; m.stack([v, v], -1) ; m.stack([x, y], 1) ;
        m.hstack((v, v)) ; m.dstack((x, y)) ; m.column_stack((v, v)) ; m.vstack((v, v)) ;
        m.row_stack((v, v)) ; m.block_diag(x, y) ; m.stack(list(x)) ; m.cat(list(x.split(5)))
    """,
    "parts and diagonals": """
        x.select(0, 1) ; x.select(-1, 2) ; x.select(dim=1, index=-1) ; x.narrow(0, 2, 3) ;
        x.narrow(1, 2, 3) ; x.narrow(dim=-1, start=2, length=3) ; m.select(x, 0, 0) ;
        m.narrow(x, 0, 0, 4) ; x.diagonal() ; x.diagonal(1) ; x.diagonal(offset=-1) ;
        x.diagonal(dim1=0, dim2=1) ; m.diagonal(z, 0, 2, 3) ; m.diagonal(z, dim1=-2, dim2=-1) ;
        x.diag() ; v.diag() ; m.diag(v, 1) ; m.diag_embed(x) ; m.diag_embed(x, offset=1) ;
        m.diagflat(v) ; x.unfold(0, 3, 1) ; x.unfold(1, 2, 2) ; x.unfold(-1, 3, 1) ;
        x.as_strided((3, 3), (10, 1)) ; x.trace() ; x.tril() ; x.triu(1) ; x.tril(-1) ;
        x.tril(diagonal=1) ; m.triu(x, diagonal=1) ; m.tril_indices(4, 4) ;
        m.triu_indices(4, 4, 1) ; m.ones(5, 5).tril() ; m.full((5, 5), float('-inf')).triu(1)
    """,
    "turned": """
        x.flip(0) ; x.flip(-1) ; x.flip((0, 1)) ; x.flip([1]) ; x.flip(dims=(0,)) ;
        m.flip(x, dims=[0, 1]) ; m.fliplr(x) ; m.flipud(x) ; x.roll(1) ; x.roll(1, 0) ;
        x.roll(shifts=1, dims=-1) ; x.roll((1, 2), (0, 1)) ; m.roll(x, [1, 2], [0, 1]) ;
        m.rot90(x) ; m.rot90(x, 1, (0, 1)) ; m.rot90(x, k=2, dims=[0, 1]) ;
        m.meshgrid(v, v, indexing='ij') ; m.meshgrid([v, v], indexing='xy') ;
        m.cartesian_prod(v, v) ; m.combinations(v) ; m.kron(v, v) ; m.kron(x, e) ;
        m.atleast_2d(v) ; m.atleast_1d(s) ; m.atleast_3d(x) ; m.broadcast_tensors(x, v) ;
        m.broadcast_shapes((10, 1), (1, 10)) ; m.tensordot(x, y, 1) ;
        m.tensordot(x, y, dims=([1], [0])) ; m.tensordot(x, y, dims=2)
    """,
    "by position": """
        x.gather(1, kk) ; x.gather(dim=-1, index=kk) ; m.gather(x, dim=1, index=kk) ;
        x.scatter(1, kk, 1.0) ; x.scatter(1, kk, y) ; x.scatter(dim=-1, index=kk, src=y) ;
        x.scatter(1, kk, value=2.0) ; x.scatter_add(-1, kk, y) ;
        x.scatter_add(dim=1, index=kk, src=y) ; x.scatter_(1, kk, 1.0) ; x.scatter_add_(1, kk, y) ;
        x.scatter_reduce(1, kk, y, 'sum') ; x.scatter_reduce(1, kk, y, reduce='amax') ;
        x.scatter_reduce(1, kk, y, 'mean', include_self=False) ;
        m.zeros(10, 10).scatter_(1, kk, 1) ; x.index_select(0, i) ; x.index_select(-1, i) ;
        x.index_select(dim=1, index=i) ; x.index_add(0, i, y[:3]) ; x.index_add_(0, i, y[:3]) ;
        x.index_add(0, i, y[:3], alpha=2) ; x.index_copy(0, i, y[:3]) ; x.index_fill(0, i, 1.0) ;
        x.index_fill(-1, i, 0) ; x.index_put((i,), v) ; x.index_put_((i, i), m1) ; x.take(i) ;
        m.take(x, i) ; m.take_along_dim(x, kk, dim=-1) ; m.take_along_dim(x, kk, 1) ;
        x.masked_fill(mask, 0.0) ; x.masked_fill(mask, float('-inf')) ; x.masked_fill(mask, s) ;
        x.masked_fill(mask == 0, -1e9) ; x.masked_select(mask) ; m.masked_select(x, mask) ;
        x.masked_scatter(mask, y) ; x.nonzero() ; mask.nonzero() ; m.nonzero(mask, as_tuple=True) ;
        m.argwhere(mask) ; m.where(mask) ; m.where(mask, 1.0, 0.0) ; m.where(mask, x, s) ;
        m.where(x > 0, x, x.new_zeros(())) ; x.where(mask, y) ; x.where(mask, 0.0)
    """,
    "subscripts": """
        x[0] ; x[-1] ; x[0, 0] ; x[0][0] ; x[:, 0] ; x[:, -1] ; x[0, :] ; x[1:] ; x[:-1] ;
        x[:, 1:] ; x[:, :-1] ; x[::2, ::2] ; x[1:5, 2] ; x[..., :3] ; x[..., 1] ; x[..., -1] ;
        x[[0, 1]] ; x[:, [0, 1]] ; x[[0, 1], [1, 2]] ; x[(0, 1)] ; x[[0]] ; x[[True] * 10] ; x[i] ;
        x[i, :] ; x[:, i] ; x[..., i] ; x[i][:, i] ; x[i, 0] ; x[0, i] ; x[i, i] ;
        x[i[:, None], i] ; x[i, None] ; x[mask] ; x[vm] ; x[vm, 0] ; x[:, vm] ; x[vm, :] ;
        x[x > 0] ; x[mask, ...] ; z[:, 0] ; z[0, 1] ; z[:, :, 1:, :-1] ; z[..., 0, :] ; z[:, i1] ;
        z[:, i1, 0] ; z[i0, i1] ; z[0, :, i1] ; z[:, :, i1, i1] ; z[i0, :, i1] ; x[s0] ;
        x[s0, s0] ; x[n[0]] ; x[n] ; x[np0] ; x[np0[0]] ; x[range(3)] ; v[i] ; v[2] ; v[2:5] ;
        v[::2] ; v[[1, 2]] ; v[None] ; v[:, None] ; v[vm] ; v[n] ; x[m.arange(10), k] ;
        x[i.tolist()] ; x[:, None, :] ; x[None, None] ; x[True] ; x[i, 1:3] ; x[1:3, i] ;
        x[i.int()]
    """,
    "assigned": """
        x.__setitem__(0, 0) ; x.__setitem__(0, s) ; x.__setitem__(0, v) ;
        x.__setitem__((0, 0), 1) ; x.__setitem__((slice(None), 0), 0.0) ;
        x.__setitem__(slice(2, 5), 0) ; x.__setitem__(slice(2, 5), y[:3]) ;
        x.__setitem__((Ellipsis, 0), v) ; x.__setitem__(mask, 0) ; x.__setitem__(mask, s) ;
        x.__setitem__(vm, 0.0) ; x.__setitem__(i, 0) ; x.__setitem__(i, y[:3]) ;
        x.__setitem__((slice(None), i), 0.0) ; x.__setitem__((i, i), 1.0) ;
        x.__setitem__((i, 0), 2) ; x.__setitem__([0, 1], 0.0) ;
        x.__setitem__(([0, 1], [1, 2]), 0.0) ; x.__setitem__(s0, 0.0) ;
        x.__setitem__(slice(None), y) ; x.__setitem__(slice(None), 0) ;
        x.__setitem__(Ellipsis, 1.0) ; x.__setitem__((slice(1, 3), slice(2, 4)), 7) ;
        z.__setitem__((slice(None), 0), 0.0) ; z.__setitem__((0, slice(None), 0), 1.0) ;
        x.__setitem__((m.arange(10), k), 0.0) ; x.__setitem__(np0, 0.0)
    """,
    "operators": """
        x + 1.5 ; 1.5 + x ; x - 1 ; 1 - x ; x * 2.0 ; 2 * x ; x / 2 ; 1 / x ; x // 2 ; x % 2 ;
        x ** 2 ; x ** 0.5 ; 2 ** x ; x ** y ; x @ y ; -x ; +x ; abs(x) ; x > 0 ; x >= y ; x == 0 ;
        x != y ; x < 0.5 ; ~mask ; mask & mask ; mask | mask ; mask ^ mask ; n + 1 ; n * 2 ;
        n // 2 ; n % 3 ; n - n ; n / 2 ; n ** 2 ; n << 1 ; n >> 1 ; n & 3 ; n > 2 ; n == n ;
        n + 1.5 ; n * 0.5 ; x + s ; s + x ; s * 2 ; s + 1 ; s + s ; s > 0 ; -s ; x + n ; x * mask ;
        x + v ; x * v[:, None] ; z + 1 ; z * z ; z + c ; d + 1 ; d * d ; d + x ; b + 1 ; b * b ;
        b + b ; b * 2.0 ; b + x ; h + 1 ; h * h ; mask + 1 ; mask * 2.0 ; mask == 0 ;
        mask.logical_not() ; k == 1 ; (k == 1).sum() ; (x > 0).sum() ; (x > 0).float().mean() ;
        (k == k).float().mean() ; round(x) ; divmod(n, 2)
    """,
    "functions": """
        m.add(x, y) ; m.add(x, y, alpha=2) ; m.add(x, 1) ; x.add(1) ; x.add(y, alpha=0.5) ;
        x.sub(1, alpha=2) ; m.mul(x, 2) ; x.div(y, rounding_mode='floor') ;
        x.div(2, rounding_mode='trunc') ; m.div(n, 2, rounding_mode='floor') ;
        m.true_divide(x, 2) ; m.floor_divide(n, 2) ; m.remainder(n, 3) ; m.fmod(x, 0.3) ;
        m.pow(x, 2) ; m.pow(2, x) ; m.pow(x, y) ; x.pow(0.5) ; m.square(x) ; m.float_power(x, 2) ;
        m.rsub(x, 1) ; m.subtract(x, y) ; m.multiply(x, y) ; m.divide(x, y) ; m.clamp(x, min=0) ;
        m.clamp(x, max=1) ; m.clamp(x, min=0, max=1) ; x.clamp(0, 1) ; x.clamp(min=1e-6) ;
        x.clamp_min(0) ; x.clamp_max(1.0) ; m.clip(x, 0, 1) ; x.clamp(y, y) ; m.clamp(n, 0, 3) ;
        x.lerp(y, 0.5) ; m.lerp(x, y, x) ; m.addcmul(x, y, y) ; m.addcmul(x, y, y, value=0.5) ;
        m.addcdiv(x, y, p) ; m.addcdiv(x, y, p, value=0.1) ; m.round(x) ; m.round(x, decimals=2) ;
        x.round(decimals=1) ; m.nan_to_num(x) ; m.nan_to_num(x, nan=0.0, posinf=1.0) ; m.isnan(x) ;
        m.isinf(x) ; m.isfinite(x) ; x.isnan().any() ; m.sign(x) ; m.sgn(x) ;
        m.logit(p, eps=1e-6) ; m.logit(p) ; m.hypot(x, y) ; m.atan2(x, y) ; m.copysign(x, -1.0) ;
        m.ldexp(x, n) ; m.frexp(x) ; m.heaviside(x, s) ; m.logaddexp(x, y) ; m.xlogy(x, p) ;
        m.gcd(n, n) ; m.bitwise_and(n, 3) ; m.logical_and(mask, mask) ; m.logical_or(x, y) ;
        m.eq(x, y) ; m.eq(x, 0) ; m.ne(x, 0) ; x.eq(0) ; x.gt(0.5) ; x.le(y) ;
        m.isclose(x, y, rtol=1e-3) ; m.allclose(x, y, atol=1e-3) ; m.equal(x, x) ;
        m.maximum(x, y) ; m.fmax(x, y) ; m.exp(x) ; x.exp() ; x.log() ; x.sqrt() ; x.rsqrt() ;
        x.sin() ; x.tanh() ; x.sigmoid() ; x.relu() ; x.softmax(-1) ; x.softmax(dim=1) ;
        m.softmax(x, dim=-1) ; m.softmax(x, 1, dtype=m.float64) ; x.log_softmax(-1) ;
        m.log_softmax(x, dim=1) ; x.abs() ; x.neg() ; x.floor() ; x.ceil() ; x.trunc() ; x.frac() ;
        x.reciprocal() ; x.erf() ; n.abs() ; n.neg() ; d.exp() ; b.exp() ; b.softmax(-1) ;
        b.sum() ; b.mean(-1) ; b.relu() ; h.exp() ; d.sum(0) ; d.softmax(1) ; n.float() ;
        n.double() ; x.int() ; x.long() ; x.bool() ; x.half() ; x.bfloat16() ; b.float() ;
        h.float() ; d.float() ; x.to(m.int64) ; x.to(dtype=m.float64) ; x.to(n) ;
        x.to('cpu', m.float64) ; x.to(device='cpu') ; x.to(x.device) ;
        x.to('cpu', non_blocking=True) ; x.type_as(d) ; x.type(m.float64) ; x.cpu() ;
        x.to(m.float32) ; x.float() ; x.contiguous() ; x.t().contiguous() ; x.clone() ;
        x.detach().clone() ; x.detach() ; x.clone().detach()
    """,
    "products": """
        x.matmul(y) ; m.mm(x, y) ; x.mm(y) ; x.mv(v) ; x @ x.T ; x.T @ x ; z @ z ;
        z.matmul(z.transpose(-1, -2)) ; z @ w8 ; q.bmm(q.transpose(1, 2)) ; m.bmm(q, q) ;
        m.baddbmm(q, q, q) ; m.baddbmm(q, q, q, beta=0.5, alpha=2) ; m.addmm(v, x, y) ;
        m.addmm(x, x, y, beta=1, alpha=2) ; m.addmv(v, x, v) ; m.addr(x, v, v) ;
        m.addbmm(q[0], q, q) ; m.outer(v, v) ; m.ger(v, v) ; v.dot(v) ; m.inner(v, v) ;
        m.inner(x, y) ; m.vdot(v, v) ; m.linalg.vecdot(x, y) ; m.linalg.multi_dot([x, y, x]) ;
        m.chain_matmul(x, y, x) ; m.linalg.matrix_power(x, 3) ; m.matrix_power(x, 2) ;
        m.einsum('ij,ij->i', x, y) ; m.einsum('ij->ji', x) ; m.einsum('ij->', x) ;
        m.einsum('i,j->ij', v, v) ; m.einsum('bhqd,bhkd->bhqk', z, z) ;
        m.einsum('...ij,...jk', z, z) ; m.einsum('ij,j', x, v) ; m.einsum('ii->i', x) ;
        m.cross(t3, t3) ; m.cross(t3, t3, dim=-1) ; m.linalg.cross(t3, t3) ; m.cdist(x, y) ;
        m.cdist(x, y, p=1) ; m.cdist(x, y, 1.0) ; m.cdist(q, q) ; m.cdist(x[:, :2], y[:, :2]) ;
        m.dist(x, y) ; m.dist(x, y, 1) ; F.pairwise_distance(x, y) ; F.pdist(x) ;
        F.cosine_similarity(x, y, dim=-1) ; d @ d ; b @ b ; n @ n ; m.linalg.det(x) ;
        m.linalg.inv(x) ; m.inverse(x) ; m.det(x) ; m.linalg.solve(x, v) ; m.linalg.cholesky(spd) ;
        m.linalg.qr(x) ; m.linalg.svd(x) ; m.linalg.eigh(spd) ; m.linalg.svdvals(x) ;
        m.linalg.slogdet(x) ; m.logdet(spd) ; m.linalg.lstsq(x, y) ; m.linalg.matrix_rank(x) ;
        m.linalg.pinv(x) ; m.trace(x)
    """,
    "created": """
        m.zeros(3) ; m.zeros([3, 4]) ; m.zeros((3, 4), dtype=m.int64) ;
        m.zeros(3, 4, dtype=m.float64) ; m.zeros(3, 4, device='cpu') ; m.zeros(size=(3, 4)) ;
        m.zeros(()) ; m.zeros(x.shape) ; m.zeros(x.size(0), 5) ; m.zeros(3, requires_grad=True) ;
        m.ones((3, 4)) ; m.ones(3, dtype=m.bool) ; m.ones([3]) ;
        m.ones(x.shape, dtype=x.dtype, device=x.device) ; m.empty(3) ;
        m.empty((3, 4), dtype=m.int32) ; m.full((3, 4), 0) ; m.full([3], 1.5) ;
        m.full((3,), 1, dtype=m.float32) ; m.full((), 2.0) ; m.full(size=(3,), fill_value=0.5) ;
        m.full_like(x, 0) ; m.full_like(x, 1, dtype=m.int64) ; m.zeros_like(x, dtype=m.int64) ;
        m.ones_like(x, dtype=m.bool) ; m.zeros_like(n) ; m.ones_like(mask) ;
        m.empty_like(x, dtype=m.float64) ; m.rand_like(x) ; m.randn_like(d) ;
        m.randint_like(n, 10) ; m.zeros_like(x, device='cpu') ; x.new_zeros(3, 4) ;
        x.new_zeros((3, 4)) ; x.new_zeros([3]) ; x.new_ones(3) ; x.new_full((3,), 2.0) ;
        x.new_empty(3) ; x.new_tensor(1.0) ; x.new_tensor([1, 2]) ; x.new_zeros(3, dtype=m.int64) ;
        m.arange(5) ; m.arange(5.0) ; m.arange(1, 5) ; m.arange(0, 10, 2) ;
        m.arange(5, dtype=m.float32) ; m.arange(0, 5, device='cpu') ; m.arange(start=0, end=5) ;
        m.arange(end=5) ; m.arange(0, 1, 0.25, dtype=m.float64) ; m.arange(5, 0, -1) ;
        m.range(0, 4) ; m.range(0, 1, 0.25) ; m.linspace(0, 1, 5) ; m.linspace(0, 1, steps=5) ;
        m.linspace(start=0.0, end=1.0, steps=5, dtype=m.float64) ; m.logspace(0, 1, 5) ; m.eye(3) ;
        m.eye(3, 4) ; m.eye(3, dtype=m.bool) ; m.eye(3, device='cpu') ; m.rand(3) ;
        m.rand((3, 4)) ; m.rand([3, 4]) ; m.rand(3, dtype=m.float64) ; m.randn(3, 4) ;
        m.randn((3,)) ; m.randn(3, dtype=m.float64) ; m.randn(size=(3, 4)) ;
        m.rand(3, generator=g0) ; m.randn(3, generator=g0) ; m.randint(10, (3,)) ;
        m.randint(0, 10, (3,)) ; m.randint(0, 10, [3]) ; m.randint(high=10, size=(3,)) ;
        m.randint(0, 10, size=(3, 4), dtype=m.int32) ; m.randint(5, (3,), generator=g0) ;
        m.randperm(5) ; m.randperm(5, generator=g0) ; m.normal(0.0, 1.0, size=(3,)) ;
        m.normal(x, p) ; m.normal(x) ; m.normal(x, 1.0) ; m.normal(0.0, p) ;
        m.normal(mean=0.0, std=1.0, size=(3, 4)) ; m.bernoulli(p) ; p.bernoulli() ;
        m.bernoulli(p, 0.5) ; m.bernoulli(x, p=0.5) ; x.bernoulli_() ; x.bernoulli_(0.3) ;
        x.bernoulli_(p) ; m.bernoulli(p, generator=g0) ; m.multinomial(p, 2) ;
        m.multinomial(p[0], 3) ; m.multinomial(p[0], 3, replacement=True) ;
        m.multinomial(p[0], num_samples=1) ; p.multinomial(1) ; m.poisson(p) ; x.uniform_() ;
        x.uniform_(-1, 1) ; x.uniform_(a=-1, b=1) ; x.normal_() ; x.normal_(0, 0.02) ;
        x.normal_(mean=0.0, std=0.02) ; x.exponential_() ; x.random_(0, 5) ; n.random_(5) ;
        x.geometric_(0.5) ; x.cauchy_() ; x.log_normal_()
    """,
    "from data": """
        m.tensor(3) ; m.tensor(3.5) ; m.tensor(True) ; m.tensor([1, 2, 3]) ; m.tensor([1.0, 2.0]) ;
        m.tensor([[1, 2], [3, 4]]) ; m.tensor([True, False]) ; m.tensor((1, 2)) ;
        m.tensor([1, 2], dtype=m.float32) ; m.tensor([1.0, 2.0], dtype=m.float64) ;
        m.tensor([1.0], requires_grad=True) ; m.tensor(a) ; m.tensor(a, dtype=m.float32) ;
        m.tensor([s, s]) ; m.tensor([]) ; m.tensor(3, device='cpu') ; m.tensor(x) ;
        m.as_tensor([1, 2]) ; m.as_tensor(x) ; m.as_tensor(a, dtype=m.float32) ; m.as_tensor(3.0) ;
        m.asarray([1.0, 2.0]) ; m.from_numpy(a) ; m.tensor(range(5)) ;
        m.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=m.float32) ; m.scalar_tensor(2.0) ;
        m.Tensor([1.0, 2.0]) ; m.Tensor(3, 4) ; m.FloatTensor([1.0]) ; m.LongTensor([1, 2]) ;
        m.complex(x, y) ; m.polar(x, y)
    """,
    "counted": """
        F.one_hot(i) ; F.one_hot(i, 10) ; F.one_hot(i, num_classes=10) ; F.one_hot(k, 2).float() ;
        F.one_hot(n[:2], 20) ; m.isin(n, i) ; m.isin(i, 5) ; m.bincount(i) ;
        m.bincount(i, minlength=10) ; m.bincount(i, weights=v[:3]) ; m.histc(x, 10) ;
        m.histc(x, bins=5, min=0, max=1) ; m.unique(n) ; m.unique(n, return_counts=True) ;
        m.unique(n, return_inverse=True) ; n.unique() ; m.unique(x, dim=0) ;
        m.unique_consecutive(n) ; m.searchsorted(vs, v) ; m.searchsorted(vs, 0.5) ;
        m.searchsorted(vs, v, right=True) ; m.bucketize(x, vs) ; m.bucketize(x, vs, right=True) ;
        m.bucketize(0.5, vs) ; m.renorm(x, 2, 0, 1.0) ; x.renorm(p=2, dim=0, maxnorm=1.0) ;
        x.renorm_(2, 0, 1.0) ; m.segment_reduce(x, 'sum', lengths=L) ;
        m.segment_reduce(x, 'mean', lengths=L) ; m.segment_reduce(x, 'max', lengths=L, axis=0) ;
        m.segment_reduce(v, 'min', lengths=L) ; m.segment_reduce(v, 'prod', lengths=L) ;
        m.segment_reduce(v, 'sum', offsets=L0) ;
        m.segment_reduce(v, 'sum', lengths=L, unsafe=True) ; m.bucketize(v, vs, out_int32=True) ;
        m.cov(x) ; m.corrcoef(x) ; m.vander(v) ; m.logspace(0, 2, 3) ; m.nansum(x) ; m.nanmean(x) ;
        m.nanmean(x, dim=1) ; m.clone(x) ; m.numel(x) ; m.is_floating_point(x) ; m.is_complex(x) ;
        m.result_type(x, n) ; m.promote_types(m.float32, m.int64) ;
        m.can_cast(m.int32, m.float32) ; m.is_tensor(x) ; m.finfo(m.float32).eps ;
        m.get_default_dtype() ; m.is_nonzero(s) ; m.count_nonzero(mask) ; m.tril_indices(3, 3)
    """,
    "in place": """
        x.add_(1) ; x.add_(y, alpha=0.1) ; x.mul_(0.9).add_(y, alpha=0.1) ; x.sub_(0.1) ;
        x.div_(2) ; x.mul_(y) ; x.pow_(2) ; x.clamp_(min=0) ; x.clamp_(-1, 1) ; x.clamp_min_(0) ;
        x.exp_() ; x.sigmoid_() ; x.tanh_() ; x.relu_() ; x.abs_() ; x.neg_() ; x.sqrt_() ;
        x.zero_() ; x.fill_(0) ; x.fill_(s) ; x.fill_(1.5) ; x.copy_(y) ; x.copy_(n) ; x.copy_(v) ;
        x.copy_(s) ; x.lerp_(y, 0.1) ; x.addcmul_(y, y) ; x.addcdiv_(y, p, value=-0.1) ;
        x.masked_fill_(mask, 0) ; x.masked_fill_(mask, -1e9) ; x.masked_scatter_(mask, y) ;
        x.index_fill_(0, i, 0.0) ; x.index_copy_(0, i, y[:3]) ; x.t_() ;
        x.unsqueeze_(0).squeeze_(0) ; x.transpose_(0, 1) ; x.fill_diagonal_(0) ; x.round_() ;
        x.floor_() ; n.add_(1) ; n.mul_(2) ; n.zero_() ; n.fill_(3) ; mask.zero_() ;
        mask.logical_not_() ; mask.fill_(True) ; m.nn.init.zeros_(x) ;
        m.nn.init.xavier_uniform_(x) ; m.nn.init.kaiming_uniform_(x) ;
        m.nn.init.normal_(x, std=0.02) ; m.nn.init.constant_(x, 1.0) ; m.nn.init.trunc_normal_(x)
    """,
    "out=": """
        m.add(x, y, out=ox) ; m.mul(x, 2, out=ox) ; m.exp(x, out=ox) ; m.matmul(x, y, out=ox) ;
        m.mm(x, y, out=ox) ; m.cat([x[:5], y[:5]], out=ox) ; m.stack([v] * 10, out=ox) ;
        m.sum(x, 1, out=ov) ; m.mean(x, 0, out=ov) ; m.max(x, y, out=ox) ;
        m.clamp(x, 0, 1, out=ox) ; m.where(mask, x, y, out=ox) ; m.index_select(x, 0, k, out=ox) ;
        m.arange(10, out=on) ; m.zeros(10, 10, out=ox) ; m.rand(10, 10, out=ox) ;
        m.cumsum(x, 0, out=ox) ; m.sort(x, out=(ox, oi)) ; m.tanh(x, out=ox) ; m.abs(x, out=ox) ;
        m.gather(x, 1, kk, out=og) ; m.eq(x, y, out=om) ; m.gt(x, 0, out=om) ;
        m.addmm(v, x, y, out=ox) ; m.normal(0.0, 1.0, (10, 10), out=ox) ; m.sigmoid(x, out=ox) ;
        m.pow(x, 2, out=ox) ; m.div(x, y, out=ox) ; m.sub(x, y, out=ox) ; m.sqrt(x, out=ox) ;
        m.bitwise_and(n, n, out=on2) ; m.logical_and(mask, mask, out=om)
    """,
    "activations and norms": """
        F.linear(x, y, bias=v) ; F.linear(z, w8) ; F.linear(v, x) ; F.relu(x, inplace=True) ;
        F.relu(z) ; F.gelu(x, approximate='tanh') ; F.silu(x) ; F.mish(x) ; F.elu(x) ;
        F.elu(x, 0.5) ; F.selu(x) ; F.leaky_relu(x, 0.1) ; F.leaky_relu(x, negative_slope=0.2) ;
        F.softplus(x) ; F.softplus(x, beta=2) ; F.hardtanh(x) ; F.hardtanh(x, 0, 1) ; F.relu6(x) ;
        F.hardswish(x) ; F.hardsigmoid(x) ; F.prelu(x, s1) ; F.glu(x) ; F.glu(x, dim=0) ;
        F.softmin(x, 1) ; F.softsign(x) ; F.tanhshrink(x) ; F.logsigmoid(x) ;
        F.threshold(x, 0.1, 0.0) ; F.celu(x) ; F.rrelu(x) ; F.softshrink(x) ; F.hardshrink(x) ;
        F.gumbel_softmax(x) ; F.softmax(x, dim=1) ; F.softmax(z, dim=1) ; F.log_softmax(z, dim=1) ;
        F.dropout(x, p=0.1, training=True) ; F.dropout(x, training=False) ; F.dropout2d(z, 0.5) ;
        F.alpha_dropout(x, 0.5, True) ; F.layer_norm(z, (8,)) ;
        F.layer_norm(z, [8], w8[0], w8[1], 1e-6) ; F.layer_norm(x, x.shape[1:]) ;
        F.group_norm(z, 2) ; F.instance_norm(z) ; F.rms_norm(x, (10,)) ; F.rms_norm(x, [10], v) ;
        F.batch_norm(z, c4, c4.abs(), training=False) ;
        F.batch_norm(z, None, None, training=True) ; F.local_response_norm(z, 2) ;
        F.normalize(x, dim=-1) ; F.normalize(x, p=1.0, dim=0)
    """,
    "losses": """
        F.mse_loss(x, y, reduction='sum') ; F.mse_loss(x, y, reduction='none') ; F.l1_loss(x, y) ;
        F.smooth_l1_loss(x, y, beta=0.5) ; F.huber_loss(x, y) ; F.huber_loss(x, y, delta=0.5) ;
        F.cross_entropy(x, k) ; F.cross_entropy(x, k, reduction='sum') ;
        F.cross_entropy(x, k, reduction='none') ; F.cross_entropy(x, k, label_smoothing=0.1) ;
        F.cross_entropy(x, k, weight=v.abs()) ; F.cross_entropy(x, k, ignore_index=0) ;
        F.cross_entropy(x, p) ; F.cross_entropy(z, k4) ; F.nll_loss(x, k) ;
        F.nll_loss(x, k, reduction='none') ; F.nll_loss(x, k, weight=v) ;
        F.binary_cross_entropy(u, u) ; F.binary_cross_entropy(u, u, reduction='sum') ;
        F.binary_cross_entropy_with_logits(x, p, reduction='none') ;
        F.binary_cross_entropy_with_logits(x, u, pos_weight=v.abs()) ;
        F.kl_div(x, p, reduction='batchmean') ; F.kl_div(x, x, log_target=True) ;
        F.cosine_embedding_loss(x, y, t1) ; F.margin_ranking_loss(v, v, t1) ;
        F.triplet_margin_loss(x, y, x) ; F.hinge_embedding_loss(x, t1) ;
        F.soft_margin_loss(x, t1) ; F.multi_margin_loss(x, k) ; F.poisson_nll_loss(x, p) ;
        F.gaussian_nll_loss(x, y, p) ; F.multilabel_soft_margin_loss(x, mask.float()) ;
        F.ctc_loss(lp, tg, il, tl)
    """,
    "windows": """
        F.embedding(n, x) ; F.embedding(k, x, padding_idx=0) ; F.embedding(i, x, None) ;
        F.embedding_bag(n, x) ; F.embedding_bag(i, x, L0e) ; F.pad(x, (1, 2, 0, 1)) ;
        F.pad(x, [1, 1], value=1.0) ; F.pad(x, (1, 1), 'constant', 0) ;
        F.pad(z, (1, 1, 1, 1), mode='reflect') ; F.pad(z, (1, 1, 1, 1), mode='replicate') ;
        F.pad(z, (1, 1, 1, 1), 'circular') ; F.pad(v, (0, 3)) ; F.pad(x, (0, -1)) ;
        F.conv2d(z, wz) ; F.conv2d(z, wz, c4) ; F.conv2d(z, wz, bias=None, stride=2, padding=1) ;
        F.conv2d(z, wz, padding='same') ; F.conv2d(z, wz, stride=(1, 2), padding=[1, 0]) ;
        F.conv2d(z, wg, groups=4) ; F.conv2d(z, wz, dilation=2) ; F.conv1d(q, wq) ;
        F.conv1d(q, wq, padding=1) ; F.conv_transpose2d(z, wz) ;
        F.conv_transpose2d(z, wz, stride=2, padding=1, output_padding=1) ; F.conv3d(z5, w5) ;
        F.max_pool2d(z, 2) ; F.max_pool2d(z, (2, 2), stride=(2, 2)) ;
        F.max_pool2d(z, kernel_size=3, stride=2, padding=1) ;
        F.max_pool2d(z, 2, return_indices=True) ; F.avg_pool2d(z, 2) ;
        F.avg_pool2d(z, [2, 2], stride=1) ; F.max_pool1d(q, 2) ; F.avg_pool1d(q, 2) ;
        F.adaptive_avg_pool2d(z, 1) ; F.adaptive_avg_pool2d(z, (1, 1)) ;
        F.adaptive_avg_pool2d(z, (2, None)) ; F.adaptive_max_pool2d(z, 2) ; F.lp_pool2d(z, 2, 2) ;
        F.interpolate(z, scale_factor=2) ; F.interpolate(z, size=(16, 16), mode='bilinear') ;
        F.interpolate(z, size=4, mode='nearest') ;
        F.interpolate(z, scale_factor=2, mode='bicubic') ;
        F.interpolate(z, scale_factor=(2, 2), mode='bilinear', align_corners=True) ;
        F.upsample(z, scale_factor=2) ; F.unfold(z, 3) ; F.unfold(z, (2, 2), stride=2) ;
        F.fold(uf, (8, 8), 2, stride=2) ; F.pixel_shuffle(z, 2) ; F.pixel_unshuffle(z, 2) ;
        F.channel_shuffle(z, 2) ; F.grid_sample(z, gr) ; F.affine_grid(th, (2, 4, 8, 8)) ;
        F.scaled_dot_product_attention(z, z, z) ;
        F.scaled_dot_product_attention(z, z, z, is_causal=True) ;
        F.scaled_dot_product_attention(z, z, z, attn_mask=mz) ;
        F.scaled_dot_product_attention(q, q, q, dropout_p=0.0) ; F.bilinear(x, y, wb)
    """,
    "attributes": """
        x.requires_grad_(False) ; x.is_contiguous() ; x.size(-1) ; x.size(dim=0) ; x.shape[-1] ;
        x.stride(0) ; x.nelement() ; x.element_size() ; x.dim() ; x.ndimension() ; x.tolist() ;
        v.tolist() ; s.tolist() ; s.item() ; n[0, 0].item() ; x[0, 0].item() ; float(x[0, 0]) ;
        int(n[0, 0]) ; bool(mask[0, 0]) ; len(x) ; x.data_ptr() ; x.storage_offset() ;
        x.is_floating_point() ; x.numpy() ; x.detach().numpy() ; x.detach().cpu().numpy() ;
        x.__array__() ; np.asarray(x) ; str(v) ; repr(s) ; f'{s:.3f}' ; x.equal(y) ;
        x.device.type ; x.layout ; x.is_cuda ; x.names ; x.type() ; x.dtype.is_floating_point ;
        x.get_device() ; x.is_sparse ; x.is_complex() ; x.real ; x.nbytes ; x.itemsize ; x.H ;
        x.grad_fn ; x._version ; x.retains_grad ; x.view_as(y) ; x.reshape_as(y) ;
        x.new_zeros(x.shape) ; m.Size((1, 2)) ; x.shape == y.shape ; tuple(x.shape) ;
        list(x.shape) ; x.shape[:-1] ; x.shape + (1,) ; x.shape.numel() ;
        m.set_grad_enabled(True)
    """,
}


def _tensors(m: Any) -> dict[str, Any]:
    rng = np.random.default_rng(0)

    def floats(*shape: int) -> Any:
        return m.from_numpy(rng.random(shape, dtype=np.float32) - np.float32(0.5))

    def below(n: int, *shape: int) -> Any:
        return m.from_numpy(rng.integers(0, n, shape))

    return {
        "x": floats(10, 10), "y": floats(10, 10), "v": floats(10), "z": floats(2, 4, 8, 8),
        "c": floats(4, 1, 1), "q": floats(2, 6, 6), "o": floats(1, 10, 1), "e": floats(2, 2),
        "p": floats(10, 10) + 0.5, "u": floats(10, 10) * 0.9 + 0.5, "d": floats(10, 10).double(),
        "b": floats(10, 10).bfloat16(), "h": floats(10, 10).half(), "w8": floats(8, 8),
        "t3": floats(10, 3), "c4": floats(4), "wz": floats(4, 4, 3, 3), "wg": floats(4, 1, 3, 3),
        "wq": floats(3, 6, 3), "z5": floats(1, 2, 4, 4, 4), "w5": floats(2, 2, 2, 2, 2),
        "uf": floats(2, 16, 16), "gr": floats(2, 4, 4, 2), "th": floats(2, 2, 3),
        "wb": floats(3, 10, 10), "lp": m.log_softmax(floats(12, 2, 5), -1),
        "kk": below(10, 10, 3), "n": below(10, 10, 10), "r": below(3, 10),
        "k4": below(4, 2, 8, 8), "a": rng.random((3, 3)),
    }


def names(m: Any) -> dict[str, Any]:
    """What the expressions use of a library."""
    given = _tensors(m)
    x, v = given["x"], given["v"]
    return given | {
        "m": m, "F": m.nn.functional, "np": np, "np0": np.array([0, 2]), "mask": x > 0,
        "vm": v > 0, "i": m.tensor([1, 5, 7]), "i0": m.tensor([0, 1]), "i1": m.tensor([1, 3]),
        "s": m.tensor(1.5), "s0": m.tensor(3), "s1": m.tensor([0.25]), "k": m.tensor([1, 0] * 5),
        "m1": m.tensor([1.0, 2.0, 3.0]), "tq": m.tensor([0.25, 0.75]), "vs": m.sort(v)[0],
        "L": m.tensor([3, 0, 7]), "L0": m.tensor([0, 3, 3, 10]), "L0e": m.tensor([0, 2]),
        "ox": m.empty(10, 10), "ov": m.empty(10), "on": m.empty(10, dtype=m.int64),
        "on2": m.empty(10, 10, dtype=m.int64), "oi": m.empty(10, 10, dtype=m.int64),
        "og": m.empty(10, 3), "om": m.empty(10, 10, dtype=m.bool), "t1": m.sign(v),
        "mz": m.ones(8, 8).tril().bool(), "spd": x @ x.T + m.eye(10),
        "tg": m.tensor([[1, 2, 3], [1, 2, 2]]), "il": m.tensor([12, 12]), "tl": m.tensor([3, 2]),
        "g0": m.Generator(),
    }


def _maker(text: str) -> Callable[[Any], Call]:
    def make(m: Any) -> Call:
        call: Call = eval(f"lambda: {text}", names(m))
        call()
        return call

    return make


CASES: dict[str, Callable[[Any], Call]] = {
    f"{group}: {text.strip()}": _maker(text.strip())
    for group, texts in FORMS.items()
    for text in texts.split(" ;")
}
