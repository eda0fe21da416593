"""The forms of instructions that Triton 3.6 and 3.9 emit for sm_80 and sm_90, of some two thousand
kernels, and more that are likely. Each is in a test of what it does."""

from __future__ import annotations

import re
from itertools import product

# `.{a,b}` stands for both modifiers.
EMITTED_PATTERNS = """
abs.{f32,f64,s16,s32,s64} abs.ftz.f32 add.{bf16,bf16x2,f16,f16x2,f32,f64,s16,s16x2,s32,s64,u32,u64}
add.cc.u32 add.{rn,rz}.f64 add.{rn,rz}.ftz.f32 addc.cc.u32 addc.u32 and.{b16,b32,b64,pred}
atom.{acq_rel,relaxed}.gpu.global.cas.b32 atom.global.{acq_rel,relaxed}.gpu.cas.{b16,b32,b64}
atom.global.gpu.{acq_rel,relaxed}.add.{f32,f64,u32,u64}
atom.global.gpu.{acq_rel,relaxed}.{and,exch,or,xor}.{b32,b64}
atom.global.gpu.{acq_rel,relaxed}.{max,min}.{s32,s64,u32,u64} atom.relaxed.sys.shared.add.u32
atom.global.gpu.{acq_rel,relaxed}.add.noftz.{bf16,f16} atom.global.gpu.relaxed.add.v4.f32
atom.shared.add.u32 bar.sync bar.warp.sync bfe.{s32,u32} bfind.shiftamt.u32 bra bra.uni
brev.{b32,b64} call.uni clz.{b32,b64} copysign.{f32,f64} cp.async.bulk.{commit_group,wait_group}
cp.async.bulk.tensor.2d.global.shared::cta.bulk_group
cp.async.bulk.tensor.2d.{shared::cluster,shared::cta}.global.mbarrier::complete_tx::bytes
cp.async.bulk.wait_group.read cp.async.{ca,cg}.shared.global cp.async.{commit_group,wait_group}
cvt.{bf16,f32,f64}.f16 cvt.{f32,f64}.bf16 cvt.f64.f32 cvt.{s16,s32,s64}.s8 cvt.{s32,s64}.s16
cvt.{s64,s8}.s32 cvt.{u16,u64}.u32 cvt.{u16,u32}.u64 cvt.{u32,u64}.u16 cvt.ftz.sat.f32.f32
cvt.{rmi,rpi}.ftz.f32.f32 cvt.rn.satfinite.{e4m3x2,e5m2x2}.{f16x2,f32} cvt.rni.ftz.{s32,s64}.f32
cvt.{rmi,rpi}.f64.f64 cvt.rn.bf16.f16 cvt.rn.{bf16,bf16x2,f16,f16x2}.f32 cvt.rn.{bf16,f16,f32}.f64
cvt.rn.{bf16,f16,f32,f64}.{s16,s32,s64,u16,u32,u64} cvt.rn.f16.bf16 cvt.rn.f16x2.{e4m3x2,e5m2x2}
cvt.rn.f32.s8 cvt.rna.tf32.f32 cvt.rni.f32.f32 cvt.rni.{f64,s32,s64}.f64 cvt.rz.{f16,f16x2}.f32
cvt.rzi.{f32,s16,s32,s64,u16,u32,u64}.f32 cvt.rzi.{f64,s16,s32,s64,u16,u32,u64}.f64
cvt.rzi.{s16,s32,s64,u16,u32,u64}.{bf16,f16} cvta.{global,local,param}.u64
div.{approx,rn,rz}.ftz.f32 div.{full,rn}.f32 div.{rn,rz}.f64 div.{s16,s32,s64,u16,u32,u64}
elect.sync ex2.approx.f32 ex2.approx.ftz.f32 fence.acq_rel.gpu fence.proxy.async.shared::cta
fence.proxy.tensormap::generic.acquire.gpu fma.{rm,rn,rz}.ftz.f32
fma.rn.{bf16,bf16x2,f16,f16x2,f32,f64} ld.global.{b16,b32,b64,b8} ld.local.{b32,b64}
ld.param.{b32,b64,s32} ld.shared.{b16,b32,b64,b8,s32,s8} ld.global.{nc,v2}.{b32,b64}
ld.global.v4.b32 ld.shared.v2.{b16,b32,b64,b8} ld.shared.v4.{b16,b32} ld.global.nc.v2.b64
ld.relaxed.gpu.global.b32 ldmatrix.sync.aligned.m8n8.{x1,x4}.shared.b16
ldmatrix.sync.aligned.m8n8.{x2,x4}.trans.shared.b16 lg2.approx.ftz.f32 lop3.b32 mad.lo.cc.u32
mad.lo.{s16,s32,s64} mad.wide.{s32,u32} madc.{hi,lo}.cc.u32 madc.hi.u32 max.{NaN,ftz}.f32
max.{bf16,bf16x2,f16,f16x2,f32,f64,s16,s16x2,s32,s64,u16,u16x2,u32,u64}
mbarrier.arrive.expect_tx.{shared,shared::cta}.b64
mbarrier.try_wait.parity.{shared,shared::cta}.b64 mbarrier.{init,inval}.shared::cta.b64
min.{NaN,ftz}.f32 min.{bf16,bf16x2,f16,f16x2,f32,f64,s16,s16x2,s32,s64,u16,u16x2,u32,u64}
mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16
mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
mma.sync.aligned.{m16n8k16,m8n8k4}.row.col.f64.f64.f64.f64
mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32 mov.{b16,b32,b64,pred,u16,u32,u64}
mul.{f32,f64} mul.hi.{s32,s64,u32,u64} mul.lo.{s16,s32,s64,u32} mul.rn.{bf16x2,f64}
mul.wide.{s32,u32} mul.{rn,rz}.ftz.f32 neg.{f32,f64,s16,s32,s64} not.{b16,b32,b64,pred}
or.{b16,b32,b64,pred} popc.{b32,b64} prmt.b32 rcp.{approx,rn}.ftz.f32 rcp.approx.ftz.f64
rcp.rn.{f32,f64} red.global.gpu.relaxed.add.{f32,f64,u32,u64}
red.global.gpu.relaxed.{and,or,xor}.{b32,b64} red.global.gpu.relaxed.{max,min}.{s32,s64,u32,u64}
red.global.gpu.relaxed.add.noftz.{bf16,f16} red.global.gpu.relaxed.add.v4.f32
redux.sync.{add,max,min}.s32 redux.sync.{max,min}.u32 redux.sync.{or,xor}.b32 ret rsqrt.approx.f64
rsqrt.approx.ftz.{f32,f64} selp.{b16,b32,b64,f32,f64} set.nan.f16x2.f16x2
setp.{eq,ne}.{b16,b32,b64} setp.{eq,ge,gt,le,leu,lt}.{bf16,f16} setp.lt.f16x2
setp.{eq,equ,ge,geu,gt,gtu,le,leu,lt,ltu,nan,neu,num}.f32
setp.{eq,equ,ge,geu,gt,gtu,le,leu,lt,ltu,nan,ne,neu,num}.f64 setp.{ge,gt,le,lt}.s32
setp.{gt,le,lt}.{s16,s64,u16,u32,u64} shf.l.wrap.b32 shfl.sync.{bfly,idx,up}.b32 shl.{b16,b32,b64}
shr.{b32,s16,s32,s64,u16,u32,u64} sqrt.{approx,rn}.ftz.f32 sqrt.rn.f64 st.b32
st.{global,shared,shared::cta}.{b16,b8} st.{global,local,param,shared,shared::cta}.{b32,b64}
st.global.v2.{b32,b64} st.global.v4.b32 st.shared.v2.{b16,b32,b64,b8} st.shared.v4.{b16,b32}
stmatrix.sync.aligned.m8n8.{x1,x4}.shared.b16 sub.{bf16,bf16x2,f16,f16x2,f32,f64,s16,s32,s64,u32}
sub.cc.u32 sub.rn.f64 sub.rn.ftz.f32 subc.cc.u32 subc.u32
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
tensormap.replace.tile.{box_dim,element_stride,elemtype,fill_mode}.shared::cta.b1024.b32
tensormap.replace.tile.{global_dim,interleave_layout,rank,swizzle_mode}.shared::cta.b1024.b32
tensormap.replace.tile.{global_address,global_stride}.shared::cta.b1024.b64 trap
vote.sync.ballot.b32 wgmma.{commit_group,fence,wait_group}.sync.aligned
wgmma.mma_async.sync.aligned.{m64n128k16,m64n256k16,m64n32k16,m64n64k16,m64n8k16}.f32.bf16.bf16
wgmma.mma_async.sync.aligned.{m64n128k16,m64n64k16}.f32.f16.f16
wgmma.mma_async.sync.aligned.{m64n32k16,m64n64k16}.f16.f16.f16
wgmma.mma_async.sync.aligned.{m64n32k32,m64n64k32,m64n8k32}.f32.e4m3.e4m3
wgmma.mma_async.sync.aligned.{m64n32k32,m64n64k32}.f32.e5m2.e5m2
wgmma.mma_async.sync.aligned.{m64n32k32,m64n64k32}.s32.s8.s8
wgmma.mma_async.sync.aligned.{m64n32k8,m64n64k8,m64n8k8}.f32.tf32.tf32 xor.{b16,b32,b64,pred}
sqrt.rn.f32 mul.hi.u16 setp.ne.f32 mad.wide.u16 abs.bf16 sub.rz.ftz.f32 neg.bf16
setp.ge.{s64,s16,u64,u16,u32} setp.neu.f16 setp.nan.f16 stmatrix.sync.aligned.m8n8.x2.shared.b16
wgmma.mma_async.sync.aligned.{m64n256k8,m64n128k8}.f32.tf32.tf32
wgmma.mma_async.sync.aligned.m64n16k16.f32.{f16.f16,bf16.bf16}
"""
LIKELY_PATTERNS = """
abs.bf16x2 add.{rm,rp,sat}.f32 atom.global.relaxed.gpu.add.s32 atom.shared.relaxed.cta.max.u32
atom.global.relaxed.gpu.inc.u32 bfe.{s64,u64} bfi.b32 bfind.s32 cos.approx.f32
cp.async.cg.shared.global.L2::128B cvt.{rm,rz}.f32.f64 cvt.rp.f16.f32 cvt.rz.bf16.f32
cvt.rmi.f32.f32 cvt.rzi.ftz.s32.f32 cvt.rn.relu.bf16x2.f32 div.rm.f32 div.rp.f64 fma.rp.f32
fma.rn.sat.f32 ld.volatile.global.v2.b64 ld.acquire.gpu.global.b32
ld.global.L1::evict_first.L2::cache_hint.v4.b32 ld.global.s8 ld.shared.u16 max.NaN.bf16x2
min.NaN.f16 mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 mul.{hi,wide}.s16 mul.wide.u16 mul.{rm,rp}.f64
mul.rz.f32 mul.{f16,f16x2} neg.f16 red.shared.add.u32
red.global.relaxed.gpu.add.noftz.{bf16x2,f16x2} redux.sync.and.b32 rem.{s32,s64,u32,u64}
setp.neu.bf16x2 shf.r.{clamp,wrap}.b32 shfl.sync.down.b32 sin.approx.f32 sqrt.rz.f32 sqrt.rp.f64
st.global.L1::evict_last.v4.b32 st.release.gpu.global.b64 st.global.cs.b16
stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 sub.rz.f32 tanh.approx.f32
"""


def expanded(pattern: str) -> list[str]:
    parts = [part.split(",") for part in re.split(r"[{}]", pattern)]
    return ["".join(chosen) for chosen in product(*parts)]


EMITTED = [form for pattern in EMITTED_PATTERNS.split() for form in expanded(pattern)]
FORMS = EMITTED + [form for pattern in LIKELY_PATTERNS.split() for form in expanded(pattern)]


def forms_of(*starts: str) -> list[str]:
    """The forms of some opcodes, or that start otherwise so."""
    return [one for one in FORMS if f"{one}.".startswith(tuple(f"{start}." for start in starts))]
