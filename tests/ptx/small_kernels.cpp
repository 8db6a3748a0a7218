#include "tests/ptx/small_kernels.h"

namespace heddle::test {

std::string small_ring_kernel() {
  return R"(// A: 3 x 8192 bytes from 0, B: 3 x 1024 from 24576, FULL from 27648, EMPTY from 27672, the result's 2048 bytes from 28672.
.version 8.7
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.global .align 1 .b8 words[4] = {114, 105, 110, 103};
.visible .entry ring(
	.param .align 64 .b8 map_a[128],
	.param .align 64 .b8 map_b[128],
	.param .u64 .ptr .global .align 16 result
)
.reqntid 256, 1, 1
{
	.reg .pred 	%p<20>;
	.reg .b32 	%r<80>;
	.reg .b64 	%rd<40>;
	.reg .f32 	%f<5>;
	.loc	1 10 1
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r2, memory;
	mov.b64 	%rd1, map_a;
	mov.b64 	%rd2, map_b;
	cvta.param.u64 	%rd3, %rd1;
	cvta.param.u64 	%rd4, %rd2;
	setp.ne.s32 	%p1, %r1, 0;
	@%p1 bra 	$L_MADE;
	.loc	1 12 3
	mov.u32 	%r3, 1;
	mov.u32 	%r4, 4;
	add.s32 	%r5, %r2, 27648;
	mbarrier.init.shared::cta.b64 [%r5], %r3;
	mbarrier.init.shared::cta.b64 [%r5+8], %r3;
	mbarrier.init.shared::cta.b64 [%r5+16], %r3;
	mbarrier.init.shared::cta.b64 [%r5+24], %r4;
	mbarrier.init.shared::cta.b64 [%r5+32], %r4;
	mbarrier.init.shared::cta.b64 [%r5+40], %r4;
	fence.mbarrier_init.release.cluster;
$L_MADE:
	bar.sync 	0;
	setp.gt.u32 	%p2, %r1, 127;
	@%p2 bra 	$L_PRODUCTS;
	setmaxnreg.dec.sync.aligned.u32 40;
	setp.gt.u32 	%p3, %r1, 31;
	@%p3 bra 	$L_END;
	{ .reg .pred p; elect.sync _|p, 0xFFFFFFFF; selp.u32 %r10, 1, 0, p; }
	setp.eq.s32 	%p4, %r10, 0;
	@%p4 bra 	$L_END;
	mov.u32 	%r11, 0;
	mov.u32 	%r12, 0;
	mov.u32 	%r13, 0;
	mov.u32 	%r14, 9216;
$L_FILL:
	.loc	1 20 5
	shl.b32 	%r15, %r11, 3;
	add.s32 	%r16, %r2, %r15;
	add.s32 	%r17, %r16, 27672;
	xor.b32  	%r18, %r12, 1;
	.loc	1 3 3, function_name $L__info_string0, inlined_at 1 20 5
	// begin inline asm
	{
	.reg .pred done;
	WAIT:
	mbarrier.try_wait.parity.shared::cta.b64 done, [%r17], %r18;
	@done bra DONE;
	bra WAIT;
	DONE:
	}
	// end inline asm
	.loc	1 21 5
	add.s32 	%r19, %r16, 27648;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r19], %r14;
	shl.b32 	%r20, %r11, 13;
	add.s32 	%r21, %r2, %r20;
	shl.b32 	%r22, %r11, 10;
	add.s32 	%r23, %r2, %r22;
	add.s32 	%r24, %r23, 24576;
	shl.b32 	%r25, %r13, 6;
	mov.u32 	%r26, 0;
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r21], [%rd3, {%r25, %r26}], [%r19];
	cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r24], [%rd4, {%r25, %r26}], [%r19];
	add.s32 	%r27, %r11, 1;
	setp.eq.s32 	%p5, %r27, 3;
	selp.u32 	%r28, 1, 0, %p5;
	xor.b32  	%r12, %r12, %r28;
	selp.b32 	%r11, 0, %r27, %p5;
	add.s32 	%r13, %r13, 1;
	setp.lt.s32 	%p6, %r13, 8;
	@%p6 bra 	$L_FILL;
	bra.uni 	$L_END;
$L_PRODUCTS:
	setmaxnreg.inc.sync.aligned.u32 232;
	mov.u32 	%r30, 0;
	mov.u32 	%r31, 0;
	mov.u32 	%r32, 0;
	mov.f32 	%f1, 0f00000000;
	mov.f32 	%f2, 0f00000000;
	mov.f32 	%f3, 0f00000000;
	mov.f32 	%f4, 0f00000000;
	and.b32  	%r33, %r1, 31;
	setp.ne.s32 	%p7, %r33, 0;
$L_TRIP:
	.loc	1 40 5
	shl.b32 	%r34, %r30, 3;
	add.s32 	%r35, %r2, %r34;
	add.s32 	%r36, %r35, 27648;
