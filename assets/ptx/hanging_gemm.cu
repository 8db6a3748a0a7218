// A warp-specialized GEMM for sm_90a with one mistake, for the third tour of README.md: 64 rows by 128 columns a block, bf16, a producer warp and
// one warp group that multiplies. hanging_gemm.ptx is what nvcc makes of it:
//
//     nvcc -ptx -arch=sm_90a -lineinfo hanging_gemm.cu
#include <cstdint>

constexpr int kStages = 4, kRows = 64, kColumns = 128, kDepth = 64;
constexpr uint32_t kBytesA = kRows * kDepth * 2, kBytesB = kColumns * kDepth * 2;

struct alignas(64) TensorMap { uint64_t opaque[16]; };

__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }

__device__ void init(uint64_t& barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(&barrier)), "r"(arrivals) : "memory");
}
__device__ void expect(uint64_t& barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared(&barrier)), "r"(bytes) : "memory");
}
__device__ void arrive(uint64_t& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared(&barrier)) : "memory");
}
__device__ void wait(uint64_t& barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred over;\n"
      "AGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 over, [%0], %1;\n"
      "@!over bra AGAIN;\n"
      "}" ::"r"(shared(&barrier)), "r"(parity) : "memory");
}
__device__ void load(void* to, const TensorMap& map, int x, int y, uint64_t& barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(shared(to)),
      "l"(&map), "r"(x), "r"(y), "r"(shared(&barrier)) : "memory");
}
/// Rows of 128 bytes in the 128-byte swizzle.
__device__ uint64_t descriptor(const void* tile) {
  return (static_cast<uint64_t>(shared(tile) & 0x3FFFF) >> 4) | (uint64_t{1} << 16) | (uint64_t{64} << 32) | (uint64_t{1} << 62);
}
__device__ void multiply(float (&d)[8], uint64_t a, uint64_t b) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, 1, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, add, 1, 1, 0, 0;\n"
      "}"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
      : "l"(a), "l"(b));
}

struct Storage {
  alignas(1024) uint8_t a[kStages][kBytesA];
  alignas(1024) uint8_t b[kStages][kBytesB];
  alignas(8) uint64_t full[kStages];
  alignas(8) uint64_t empty[kStages];
};

extern "C" __global__ void __launch_bounds__(160) hanging_gemm(const __grid_constant__ TensorMap map_a, const __grid_constant__ TensorMap map_b,
                                                               float* c, int k) {
  extern __shared__ __align__(1024) uint8_t memory[];
  Storage& s = *reinterpret_cast<Storage*>(memory);
  const int trips = k / kDepth;
  if (threadIdx.x == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      init(s.full[stage], 1);
      init(s.empty[stage], 2);  // the mistake: there were two warp groups once, and each arrived here
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x >= 128) {  // the producer
    if (threadIdx.x == 128) {
      for (int trip = 0; trip < trips; ++trip) {
        const int stage = trip % kStages, round = trip / kStages;
        wait(s.empty[stage], (round & 1) ^ 1);
        expect(s.full[stage], kBytesA + kBytesB);
        load(s.a[stage], map_a, trip * kDepth, static_cast<int>(blockIdx.y) * kRows, s.full[stage]);
        load(s.b[stage], map_b, trip * kDepth, static_cast<int>(blockIdx.x) * kColumns, s.full[stage]);
      }
    }
  } else {  // the warp group that multiplies
    float d[8][8] = {};
    for (int trip = 0; trip < trips; ++trip) {
      const int stage = trip % kStages;
      wait(s.full[stage], (trip / kStages) & 1);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int depth = 0; depth < kDepth; depth += 16)
#pragma unroll
        for (int column = 0; column < 8; ++column)
          multiply(d[column], descriptor(s.a[stage] + depth * 2), descriptor(s.b[stage] + column * 16 * 128 + depth * 2));
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
      if (threadIdx.x == 0) arrive(s.empty[stage]);
    }
    float* to = c + (static_cast<long>(blockIdx.y) * gridDim.x + blockIdx.x) * kRows * kColumns + threadIdx.x * 64;
#pragma unroll
    for (int column = 0; column < 8; ++column)
#pragma unroll
      for (int i = 0; i < 8; ++i) to[column * 8 + i] = d[column][i];
  }
}
