// The straightforward kernels whose results on a GPU ours are compared with: a thread has an element, a piece of a row or a row of the
// result, in f32. `plain` rounds to bf16 where a program in bf16 would. Launches are slices of `Threads` threads, in blocks of 256.
#pragma once
#include "types.cuh"

typedef unsigned short u16;
DEVICE float bf16(u16 x) { return __uint_as_float((u32)x << 16); }
DEVICE float rounded(float x) {
  const u32 bits = __float_as_uint(x);
  return __uint_as_float((bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff0000u);
}

/// C = A B, with A of M x K and B of K x N.
template <long long M, int N, int K, long long Threads>
DEVICE void reference_gemm(const u16* a, const u16* b, float* c, int slice, int plain) {
  const long long at = blockIdx.x * 256ll + threadIdx.x + slice * Threads;
  if (at >= M * N) return;
  const u16* row = a + at / N * K;
  const u16* column = b + at % N;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += bf16(row[k]) * bf16(column[k * (long long)N]);
  c[at] = plain ? rounded(sum) : sum;
}

/// Its bits under the exponent of an f32, smaller numbers among those that an f32 has below its least exponent.
DEVICE float e4m3(unsigned char x) {
  const float size = __uint_as_float((u32)(x & 127) << 20) * 1.329227996e36f;
  return x & 128 ? -size : size;
}
/// D = A B^T of 8 bits, with A of M x K and B of N x K: 128 columns of K have a scale for each row of A and one for 128 rows of B.
template <long long M, int N, int K, long long Threads>
DEVICE void reference_block_scaled(const unsigned char* a, const unsigned char* b, const float* sa, const float* sb, float* d, int slice,
                                   int plain) {
  const long long at = blockIdx.x * 256ll + threadIdx.x + slice * Threads;
  if (at >= M * N) return;
  const long long row = at / N, column = at % N;
  float sum = 0;
  for (int k = 0; k < K; k += 128) {
    float part = 0;
    for (int l = k; l < k + 128 && l < K; ++l) part += e4m3(a[row * K + l]) * e4m3(b[column * K + l]);
    sum += part * sa[k / 128 * M + row] * sb[column / 128 * ((K + 127) / 128) + k / 128];
  }
  d[at] = plain ? rounded(sum) : sum;
}

/// D = W X^T, with W of Rows x K numbers of 4 bits, the lower half of a byte first, and X of Tokens x K: 128 columns of K have a scale for
/// each row of W. Columns of D beyond the tokens are zero.
/// Packed: in the order of prepacked weights.
template <long long Rows, int Columns, int Tokens, int K, bool Packed, long long Threads>
DEVICE void reference_group_scaled(const unsigned char* w, const u16* s, const u16* x, float* d, int slice, int plain) {
  const long long at = blockIdx.x * 256ll + threadIdx.x + slice * Threads;
  if (at >= Rows * Columns) return;
  const long long row = at / Columns, token = at % Columns;
  float sum = 0;
  for (int k = 0; token < Tokens && k < K; k += 128) {
    float part = 0;
    for (int l = k; l < k + 128 && l < K; ++l) {
      const long long block = (row / 64 * (K / 64) + l / 64) * 4096, thread = row % 64 / 16 * 32 + row % 8 * 4 + l % 8 / 2;
      const long long place = Packed ? block + thread * 32 + l % 64 / 16 * 8 + l % 2 * 4 + l % 16 / 8 * 2 + row % 16 / 8 : row * K + l;
      part += (float)(((w[place / 2] >> place % 2 * 4 & 15) ^ 8) - 8) * bf16(x[token * K + l]);
    }
    sum += part * bf16(s[k / 128 * Rows + row]);
  }
  d[at] = plain ? rounded(sum) : sum;
}

/// C = silu(A G) * (A U).
template <long long M, int N, int K, long long Threads>
DEVICE void reference_swiglu(const u16* a, const u16* g, const u16* u, float* c, int slice, int plain) {
  const long long at = blockIdx.x * 256ll + threadIdx.x + slice * Threads;
  if (at >= M * N) return;
  const u16* row = a + at / N * K;
  float gate = 0, up = 0;
  for (int k = 0; k < K; ++k) {
    const long long to = k * (long long)N + at % N;
    gate += bf16(row[k]) * bf16(g[to]);
    up += bf16(row[k]) * bf16(u[to]);
  }
  const float result = gate / (1.0f + expf(-gate)) * up;
  c[at] = plain ? rounded(result) : result;
}

template <int D>
DEVICE float reference_score(const float* q, const u16* k, int plain) {
  float sum = 0;
  for (int d = 0; d < D; ++d) sum += q[d] * bf16(k[d]);
  return plain ? rounded(sum) : sum;
}
/// A thread has 32 columns of one query's result. The first pass over the keys finds the largest score and the sum of the
/// exponentials, the second adds up the values. `plain` rounds scaled queries, scores, probabilities and the result. Causal: query i
/// of a head sees i + Offset keys. Group: heads of queries for each head of keys.
template <long long Rows, int Queries, int Keys, int D, bool Causal, int Offset, long long Threads, int Group>
DEVICE void reference_attention(const u16* q, const u16* k, const u16* v, float* o, float factor, int slice, int plain) {
  constexpr int Pieces = D / 32;
  const long long at = blockIdx.x * 256ll + threadIdx.x + slice * Threads;
  if (at >= Rows * Pieces) return;
  const long long row = at / Pieces, head = row / Queries / Group;
  const int column = (int)(at % Pieces) * 32;
  const int keys = Causal ? max(1, min(Keys, (int)(row % Queries) + Offset)) : Keys;
  k += head * (long long)Keys * D;
  v += head * (long long)Keys * D;
  float query[D], sum[32];
  for (int d = 0; d < D; ++d) {
    const float x = bf16(q[row * D + d]) * factor;
    query[d] = plain ? rounded(x) : x;
  }
  float most = -3.0e38f, total = 0;
  for (int j = 0; j < keys; ++j) {
    const float s = reference_score<D>(query, k + j * (long long)D, plain), larger = fmaxf(most, s);
    total = total * expf(most - larger) + expf(s - larger);
    most = larger;
  }
  for (int c = 0; c < 32; ++c) sum[c] = 0;
  for (int j = 0; j < keys; ++j) {
    float p = expf(reference_score<D>(query, k + j * (long long)D, plain) - most) / total;
    if (plain) p = rounded(p);
    for (int c = 0; c < 32; ++c) sum[c] += p * bf16(v[j * (long long)D + column + c]);
  }
  for (int c = 0; c < 32; ++c) o[row * D + column + c] = plain ? rounded(sum[c]) : sum[c];
}

/// The nearest number of e4m3, up to 448: three bits of mantissa, and multiples of 2^-9 below 2^-6.
DEVICE float rounded_e4m3(float x) {
  if (fabsf(x) < 0.015625f) return x + 24576.0f - 24576.0f;  // with this added, an f32's last bit is 2^-9
  const u32 bits = __float_as_uint(x);
  return __uint_as_float((bits + 0x7ffff + ((bits >> 20) & 1)) & 0xfff00000u);
}
/// The same of 8 bits: a query has a scale, of which the size alone counts, and a column of V. Transposed: V has a row for each of those.
/// `plain` rounds 256 times the probabilities to e4m3, relative to the largest, and the result to bf16. Group: as above.
template <long long Rows, int Queries, int Keys, int D, bool Transposed, long long Threads, int Group>
DEVICE void reference_attention_scaled(const unsigned char* q, const unsigned char* k, const unsigned char* v, const float* sq,
                                       const float* sv, float* o, float factor, int slice, int plain) {
  constexpr int Pieces = D / 32;
  const long long at = blockIdx.x * 256ll + threadIdx.x + slice * Threads;
  if (at >= Rows * Pieces) return;
  const long long row = at / Pieces, head = row / Queries / Group;
  const int column = (int)(at % Pieces) * 32;
  k += head * (long long)Keys * D;
  v += Transposed ? (head * D + column) * (long long)Keys : head * (long long)Keys * D + column;
  float query[D], sum[32];
  for (int d = 0; d < D; ++d) query[d] = e4m3(q[row * D + d]) * fabsf(sq[row]) * factor;
  const auto score = [&](int j) {
    float s = 0;
    for (int d = 0; d < D; ++d) s += query[d] * e4m3(k[j * (long long)D + d]);
    return s;
  };
  float most = -3.0e38f, total = 0;
  for (int j = 0; j < Keys; ++j) {
    const float s = score(j), larger = fmaxf(most, s);
    total = total * expf(most - larger) + expf(s - larger);
    most = larger;
  }
  for (int c = 0; c < 32; ++c) sum[c] = 0;
  for (int j = 0; j < Keys; ++j) {
    float p = expf(score(j) - most);
    if (plain) p = rounded_e4m3(256 * p) / 256;
    for (int c = 0; c < 32; ++c) sum[c] += p * e4m3(v[Transposed ? c * (long long)Keys + j : j * (long long)D + c]);
  }
  for (int c = 0; c < 32; ++c) {
    const float result = sum[c] / total * sv[head * D + column + c];
    o[row * D + column + c] = plain ? rounded(result) : result;
  }
}

/// A thread has a row: mean, variance, then every column.
template <long long Rows, int Columns, long long Threads>
DEVICE void reference_layernorm(const u16* x, const float* gamma, const float* beta, float* y, int slice, int plain) {
  const long long row = blockIdx.x * 256ll + threadIdx.x + slice * Threads;
  if (row >= Rows) return;
  float mean = 0, variance = 0;
  for (int c = 0; c < Columns; ++c) mean += bf16(x[row * Columns + c]);
  mean /= Columns;
  for (int c = 0; c < Columns; ++c) variance += (bf16(x[row * Columns + c]) - mean) * (bf16(x[row * Columns + c]) - mean);
  variance /= Columns;
  for (int c = 0; c < Columns; ++c) {
    const float result = (bf16(x[row * Columns + c]) - mean) / sqrtf(variance + 1e-5f) * gamma[c] + beta[c];
    y[row * Columns + c] = plain ? rounded(result) : result;
  }
}