$L_TRY:
	{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%r36], %r31; selp.u32 %r37, 1, 0, p; }
	setp.eq.s32 	%p8, %r37, 0;
	@%p8 bra 	$L_TRY;
	.loc	1 41 5
	shl.b32 	%r38, %r30, 13;
	add.s32 	%r39, %r2, %r38;
	shr.u32 	%r40, %r39, 4;
	and.b32  	%r41, %r40, 16383;
	cvt.u64.u32 	%rd10, %r41;
	or.b64  	%rd11, %rd10, 4611686293305360384;
	shl.b32 	%r42, %r30, 10;
	add.s32 	%r43, %r2, %r42;
	add.s32 	%r44, %r43, 24576;
	shr.u32 	%r45, %r44, 4;
	and.b32  	%r46, %r45, 16383;
	cvt.u64.u32 	%rd12, %r46;
	or.b64  	%rd13, %rd12, 4611686293305360384;
	add.s64 	%rd14, %rd11, 2;
	add.s64 	%rd15, %rd13, 2;
	add.s64 	%rd16, %rd11, 4;
	add.s64 	%rd17, %rd13, 4;
	add.s64 	%rd18, %rd11, 6;
	add.s64 	%rd19, %rd13, 6;
	wgmma.fence.sync.aligned;
	{
	.reg .pred p;
	setp.ne.b32 p, 1, 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd11, %rd13, p, 1, 1, 0, 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd14, %rd15, p, 1, 1, 0, 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16
	{%f1, %f2,
	 %f3, %f4},
	%rd16, %rd17, p, 1, 1, 0, 0;
	wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f1, %f2, %f3, %f4}, %rd18, %rd19, p, 1, 1, 0, 0;
	}
	wgmma.commit_group.sync.aligned;
	wgmma.wait_group.sync.aligned 0;
	@%p7 bra 	$L_GIVEN;
	add.s32 	%r47, %r35, 27672;
	mbarrier.arrive.shared::cta.b64 _, [%r47];
$L_GIVEN:
	add.s32 	%r48, %r30, 1;
	setp.eq.s32 	%p9, %r48, 3;
	selp.u32 	%r49, 1, 0, %p9;
	xor.b32  	%r31, %r31, %r49;
	selp.b32 	%r30, 0, %r48, %p9;
	add.s32 	%r32, %r32, 1;
	setp.lt.s32 	%p10, %r32, 8;
	@%p10 bra 	$L_TRIP;
	.loc	1 50 3
	add.s32 	%r50, %r1, -128;
	shl.b32 	%r51, %r50, 4;
	add.s32 	%r52, %r2, %r51;
	st.shared.v4.f32 	[%r52+28672], {%f1, %f2, %f3, %f4};
	fence.proxy.async.shared::cta;
	bar.sync 	1, 128;
	setp.ne.s32 	%p11, %r50, 0;
	@%p11 bra 	$L_END;
	ld.param.u64 	%rd20, [result];
	cvta.to.global.u64 	%rd21, %rd20;
	add.s32 	%r53, %r2, 28672;
	cp.async.bulk.global.shared::cta.bulk_group [%rd21], [%r53], 2048;
	cp.async.bulk.commit_group;
	cp.async.bulk.wait_group 0;
$L_END:
	ret;
}
.file	1 "ring.cu"
.section	.debug_str
{
$L__info_string0:
.b8 119,97,105,116,0
}
)";
}

std::string small_tensor_memory_kernel() {
  return R"(// A: 2 x 16384 bytes from 0, B: 2 x 2048 from 32768, FULL from 36864, EMPTY from 36880, DONE at 36896, the columns' address at 36904.
.version 8.7
.target sm_100a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry columns(
	.param .align 64 .b8 map_a[128],
	.param .align 64 .b8 map_b[128],
	.param .u64 .ptr .global .align 16 result
)
.reqntid 128, 1, 1
{
	.reg .pred 	%p<20>;
	.reg .b32 	%r<120>;
	.reg .b64 	%rd<40>;
	mov.u32 	%r1, %tid.x;
	mov.u32 	%r2, memory;
	mov.b64 	%rd1, map_a;
	mov.b64 	%rd2, map_b;
	cvta.param.u64 	%rd3, %rd1;
	cvta.param.u64 	%rd4, %rd2;
	setp.gt.u32 	%p1, %r1, 31;
	@%p1 bra 	$L_MADE;
	add.s32 	%r3, %r2, 36904;
	mov.u32 	%r4, 32;
	tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r3], %r4;
	tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
	setp.ne.s32 	%p2, %r1, 0;
	@%p2 bra 	$L_MADE;
	add.s32 	%r5, %r2, 36864;
	mbarrier.init.shared::cta.b64 [%r5], 1;
	mbarrier.init.shared::cta.b64 [%r5+8], 1;
	mbarrier.init.shared::cta.b64 [%r5+16], 1;
	mbarrier.init.shared::cta.b64 [%r5+24], 1;
	mbarrier.init.shared::cta.b64 [%r5+32], 1;
	fence.mbarrier_init.release.cluster;
$L_MADE:
	tcgen05.fence::before_thread_sync;
	bar.sync 	0;
	tcgen05.fence::after_thread_sync;
	ld.shared.u32 	%r6, [%r2+36904];
	setp.ne.s32 	%p3, %r1, 0;
	@%p3 bra 	$L_READ;
	mov.u32 	%r10, 0;
	mov.u32 	%r11, 0;
	mov.u32 	%r12, 0;
	mov.u32 	%r13, 18432;
	mov.u32 	%r14, 134481040;
$L_TRIP:
	shl.b32 	%r15, %r10, 3;
	add.s32 	%r16, %r2, %r15;
	add.s32 	%r17, %r16, 36864;
	add.s32 	%r18, %r16, 36880;
	xor.b32  	%r19, %r11, 1;
$L_EMPTY:
	{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%r18], %r19; selp.u32 %r20, 1, 0, p; }
	setp.eq.s32 	%p4, %r20, 0;
	@%p4 bra 	$L_EMPTY;
	mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r17], %r13;
	shl.b32 	%r21, %r10, 14;
	add.s32 	%r22, %r2, %r21;
	shl.b32 	%r23, %r10, 11;
	add.s32 	%r24, %r2, %r23;
	add.s32 	%r25, %r24, 32768;
	shl.b32 	%r26, %r12, 6;
	mov.u32 	%r27, 0;
	cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r22], [%rd3, {%r26, %r27}], [%r17];
	cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%r25], [%rd4, {%r26, %r27}], [%r17];
