// The frames of micro-kernels that show what warp groups take from each other. What is timed comes as functions; `out` gets 64-bit words.
// codegen/calibrate/contention.h says what is read from them. Times are clocks of one thread, of the last of some runs.
#pragma once
#include "barriers.cuh"
#include "math.cuh"
#include "micro.cuh"
#include "shared_memory.cuh"
#include "wgmma.cuh"

// One pass of one kind of instruction, each as volatile assembly so that all of them stay, on registers that are far apart.

DEVICE void multiply(float (&x)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("mul.f32 %0, %0, 0f3F7FFFF0;" : "+f"(x[i]));
}
DEVICE void add(float (&x)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("add.f32 %0, %0, %1;" : "+f"(x[i]) : "f"(x[(i + 17) & 63]));
}
DEVICE void multiply_add(float (&x)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[i]) : "f"(x[(i + 17) & 63]), "f"(x[(i + 34) & 63]));
}
DEVICE void maxima(float (&x)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("max.f32 %0, %0, %1;" : "+f"(x[i]) : "f"(x[(i + 17) & 63]));
}
DEVICE void exponentials(float (&x)[64]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("ex2.approx.ftz.f32 %0, %0;" : "+f"(x[i]));
}
DEVICE void pack(u32 (&y)[32]) {
#pragma unroll
  for (int i = 0; i < 32; ++i)
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y[i]) : "f"(__uint_as_float(y[i])), "f"(__uint_as_float(y[(i + 7) & 31])));
}
DEVICE void logic(u32 (&y)[32]) {
#pragma unroll
  for (int i = 0; i < 64; ++i)
    asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(y[i & 31]) : "r"(y[(i + 7) & 31]), "r"(y[(i + 14) & 31]));
}
DEVICE void permute(u32 (&y)[32]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) asm volatile("prmt.b32 %0, %0, %1, 0x5410;" : "+r"(y[i & 31]) : "r"(y[(i + 7) & 31]));
}
DEVICE void shuffle(u32 (&y)[32]) {
#pragma unroll
  for (int i = 0; i < 8; ++i) asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 0x1f, 0xffffffff;" : "+r"(y[i]));
}
DEVICE void load_rows(u32 at, u32 (&y)[32]) {
#pragma unroll
  for (int i = 0; i < 32; i += 4) load_words(at + 512 * i, y[i], y[i + 1], y[i + 2], y[i + 3]);
  keep(y);
}
DEVICE void store_rows(u32 at, const u32 (&y)[32]) {
#pragma unroll
  for (int i = 0; i < 32; i += 4) store_words(at + 512 * i, y[i], y[i + 1], y[i + 2], y[i + 3]);
}

/// Other numbers in x, which never happens and which the compiler cannot know: what does not change would leave its loop.
DEVICE void may_change(bool never, u32 at, float (&x)[64]) {
  if (never) {
#pragma unroll
    for (int i = 0; i < 64; i += 2) load_words(at + 4 * i, x[i], x[i + 1]);
  }
}

// Attention's softmax of a tile of 64 x 128 as a kernel's text has it: a thread has 32 columns of two rows.

/// Of each row over its four threads, and the factor by which what was summed before is scaled.
DEVICE void row_maxima(const float (&x)[64], float (&most)[2], float (&factor)[2]) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float even = x[2 * r], odd = x[2 * r + 1];
#pragma unroll
    for (int j = 1; j < 16; ++j) even = fmaxf(even, x[2 * r + 4 * j]), odd = fmaxf(odd, x[2 * r + 4 * j + 1]);
    even = fmaxf(even, odd);
    even = fmaxf(even, __shfl_xor_sync(0xffffffffu, even, 1));
    even = fmaxf(even, __shfl_xor_sync(0xffffffffu, even, 2));
    const float before = most[r];
    most[r] = fmaxf(before, even);
    factor[r] = exp2_((before - most[r]) * 0.1275f);
  }
}
DEVICE void powers(float (&x)[64], const float (&most)[2]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) x[i] = exp2_(x[i] * 0.1275f - most[i / 2 % 2]);
}
/// Sums of rows, and the numbers of two columns in a word.
DEVICE void sums_and_words(const float (&x)[64], float (&sum)[2], const float (&factor)[2], u32 (&y)[32]) {
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    float even = x[2 * r], odd = x[2 * r + 1];
#pragma unroll
    for (int j = 1; j < 16; ++j) even += x[2 * r + 4 * j], odd += x[2 * r + 4 * j + 1];
    sum[r] = sum[r] * factor[r] + (even + odd);
  }
#pragma unroll
  for (int i = 0; i < 32; ++i) y[i] = pack_bf16(x[2 * i], x[2 * i + 1]);
  keep(y);
}
DEVICE void rescale(float (&o)[64], const float (&factor)[2]) {
#pragma unroll
  for (int i = 0; i < 64; ++i) o[i] *= factor[i / 2 % 2];
  pin(o);
}

// The frames.

/// The SM's clock, for the first thread of a group, which is the one that tells: what all threads read alike ptxas reads through the uniform
/// datapath, later than it stands there.
DEVICE void read_clock(u32& t) {
  asm volatile("{ .reg .pred p; setp.eq.u32 p, %1, 0; @p mov.u32 %0, %%clock; }" : "+r"(t) : "r"(threadIdx.x % 128) : "memory");
}
/// The warp group, which then all threads of a warp are known to share.
DEVICE int own_group() { return __shfl_sync(0xffffffffu, (int)threadIdx.x / 128, 0); }

