"""The forms of instructions that Triton 3.6 and 3.9 emit for sm_80 and sm_90, of some two thousand
kernels, and more that are likely. Each is in a test of what it does."""

EMITTED_TABLE = """
abs .f32 .f64 .ftz.f32 .s16 .s32 .s64
add .bf16 .bf16x2 .cc.u32 .f16 .f16x2 .f32 .f64 .rn.f64 .rn.ftz.f32 .rz.f64 .rz.ftz.f32 .s16 .s16x2
add .s32 .s64 .u32 .u64
addc .cc.u32 .u32
and .b16 .b32 .b64 .pred
atom .acq_rel.gpu.global.cas.b32 .global.acq_rel.gpu.cas.b16 .global.acq_rel.gpu.cas.b32
atom .global.acq_rel.gpu.cas.b64 .global.gpu.acq_rel.add.f32 .global.gpu.acq_rel.add.f64
atom .global.gpu.acq_rel.add.noftz.bf16 .global.gpu.acq_rel.add.noftz.f16
atom .global.gpu.acq_rel.add.u32 .global.gpu.acq_rel.add.u64 .global.gpu.acq_rel.and.b32
atom .global.gpu.acq_rel.and.b64 .global.gpu.acq_rel.exch.b32 .global.gpu.acq_rel.exch.b64
atom .global.gpu.acq_rel.max.s32 .global.gpu.acq_rel.max.s64 .global.gpu.acq_rel.max.u32
atom .global.gpu.acq_rel.max.u64 .global.gpu.acq_rel.min.s32 .global.gpu.acq_rel.min.s64
atom .global.gpu.acq_rel.min.u32 .global.gpu.acq_rel.min.u64 .global.gpu.acq_rel.or.b32
atom .global.gpu.acq_rel.or.b64 .global.gpu.acq_rel.xor.b32 .global.gpu.acq_rel.xor.b64
atom .global.gpu.relaxed.add.f32 .global.gpu.relaxed.add.f64 .global.gpu.relaxed.add.noftz.bf16
atom .global.gpu.relaxed.add.noftz.f16 .global.gpu.relaxed.add.u32 .global.gpu.relaxed.add.u64
atom .global.gpu.relaxed.add.v4.f32 .global.gpu.relaxed.and.b32 .global.gpu.relaxed.and.b64
atom .global.gpu.relaxed.exch.b32 .global.gpu.relaxed.exch.b64 .global.gpu.relaxed.max.s32
atom .global.gpu.relaxed.max.s64 .global.gpu.relaxed.max.u32 .global.gpu.relaxed.max.u64
atom .global.gpu.relaxed.min.s32 .global.gpu.relaxed.min.s64 .global.gpu.relaxed.min.u32
atom .global.gpu.relaxed.min.u64 .global.gpu.relaxed.or.b32 .global.gpu.relaxed.or.b64
atom .global.gpu.relaxed.xor.b32 .global.gpu.relaxed.xor.b64 .global.relaxed.gpu.cas.b16
atom .global.relaxed.gpu.cas.b32 .global.relaxed.gpu.cas.b64 .relaxed.gpu.global.cas.b32
atom .relaxed.sys.shared.add.u32 .shared.add.u32
bar .sync .warp.sync
bfe .s32 .u32
bfind .shiftamt.u32
bra . .uni
brev .b32 .b64
call .uni
clz .b32 .b64
copysign .f32 .f64
cp .async.bulk.commit_group .async.bulk.tensor.2d.global.shared::cta.bulk_group
cp .async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
cp .async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes .async.bulk.wait_group
cp .async.bulk.wait_group.read .async.ca.shared.global .async.cg.shared.global .async.commit_group
cp .async.wait_group
cvt .bf16.f16 .f32.bf16 .f32.f16 .f64.bf16 .f64.f16 .f64.f32 .ftz.sat.f32.f32 .rmi.f64.f64
cvt .rmi.ftz.f32.f32 .rn.bf16.f16 .rn.bf16.f32 .rn.bf16.f64 .rn.bf16.s16 .rn.bf16.s32 .rn.bf16.s64
cvt .rn.bf16.u16 .rn.bf16.u32 .rn.bf16.u64 .rn.bf16x2.f32 .rn.f16.bf16 .rn.f16.f32 .rn.f16.f64
cvt .rn.f16.s16 .rn.f16.s32 .rn.f16.s64 .rn.f16.u16 .rn.f16.u32 .rn.f16.u64 .rn.f16x2.e4m3x2
cvt .rn.f16x2.e5m2x2 .rn.f16x2.f32 .rn.f32.f64 .rn.f32.s16 .rn.f32.s32 .rn.f32.s64 .rn.f32.s8
cvt .rn.f32.u16 .rn.f32.u32 .rn.f32.u64 .rn.f64.s16 .rn.f64.s32 .rn.f64.s64 .rn.f64.u16 .rn.f64.u32
cvt .rn.f64.u64 .rn.satfinite.e4m3x2.f16x2 .rn.satfinite.e4m3x2.f32 .rn.satfinite.e5m2x2.f16x2
cvt .rn.satfinite.e5m2x2.f32 .rna.tf32.f32 .rni.f32.f32 .rni.f64.f64 .rni.ftz.s32.f32
cvt .rni.ftz.s64.f32 .rni.s32.f64 .rni.s64.f64 .rpi.f64.f64 .rpi.ftz.f32.f32 .rz.f16.f32
cvt .rz.f16x2.f32 .rzi.f32.f32 .rzi.f64.f64 .rzi.s16.bf16 .rzi.s16.f16 .rzi.s16.f32 .rzi.s16.f64
cvt .rzi.s32.bf16 .rzi.s32.f16 .rzi.s32.f32 .rzi.s32.f64 .rzi.s64.bf16 .rzi.s64.f16 .rzi.s64.f32
cvt .rzi.s64.f64 .rzi.u16.bf16 .rzi.u16.f16 .rzi.u16.f32 .rzi.u16.f64 .rzi.u32.bf16 .rzi.u32.f16
cvt .rzi.u32.f32 .rzi.u32.f64 .rzi.u64.bf16 .rzi.u64.f16 .rzi.u64.f32 .rzi.u64.f64 .s16.s8 .s32.s16
cvt .s32.s8 .s64.s16 .s64.s32 .s64.s8 .s8.s32 .u16.u32 .u16.u64 .u32.u16 .u32.u64 .u64.u16 .u64.u32
cvta .global.u64 .local.u64 .param.u64
div .approx.ftz.f32 .full.f32 .rn.f32 .rn.f64 .rn.ftz.f32 .rz.f64 .rz.ftz.f32 .s16 .s32 .s64 .u16
div .u32 .u64
elect .sync
ex2 .approx.f32 .approx.ftz.f32
fence .acq_rel.gpu .proxy.async.shared::cta .proxy.tensormap::generic.acquire.gpu
fma .rm.ftz.f32 .rn.bf16 .rn.bf16x2 .rn.f16 .rn.f16x2 .rn.f32 .rn.f64 .rn.ftz.f32 .rz.ftz.f32
ld .global.b16 .global.b32 .global.b64 .global.b8 .global.nc.b32 .global.nc.b64 .global.nc.v2.b64
ld .global.v2.b32 .global.v2.b64 .global.v4.b32 .local.b32 .local.b64 .param.b32 .param.b64
ld .param.s32 .relaxed.gpu.global.b32 .shared.b16 .shared.b32 .shared.b64 .shared.b8 .shared.s32
ld .shared.s8 .shared.v2.b16 .shared.v2.b32 .shared.v2.b64 .shared.v2.b8 .shared.v4.b16
ld .shared.v4.b32
ldmatrix .sync.aligned.m8n8.x1.shared.b16 .sync.aligned.m8n8.x2.trans.shared.b16
ldmatrix .sync.aligned.m8n8.x4.shared.b16 .sync.aligned.m8n8.x4.trans.shared.b16
lg2 .approx.ftz.f32
lop3 .b32
mad .lo.cc.u32 .lo.s16 .lo.s32 .lo.s64 .wide.s32 .wide.u32
madc .hi.cc.u32 .hi.u32 .lo.cc.u32
max .NaN.f32 .bf16 .bf16x2 .f16 .f16x2 .f32 .f64 .ftz.f32 .s16 .s16x2 .s32 .s64 .u16 .u16x2 .u32
max .u64
mbarrier .arrive.expect_tx.shared.b64 .arrive.expect_tx.shared::cta.b64 .init.shared::cta.b64
mbarrier .inval.shared::cta.b64 .try_wait.parity.shared.b64 .try_wait.parity.shared::cta.b64
min .NaN.f32 .bf16 .bf16x2 .f16 .f16x2 .f32 .f64 .ftz.f32 .s16 .s16x2 .s32 .s64 .u16 .u16x2 .u32
min .u64
mma .sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 .sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
mma .sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 .sync.aligned.m16n8k16.row.col.f64.f64.f64.f64
mma .sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32
mma .sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 .sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
mov .b16 .b32 .b64 .pred .u16 .u32 .u64
mul .f32 .f64 .hi.s32 .hi.s64 .hi.u32 .hi.u64 .lo.s16 .lo.s32 .lo.s64 .lo.u32 .rn.bf16x2 .rn.f64
mul .rn.ftz.f32 .rz.ftz.f32 .wide.s32 .wide.u32
neg .f32 .f64 .s16 .s32 .s64
not .b16 .b32 .b64 .pred
or .b16 .b32 .b64 .pred
popc .b32 .b64
prmt .b32
rcp .approx.ftz.f32 .approx.ftz.f64 .rn.f32 .rn.f64 .rn.ftz.f32
red .global.gpu.relaxed.add.f32 .global.gpu.relaxed.add.f64 .global.gpu.relaxed.add.noftz.bf16
red .global.gpu.relaxed.add.noftz.f16 .global.gpu.relaxed.add.u32 .global.gpu.relaxed.add.u64
red .global.gpu.relaxed.add.v4.f32 .global.gpu.relaxed.and.b32 .global.gpu.relaxed.and.b64
red .global.gpu.relaxed.max.s32 .global.gpu.relaxed.max.s64 .global.gpu.relaxed.max.u32
red .global.gpu.relaxed.max.u64 .global.gpu.relaxed.min.s32 .global.gpu.relaxed.min.s64
red .global.gpu.relaxed.min.u32 .global.gpu.relaxed.min.u64 .global.gpu.relaxed.or.b32
red .global.gpu.relaxed.or.b64 .global.gpu.relaxed.xor.b32 .global.gpu.relaxed.xor.b64
redux .sync.add.s32 .sync.max.s32 .sync.max.u32 .sync.min.s32 .sync.min.u32 .sync.or.b32
redux .sync.xor.b32
ret .
rsqrt .approx.f64 .approx.ftz.f32 .approx.ftz.f64
selp .b16 .b32 .b64 .f32 .f64
set .nan.f16x2.f16x2
setp .eq.b16 .eq.b32 .eq.b64 .eq.bf16 .eq.f16 .eq.f32 .eq.f64 .equ.f32 .equ.f64 .ge.bf16 .ge.f16
setp .ge.f32 .ge.f64 .ge.s32 .geu.f32 .geu.f64 .gt.bf16 .gt.f16 .gt.f32 .gt.f64 .gt.s16 .gt.s32
setp .gt.s64 .gt.u16 .gt.u32 .gt.u64 .gtu.f32 .gtu.f64 .le.bf16 .le.f16 .le.f32 .le.f64 .le.s16
setp .le.s32 .le.s64 .le.u16 .le.u32 .le.u64 .leu.bf16 .leu.f16 .leu.f32 .leu.f64 .lt.bf16 .lt.f16
setp .lt.f32 .lt.f64 .lt.s16 .lt.s32 .lt.s64 .lt.u16 .lt.u32 .lt.u64 .ltu.f32 .ltu.f64 .nan.f32
setp .nan.f64 .ne.b16 .ne.b32 .ne.b64 .ne.f64 .neu.f32 .neu.f64 .num.f32 .num.f64
shf .l.wrap.b32
shfl .sync.bfly.b32 .sync.idx.b32 .sync.up.b32
shl .b16 .b32 .b64
shr .b32 .s16 .s32 .s64 .u16 .u32 .u64
sqrt .approx.ftz.f32 .rn.f64 .rn.ftz.f32
st .b32 .global.b16 .global.b32 .global.b64 .global.b8 .global.v2.b32 .global.v2.b64 .global.v4.b32
st .local.b32 .local.b64 .param.b32 .param.b64 .shared.b16 .shared.b32 .shared.b64 .shared.b8
st .shared.v2.b16 .shared.v2.b32 .shared.v2.b64 .shared.v2.b8 .shared.v4.b16 .shared.v4.b32
st .shared::cta.b16 .shared::cta.b32 .shared::cta.b64 .shared::cta.b8
stmatrix .sync.aligned.m8n8.x1.shared.b16 .sync.aligned.m8n8.x4.shared.b16
sub .bf16 .bf16x2 .cc.u32 .f16 .f16x2 .f32 .f64 .rn.f64 .rn.ftz.f32 .s16 .s32 .s64 .u32
subc .cc.u32 .u32
tensormap .cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned
tensormap .replace.tile.box_dim.shared::cta.b1024.b32
tensormap .replace.tile.element_stride.shared::cta.b1024.b32
tensormap .replace.tile.elemtype.shared::cta.b1024.b32
tensormap .replace.tile.fill_mode.shared::cta.b1024.b32
tensormap .replace.tile.global_address.shared::cta.b1024.b64
tensormap .replace.tile.global_dim.shared::cta.b1024.b32
tensormap .replace.tile.global_stride.shared::cta.b1024.b64
tensormap .replace.tile.interleave_layout.shared::cta.b1024.b32
tensormap .replace.tile.rank.shared::cta.b1024.b32 .replace.tile.swizzle_mode.shared::cta.b1024.b32
trap .
vote .sync.ballot.b32
wgmma .commit_group.sync.aligned .fence.sync.aligned
wgmma .mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
wgmma .mma_async.sync.aligned.m64n128k16.f32.f16.f16
wgmma .mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
wgmma .mma_async.sync.aligned.m64n32k16.f16.f16.f16 .mma_async.sync.aligned.m64n32k16.f32.bf16.bf16
wgmma .mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3
wgmma .mma_async.sync.aligned.m64n32k32.f32.e5m2.e5m2 .mma_async.sync.aligned.m64n32k32.s32.s8.s8
wgmma .mma_async.sync.aligned.m64n32k8.f32.tf32.tf32 .mma_async.sync.aligned.m64n64k16.f16.f16.f16
wgmma .mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 .mma_async.sync.aligned.m64n64k16.f32.f16.f16
wgmma .mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3
wgmma .mma_async.sync.aligned.m64n64k32.f32.e5m2.e5m2 .mma_async.sync.aligned.m64n64k32.s32.s8.s8
wgmma .mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 .mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
wgmma .mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 .mma_async.sync.aligned.m64n8k8.f32.tf32.tf32
wgmma .wait_group.sync.aligned
xor .b16 .b32 .b64 .pred
"""
LIKELY_TABLE = """
abs .bf16x2
add .rm.f32 .rp.f32 .sat.f32
atom .global.relaxed.gpu.add.s32 .shared.relaxed.cta.max.u32 .global.relaxed.gpu.inc.u32
bfe .s64 .u64
bfi .b32
bfind .s32
cos .approx.f32
cp .async.cg.shared.global.L2::128B
cvt .rz.f32.f64 .rm.f32.f64 .rp.f16.f32 .rz.bf16.f32 .rmi.f32.f32 .rzi.ftz.s32.f32
cvt .rn.relu.bf16x2.f32
div .rm.f32 .rp.f64
fma .rp.f32 .rn.sat.f32
ld .volatile.global.v2.b64 .global.L1::evict_first.L2::cache_hint.v4.b32 .acquire.gpu.global.b32
ld .global.s8 .shared.u16
max .NaN.bf16x2
min .NaN.f16
mma .sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 .sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32
mul .wide.s16 .wide.u16 .hi.s16 .rm.f64 .rp.f64 .rz.f32 .f16 .f16x2
neg .f16
red .shared.add.u32 .global.relaxed.gpu.add.noftz.f16x2 .global.relaxed.gpu.add.noftz.bf16x2
redux .sync.and.b32
rem .s32 .u32 .s64 .u64
shf .r.wrap.b32 .r.clamp.b32
shfl .sync.down.b32
sin .approx.f32
sqrt .rz.f32 .rp.f64
st .global.L1::evict_last.v4.b32 .global.cs.b16 .release.gpu.global.b64
stmatrix .sync.aligned.m8n8.x2.trans.shared.b16
sub .rz.f32
tanh .approx.f32
"""


def listed(table: str) -> list[str]:
    """The forms of a table: an opcode, and what it is followed by."""
    return [(opcode + modifiers).rstrip(".") for line in table.strip().splitlines()
            for opcode, *rest in [line.split()] for modifiers in rest]


EMITTED = listed(EMITTED_TABLE)
FORMS = EMITTED + listed(LIKELY_TABLE)


def forms_of(*starts: str) -> list[str]:
    """The forms of some opcodes, or that start otherwise so."""
    return [one for one in FORMS if f"{one}.".startswith(tuple(f"{start}." for start in starts))]