$L_FULL:
	{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%r17], %r11; selp.u32 %r28, 1, 0, p; }
	setp.eq.s32 	%p5, %r28, 0;
	@%p5 bra 	$L_FULL;
	tcgen05.fence::after_thread_sync;
	shr.u32 	%r29, %r22, 4;
	and.b32  	%r30, %r29, 16383;
	cvt.u64.u32 	%rd10, %r30;
	or.b64  	%rd11, %rd10, 4611756662049538048;
	shr.u32 	%r31, %r25, 4;
	and.b32  	%r32, %r31, 16383;
	cvt.u64.u32 	%rd12, %r32;
	or.b64  	%rd13, %rd12, 4611756662049538048;
	add.s64 	%rd14, %rd11, 2;
	add.s64 	%rd15, %rd13, 2;
	add.s64 	%rd16, %rd11, 4;
	add.s64 	%rd17, %rd13, 4;
	add.s64 	%rd18, %rd11, 6;
	add.s64 	%rd19, %rd13, 6;
	{
	.reg .pred first, others;
	setp.ne.b32 first, %r12, 0;
	setp.eq.b32 others, 0, 0;
	tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd11, %rd13, %r14, first;
	tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd14, %rd15, %r14, others;
	tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd16, %rd17, %r14, others;
	tcgen05.mma.cta_group::1.kind::f16 [%r6], %rd18, %rd19, %r14, others;
	}
	tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r18];
	add.s32 	%r33, %r10, 1;
	setp.eq.s32 	%p6, %r33, 2;
	selp.u32 	%r34, 1, 0, %p6;
	xor.b32  	%r11, %r11, %r34;
	selp.b32 	%r10, 0, %r33, %p6;
	add.s32 	%r12, %r12, 1;
	setp.lt.s32 	%p7, %r12, 4;
	@%p7 bra 	$L_TRIP;
	add.s32 	%r35, %r2, 36896;
	tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r35];
$L_READ:
	bar.warp.sync 	-1;
	add.s32 	%r40, %r2, 36896;
$L_DONE:
	{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%r40], 0; selp.u32 %r41, 1, 0, p; }
	setp.eq.s32 	%p8, %r41, 0;
	@%p8 bra 	$L_DONE;
	tcgen05.fence::after_thread_sync;
	shr.u32 	%r42, %r1, 5;
	shl.b32 	%r43, %r42, 21;
	add.s32 	%r44, %r6, %r43;
	tcgen05.ld.sync.aligned.32x32b.x16.b32
	{%r50, %r51, %r52, %r53, %r54, %r55, %r56, %r57,
	 %r58, %r59, %r60, %r61, %r62, %r63, %r64, %r65}, [%r44];
	tcgen05.wait::ld.sync.aligned;
	ld.param.u64 	%rd20, [result];
	cvta.to.global.u64 	%rd21, %rd20;
	mul.wide.u32 	%rd22, %r1, 64;
	add.s64 	%rd23, %rd21, %rd22;
	st.global.v4.b32 	[%rd23], {%r50, %r51, %r52, %r53};
	st.global.v4.b32 	[%rd23+16], {%r54, %r55, %r56, %r57};
	st.global.v4.b32 	[%rd23+32], {%r58, %r59, %r60, %r61};
	st.global.v4.b32 	[%rd23+48], {%r62, %r63, %r64, %r65};
	tcgen05.fence::before_thread_sync;
	bar.sync 	0;
	@%p1 bra 	$L_END;
	tcgen05.fence::after_thread_sync;
	mov.u32 	%r70, 32;
	tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r6, %r70;
$L_END:
	ret;
}
)";
}

}  // namespace heddle::test