/// One group: cycles of the fence, then the clock from behind it when each of Count mmas has been accepted, and when all are done.
template <int Count, int N, class Product> DEVICE void time_accepted(u64* out, float (&d)[N], Product product) {
  u32 t[Count + 2] = {}, before = 0;
#pragma unroll 1
  for (int run = 0; run < 4; ++run) {
    __syncthreads();
    product_fence();
    product();  // one before, so that its descriptors are where the others find them
    product_commit();
    product_wait<0>();
    pin(d);
    read_clock(before);
    product_fence();
    read_clock(t[0]);
#pragma unroll
    for (int k = 0; k < Count; ++k) {
      product();
      read_clock(t[k + 1]);
    }
    product_commit();
    product_wait<0>();
    pin(d);
    read_clock(t[Count + 1]);
  }
  if (threadIdx.x == 0) {
    out[0] = t[0] - before;
#pragma unroll
    for (int k = 1; k < Count + 2; ++k) out[k] = t[k] - t[0];
  }
}

/// Count mmas of one group of two: when they are accepted and when they are done.
template <int Count, int N, class Product> DEVICE void serve(u64* out, float (&d)[N], u32 begin, Product product) {
  u32 accepted = 0, done = 0;
  product_fence();
#pragma unroll
  for (int k = 0; k < Count; ++k) product();
  product_commit();
  read_clock(accepted);
  product_wait<0>();
  pin(d);
  read_clock(done);
  if (threadIdx.x % 128 == 0) out[0] = accepted - begin, out[1] = done - begin;
}

/// Two groups with Count mmas each, the second 0, 64, 160, 300 cycles later; for each lead: when the first's are all accepted and all done,
/// then the second's.
template <int Count, int N, class First, class Second> DEVICE void time_served(u64* out, float (&d)[N], First first, Second second) {
  const int group = own_group();
  u32 begin = 0;
#pragma unroll 1
  for (int run = 0; run < 16; ++run) {
    const u32 lead = run < 4 ? 0 : run < 8 ? 64 : run < 12 ? 160 : 300;
    __syncthreads();
    read_clock(begin);
    if (group == 0) {
      serve<Count>(out + run / 4 * 4, d, begin, first);
    } else {
      const u32 now = clock_now();
      while (clock_now() - now < lead) {}
      __syncwarp();
      serve<Count>(out + run / 4 * 4 + 2, d, begin, second);
    }
  }
}

/// The second group's mmas until `stop` is set. Its warps agree on that: a wgmma needs all four.
template <int N, class Product> DEVICE void keep_busy(u64* out, volatile u32* stop, float (&d)[N], Product product) {
  u32 count = 0, begin = 0, end = 0;
  read_clock(begin);
#pragma unroll 1
  for (u32 over = 0, turn = 1; !over; turn ^= 3) {
    product_fence();
#pragma unroll
    for (int k = 0; k < 8; ++k) product();
    product_commit();
    count += 8;
    if (threadIdx.x == 128) stop[turn] = stop[0];
    role_sync<2, 128>();
    over = stop[turn];
    product_wait<1>();
  }
  product_wait<0>();
  pin(d);
  read_clock(end);
  if (threadIdx.x == 128) out[1] = count, out[2] = end - begin;
}

/// One group does Passes passes of work while the other does nothing, mmas with both operands in shared memory, mmas with A in registers.
/// For each of the three: cycles of the work; mmas meanwhile, and their cycles. `stop`: three words of shared memory.
/// `product(1)` is one of the former mmas, `product(2)` one of the latter.
template <int Passes, int N, class Work, class Product>
DEVICE void time_beside(u64* out, volatile u32* stop, float (&d)[N], Work work, Product product) {
  const int group = own_group();
#pragma unroll 1
  for (int beside = 0; beside < 3; ++beside, out += 3) {
    __syncthreads();
    if (threadIdx.x == 0) stop[0] = 0;
    __syncthreads();
    if (group == 0) {
      u32 begin = 0, end = 0;
#pragma unroll 1
      for (int r = -8; r < Passes; ++r) {  // eight passes first, with cold caches
        if (r == 0) read_clock(begin);
        work();
      }
      read_clock(end);
      role_sync<1, 128>();
      if (threadIdx.x == 0) stop[0] = 1, out[0] = end - begin;
      if (threadIdx.x == 0 && beside == 0) out[1] = 0, out[2] = 0;
    } else if (beside == 1) {
      keep_busy(out, stop, d, [&] { product(1); });
    } else if (beside == 2) {
      keep_busy(out, stop, d, [&] { product(2); });
    }
  }
}

/// Two groups hand a turn to each other 2 * Rounds times: cycles.
template <int Rounds> DEVICE void time_turns(u64* out) {
  const int group = own_group();
  if (group == 1) pass_turn<9, 256>();
  __syncthreads();
  u32 begin = 0, end = 0;
  read_clock(begin);
#pragma unroll 1
  for (int round = 0; round < Rounds; ++round) {
    if (group == 0) {
      take_turn<9, 256>();
      pass_turn<10, 256>();
    } else {
      take_turn<10, 256>();
      pass_turn<9, 256>();
    }
  }
  read_clock(end);
  if (threadIdx.x == 0) out[0] = end - begin;
  if (group == 0) take_turn<9, 256>();
}
