// A host program for FlashAttention 3's forward kernel (hopper/ of Dao-AILab/flash-attention) without torch: bf16, heads of 128.
// Queries, keys, heads and batch are arguments; CAUSAL and CLUSTER choose what is compiled.
#include <cstdio>
#include <cstdlib>

#include "flash_fwd_launch_template.h"

#ifndef CAUSAL
#define CAUSAL false
#endif
#ifndef CLUSTER
#define CLUSTER 1
#endif

namespace {

constexpr int kHead = 128;

template <typename T>
T* memory(std::size_t count) {
  T* made = nullptr;
  cudaMalloc(&made, count * sizeof(T));
  return made;
}

}  // namespace

int main(int count, char** words) {
  const int queries = count > 1 ? std::atoi(words[1]) : 1024;
  const int keys = count > 2 ? std::atoi(words[2]) : queries;
  const int heads = count > 3 ? std::atoi(words[3]) : 4;
  const int batch = count > 4 ? std::atoi(words[4]) : 2;
  const int rows = batch * queries, key_rows = batch * keys;

  Flash_fwd_params p{};
  p.q_ptr = memory<cutlass::bfloat16_t>(std::size_t(rows) * heads * kHead);
  p.k_ptr = memory<cutlass::bfloat16_t>(std::size_t(key_rows) * heads * kHead);
  p.v_ptr = memory<cutlass::bfloat16_t>(std::size_t(key_rows) * heads * kHead);
  p.o_ptr = memory<cutlass::bfloat16_t>(std::size_t(rows) * heads * kHead);
  p.softmax_lse_ptr = memory<float>(std::size_t(rows) * heads);
  p.q_row_stride = p.k_row_stride = p.v_row_stride = p.o_row_stride = heads * kHead;
  p.q_head_stride = p.k_head_stride = p.v_head_stride = p.o_head_stride = kHead;
  p.q_batch_stride = p.o_batch_stride = std::int64_t(queries) * heads * kHead;
  p.k_batch_stride = p.v_batch_stride = std::int64_t(keys) * heads * kHead;
  p.v_dim_stride = 1;
  p.h = p.h_k = heads;
  p.b = p.b_k = batch;
  p.seqlen_q = queries;
  p.seqlen_k = keys;
  p.total_q = rows;
  p.total_k = key_rows;
  p.d = p.dv = p.d_rounded = p.dv_rounded = kHead;
  p.scale_softmax = 0.08838834764831845f;
  p.window_size_left = -1;
  p.window_size_right = CAUSAL ? 0 : -1;
  p.is_bf16 = true;
  p.is_causal = CAUSAL;
  p.num_splits = 1;
  p.arch = 90;
  p.num_sm = 132;
  // From here a causal kernel's CTAs take their tiles; it begins at zero.
  p.tile_count_semaphore = memory<int>(1);
  cudaMemset(p.tile_count_semaphore, 0, sizeof(int));
  run_flash_fwd<90, kHead, kHead, CLUSTER, cutlass::bfloat16_t, cutlass::bfloat16_t, CAUSAL, false, false, false, false, false, false,
                false, false, false>(p, nullptr);
  const cudaError_t ended = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(ended));
  return ended != cudaSuccess;
}
