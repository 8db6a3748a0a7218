// Sums run over doubles; element types enter only through the inputs, which are already rounded.
#include "core/kernel/reference.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include <fmt/core.h>

#include "core/base/integer_division.h"
#include "core/kernel/reference_sparse.h"
#include "core/kernel/reference_varlen.h"

namespace heddle {
namespace {

using Matrix = std::vector<double>;

constexpr std::int64_t kScaled = 128;  // of K and N have a scale in common

const Array& array_of(const TensorMap& tensors, const char* name) { return tensors.find(name)->second.array; }
std::int64_t extent(const TensorMap& tensors, const char* name, std::size_t d) { return array_of(tensors, name).shape[d]; }

double largest(const Array& a) {
  double most = 0;
  for (float x : a.data) most = std::max(most, std::fabs(static_cast<double>(x)));
  return most;
}

double rms(const Matrix& values) {
  double sum = 0;
  for (double x : values) sum += x * x;
  return values.empty() ? 0 : std::sqrt(sum / static_cast<double>(values.size()));
}

/// Of [m,k] times [k,n].
struct ProductExtents {
  std::int64_t m, k, n;
};

/// From offsets on.
Matrix product(const float* a, const float* b, const ProductExtents& extents, const std::stop_token& stop) {
  const auto [m, k, n] = extents;
  Matrix c(static_cast<std::size_t>(m * n), 0.0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t l = 0; l < k && !stop.stop_requested(); ++l) {
      const double factor = a[i * k + l];
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += factor * b[l * n + j];
    }
  return c;
}

double dot(const float* a, const float* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

// ---- gemm

std::string gemm(const TensorMap& t, const FormulaNumbers&, const std::stop_token& stop, std::vector<ExpectedTensor>& expected) {
  const std::int64_t m = extent(t, "A", 0), k = extent(t, "A", 1), n = extent(t, "B", 1);
  if (extent(t, "B", 0) != k || extent(t, "C", 0) != m || extent(t, "C", 1) != n) return "C [M,N] = A [M,K] B [K,N]";
  const Array &a = array_of(t, "A"), &b = array_of(t, "B");
  expected.push_back({"C",
                      product(a.data.data(), b.data.data(), {m, k, n}, stop),
                      {kBf16Unit, kF32Sum * static_cast<double>(k) * largest(a) * largest(b), 4e-3,
                       "the result is rounded once to bf16 (2^-8), the sum over K is kept in f32 (2^-22 K max|A| max|B|)"}});
  return {};
}

/// A has scales per row and 128 columns of K, B per 128 x 128.
std::string gemm_block_scaled(const TensorMap& t, const FormulaNumbers&, const std::stop_token& stop,
                              std::vector<ExpectedTensor>& expected) {
  const std::int64_t m = extent(t, "A", 0), k = extent(t, "A", 1), n = extent(t, "B", 0);
  const std::vector<std::int64_t> by_row{ceil_div(k, kScaled), m}, by_block{ceil_div(n, kScaled), ceil_div(k, kScaled)};
  if (extent(t, "B", 1) != k || array_of(t, "SA").shape != by_row || array_of(t, "SB").shape != by_block || extent(t, "D", 0) != m ||
      extent(t, "D", 1) != n)
    return "D [M,N] = A [M,K] transpose(B [N,K]) with scales SA [K/128,M] and SB [N/128,K/128]";
  const Array &a = array_of(t, "A"), &b = array_of(t, "B"), &sa = array_of(t, "SA"), &sb = array_of(t, "SB");
  Matrix d(static_cast<std::size_t>(m * n), 0.0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n && !stop.stop_requested(); ++j)
      for (std::int64_t l = 0; l < k; l += kScaled)
        d[i * n + j] += static_cast<double>(sa.data[l / kScaled * m + i]) * sb.data[j / kScaled * by_block[1] + l / kScaled] *
                        dot(a.data.data() + i * k + l, b.data.data() + j * k + l, std::min(kScaled, k - l));
  const double most = largest(a) * largest(b) * largest(sa) * largest(sb);
  expected.push_back({"D",
                      std::move(d),
                      {kBf16Unit, kF32Sum * static_cast<double>(k) * most, 4e-3,
                       "the result is rounded once to bf16 (2^-8), sums are kept in f32 (2^-22 K max|A| max|B| max|SA| max|SB|)"}});
  return {};
}

/// W has scales per row and 128 columns of K. Results of tokens that do not exist are zero.
std::string gemm_group_scaled(const TensorMap& t, const FormulaNumbers&, const std::stop_token& stop,
                              std::vector<ExpectedTensor>& expected) {
  const std::int64_t rows = extent(t, "W", 0), k = extent(t, "W", 1), tokens = extent(t, "X", 0), columns = extent(t, "D", 1);
  if (extent(t, "X", 1) != k || array_of(t, "S").shape != std::vector{ceil_div(k, kScaled), rows} || extent(t, "D", 0) != rows ||
      columns < tokens)
    return "D [N,T] = W [N,K] transpose(X [T,K]) with scales S [K/128,N]; D may have more columns";
  const Array &w = array_of(t, "W"), &s = array_of(t, "S"), &x = array_of(t, "X");
  Matrix d(static_cast<std::size_t>(rows * columns), 0.0);
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < tokens && !stop.stop_requested(); ++j)
      for (std::int64_t l = 0; l < k; l += kScaled)
        d[i * columns + j] +=
            s.data[l / kScaled * rows + i] * dot(w.data.data() + i * k + l, x.data.data() + j * k + l, std::min(kScaled, k - l));
  expected.push_back({"D",
                      std::move(d),
                      {kBf16Unit, kF32Sum * static_cast<double>(k) * largest(w) * largest(s) * largest(x), 4e-3,
                       "the result is rounded once to bf16 (2^-8), sums are kept in f32 (2^-22 K max|W| max|S| max|X|)"}});
  return {};
}

double silu(double x) { return x / (1.0 + std::exp(-x)); }

std::string swiglu(const TensorMap& t, const FormulaNumbers&, const std::stop_token& stop, std::vector<ExpectedTensor>& expected) {
  const std::int64_t m = extent(t, "A", 0), k = extent(t, "A", 1), n = extent(t, "G", 1);
  if (extent(t, "G", 0) != k || array_of(t, "U").shape != array_of(t, "G").shape || extent(t, "Out", 0) != m || extent(t, "Out", 1) != n)
    return "Out [M,N] = silu(A G) * (A U) with A [M,K], G and U [K,N]";
  const Array &a = array_of(t, "A"), &g = array_of(t, "G"), &u = array_of(t, "U");
  Matrix gate = product(a.data.data(), g.data.data(), {m, k, n}, stop);
  const Matrix up = product(a.data.data(), u.data.data(), {m, k, n}, stop);
  double most_gate = 0, most_up = 0;
  for (std::size_t i = 0; i < gate.size(); ++i) {
    most_gate = std::max(most_gate, std::fabs(gate[i]));
    most_up = std::max(most_up, std::fabs(up[i]));
    gate[i] = silu(gate[i]) * up[i];
  }
  const double sum_error = kF32Sum * static_cast<double>(k) * largest(a) * std::max(largest(g), largest(u));
  expected.push_back({"Out",
                      std::move(gate),
                      {kBf16Unit, sum_error * (1.1 * most_up + most_gate), 4e-3,
                       "the result is rounded once to bf16 (2^-8), both sums over K are kept in f32"}});
  return {};
}

// ---- attention. Tensors are [heads, rows, d]; the softmax factor is 1/sqrt(d), or the kernel's argument `scale`. Rows of V and O may have
// another length than those of K and Q.

struct Attention {
  std::int64_t heads, queries, keys, d, columns;  ///< columns: of V
  double factor;
  std::int64_t group = 1;  ///< heads of queries for each head of keys

  /// Number of a query's or a key's row.
  std::int64_t query_row(std::int64_t head, std::int64_t query) const { return head * queries + query; }
  std::int64_t key_row(std::int64_t head, std::int64_t key) const { return head / group * keys + key; }
};

/// The sizes, when Q, K and V fit each other. Where keys have fewer heads, each of them is for a group of query heads.
bool attention_sizes(const TensorMap& t, const FormulaNumbers& numbers, Attention& s) {
  s = {extent(t, "Q", 0), extent(t, "Q", 1), extent(t, "K", 1), extent(t, "Q", 2), extent(t, "V", 2), 0};
  s.factor = softmax_scale(numbers, s.d);
  s.group = s.heads / std::max<std::int64_t>(extent(t, "K", 0), 1);
  if (s.group < 1 || s.heads % s.group != 0) return false;
  const std::int64_t heads = s.heads / s.group;
  return array_of(t, "K").shape == std::vector{heads, s.keys, s.d} && array_of(t, "V").shape == std::vector{heads, s.keys, s.columns};
}

bool is_of_values(const TensorMap& t, const char* name, const Attention& s) {
  return array_of(t, name).shape == std::vector{s.heads, s.queries, s.columns};
}

/// Softmax of one query's scores with the first `seen` keys, and the natural logarithm of the sum of their exponentials.
std::pair<Matrix, double> probabilities(const TensorMap& t, const Attention& s, std::int64_t head, std::int64_t query, std::int64_t seen) {
  const float* q = array_of(t, "Q").data.data() + s.query_row(head, query) * s.d;
  const float* k = array_of(t, "K").data.data() + s.key_row(head, 0) * s.d;
  Matrix p(static_cast<std::size_t>(s.keys));
  seen = std::clamp<std::int64_t>(seen, 1, s.keys);
  for (std::int64_t j = 0; j < seen; ++j) p[j] = s.factor * dot(q, k + j * s.d, s.d);
  const double most = *std::max_element(p.begin(), p.begin() + seen);
  double sum = 0;
  for (std::int64_t j = 0; j < seen; ++j) sum += p[j] = std::exp(p[j] - most);
  for (double& x : p) x /= sum;
  return {std::move(p), most + std::log(sum)};
}

/// Output row of one query.
Matrix attend(const TensorMap& t, const Attention& s, std::int64_t head, const Matrix& p) {
  const float* v = array_of(t, "V").data.data() + s.key_row(head, 0) * s.columns;
  Matrix o(static_cast<std::size_t>(s.columns), 0.0);
  for (std::int64_t j = 0; j < s.keys; ++j)
    for (std::int64_t c = 0; c < s.columns; ++c) o[c] += p[j] * v[j * s.columns + c];
  return o;
}

/// Causal: the last query sees every key, the one before it one less (masks are aligned at the lower right corner).
std::int64_t seen_keys(const Attention& s, std::int64_t query, bool causal) { return causal ? s.keys - s.queries + query + 1 : s.keys; }

template <bool Causal>
std::string attention_forward(const TensorMap& t, const FormulaNumbers& numbers, const std::stop_token& stop,
                              std::vector<ExpectedTensor>& expected) {
  Attention s;
  if (!attention_sizes(t, numbers, s) || !is_of_values(t, "O", s))
    return "Q and O [heads, queries, d], K and V [heads, or one for each group of them, keys, d]";
  const auto statistics = t.find("LSE");
  if (statistics != t.end() && statistics->second.array.shape != std::vector<std::int64_t>{s.heads, s.queries})
    return "LSE [heads, queries] beside Q and O [heads, queries, d]";
  Matrix out, lse;
  for (std::int64_t h = 0; h < s.heads; ++h)
    for (std::int64_t i = 0; i < s.queries && !stop.stop_requested(); ++i) {
      const auto [p, log_sum] = probabilities(t, s, h, i, seen_keys(s, i, Causal));
      const Matrix row = attend(t, s, h, p);
      out.insert(out.end(), row.begin(), row.end());
      lse.push_back(log_sum / std::log(2.0));
    }
  const double typical = rms(out);
  expected.push_back({"O",
                      std::move(out),
                      {kBf16Unit, 0.05 * typical, 5e-3,
                       "P and O are rounded to bf16: independent errors of 2^-9 give about 2e-3 in the rms; 5 % of the rms "
                       "in one element is beyond 20 of their standard deviations"}});
  if (statistics != t.end())
    expected.push_back(
        {"LSE",
         std::move(lse),
         {1e-5, 2e-4 + kF32Sum * static_cast<double>(s.d) * largest(array_of(t, "Q")) * largest(array_of(t, "K")) * s.factor, 1e-3,
          "scores and sums are kept in f32 (2^-22 d max|Q| max|K| / sqrt(d)); powers may be off by 1.1e-4 of themselves"}});
  return {};
}

/// Of 8-bit floats: a query has a scale, of which the size alone counts, and a column of V; VT has a row for each of those.
template <bool Transposed>
std::string attention_forward_scaled(const TensorMap& t, const FormulaNumbers&, const std::stop_token& stop,
                                     std::vector<ExpectedTensor>& expected) {
  const std::int64_t heads = extent(t, "Q", 0), queries = extent(t, "Q", 1), d = extent(t, "Q", 2), keys = extent(t, "K", 1);
  const std::int64_t of_keys = std::max<std::int64_t>(extent(t, "K", 0), 1), group = heads / of_keys;
  const auto is = [&](const char* name, const std::vector<std::int64_t>& shape) { return array_of(t, name).shape == shape; };
  const char* values = Transposed ? "VT" : "V";
  if (heads != group * of_keys || !is("K", {of_keys, keys, d}) || !is("SQ", {heads, queries}) || !is("SV", {of_keys, d}) ||
      !is("O", {heads, queries, d}) || !is(values, Transposed ? std::vector{of_keys, d, keys} : std::vector{of_keys, keys, d}))
    return Transposed
               ? "Q and O [heads, queries, d], K [heads or groups of them, keys, d], VT [as K, d, keys], SQ [heads, queries], SV [as K, d]"
               : "Q and O [heads, queries, d], K and V [heads or groups of them, keys, d], SQ [heads, queries], SV [as K, d]";
  Matrix out;
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t i = 0; i < queries && !stop.stop_requested(); ++i) {
      const double scale = std::fabs(static_cast<double>(array_of(t, "SQ").data[h * queries + i]));
      const Attention s{heads, queries, keys, d, d, scale / std::sqrt(static_cast<double>(d)), group};
      const Matrix p = probabilities(t, s, h, i, keys).first;
      for (std::int64_t c = 0; c < d; ++c) {
        const std::int64_t column = h / group * d + c;  // of SV
        const float* v = array_of(t, values).data.data() + (Transposed ? column * keys : s.key_row(h, 0) * d + c);
        double sum = 0;
        for (std::int64_t j = 0; j < keys; ++j) sum += p[j] * v[j * (Transposed ? 1 : d)];
        out.push_back(sum * array_of(t, "SV").data[column]);
      }
    }
  const double typical = rms(out);
  expected.push_back(
      {"O",
       std::move(out),
       {1.0 / 16, 0.5 * typical, 3e-2,
        "P is rounded to e4m3: independent errors of up to 2^-4 give about 1.5e-2 in the rms, most in columns of large scales; "
        "half the rms in one element is beyond 20 of their standard deviations"}});
  return {};
}

/// Row statistics that a forward pass leaves behind: LSE in base 2, Delta = rowsum(dO * O) / sqrt(d).
template <bool Causal>
void prepare_backward(TensorMap& t, const FormulaNumbers& numbers, const std::stop_token& stop) {
  Attention s;
  if (!attention_sizes(t, numbers, s)) return;
  Array &lse = t.find("LSE")->second.array, &delta = t.find("Delta")->second.array;
  const std::vector<std::int64_t> statistics{s.heads, s.queries};
  if (lse.shape != statistics || delta.shape != statistics || !is_of_values(t, "dO", s)) return;
  for (std::int64_t h = 0; h < s.heads; ++h)
    for (std::int64_t i = 0; i < s.queries && !stop.stop_requested(); ++i) {
      const auto [p, log_sum] = probabilities(t, s, h, i, seen_keys(s, i, Causal));
      const Matrix o = attend(t, s, h, p);
      const float* grad = array_of(t, "dO").data.data() + s.query_row(h, i) * s.columns;
      double sum = 0;
      for (std::int64_t c = 0; c < s.columns; ++c) sum += grad[c] * o[c];
      lse.data[h * s.queries + i] = static_cast<float>(log_sum / std::log(2.0));
      delta.data[h * s.queries + i] = static_cast<float>(sum * s.factor);
    }
}

/// Straight from the definition of the softmax and its derivative; LSE and Delta are not used.
template <bool Causal>
std::string attention_backward(const TensorMap& t, const FormulaNumbers& numbers, const std::stop_token& stop,
                               std::vector<ExpectedTensor>& expected) {
  Attention s;
  const auto shape = [&](const char* name) { return array_of(t, name).shape; };
  if (!attention_sizes(t, numbers, s) || !is_of_values(t, "dO", s) || shape("dQ") != shape("Q") || shape("dK") != shape("K") ||
      shape("dV") != shape("V") || shape("LSE") != std::vector<std::int64_t>{s.heads, s.queries} || shape("Delta") != shape("LSE"))
    return "Q, dO and dQ [heads, queries, d], K, V, dK and dV [heads, or one for each group of them, keys, d], LSE and Delta [heads, "
           "queries]";
  const auto zeros = [&](const char* name) { return Matrix(array_of(t, name).data.size(), 0.0); };
  Matrix dq = zeros("Q"), dk = zeros("K"), dv = zeros("V");
  Matrix sizes_of_dq = zeros("Q"), sizes_of_dk = zeros("K"), sizes_of_dv = zeros("V");  // sums of their terms without signs
  double most = 0;  // that a term of dS is before the other is taken off: with one key they are equal
  for (std::int64_t h = 0; h < s.heads; ++h)
    for (std::int64_t i = 0; i < s.queries && !stop.stop_requested(); ++i) {
      const std::int64_t query = s.query_row(h, i) * s.d;
      const float *q = array_of(t, "Q").data.data() + query, *grad = array_of(t, "dO").data.data() + s.query_row(h, i) * s.columns;
      const Matrix p = probabilities(t, s, h, i, seen_keys(s, i, Causal)).first;
      Matrix dp(p.size());
      double mean = 0;
      for (std::int64_t j = 0; j < s.keys; ++j) {
        dp[j] = dot(grad, array_of(t, "V").data.data() + s.key_row(h, j) * s.columns, s.columns);
        mean += p[j] * dp[j];
      }
      for (std::int64_t j = 0; j < s.keys; ++j) {
        const double ds = p[j] * (dp[j] - mean) * s.factor;
        most = std::max(most, std::fabs(p[j] * mean * s.factor));
        const std::int64_t key = s.key_row(h, j) * s.d, value = s.key_row(h, j) * s.columns;
        const float* k = array_of(t, "K").data.data() + key;
        for (std::int64_t c = 0; c < s.d; ++c) {
          dk[key + c] += ds * q[c];
          dq[query + c] += ds * k[c];
          sizes_of_dk[key + c] += std::fabs(ds * q[c]);
          sizes_of_dq[query + c] += std::fabs(ds * k[c]);
        }
        for (std::int64_t c = 0; c < s.columns; ++c) {
          dv[value + c] += p[j] * grad[c];
          sizes_of_dv[value + c] += std::fabs(p[j] * grad[c]);
        }
      }
    }
  // Where few terms are added, their rounding shows: half a unit of each time, twice where dS is made of a rounded P.
  const auto rounding = [](const Matrix& sizes, int times) {
    return times * kBf16Unit / 2 * (sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end()));
  };
  const auto add = [&](const char* name, Matrix values, const char* reason, double noise) {
    const double typical = rms(values);
    expected.push_back({name, std::move(values), {kBf16Unit, std::max(0.05 * typical, noise), 8e-3, reason}});
  };
  const double noise = kF32Sum * static_cast<double>(std::max(s.d, s.columns)) * most;
  add("dQ", std::move(dq), "dS is rounded to bf16 and P may be before it: about 3e-3 in the rms", noise + rounding(sizes_of_dq, 2));
  add("dK", std::move(dk), "dS and dK are rounded to bf16 and P may be before them: about 3e-3 in the rms",
      noise + rounding(sizes_of_dk, 2));
  add("dV", std::move(dv), "P and dV are rounded to bf16: about 3e-3 in the rms", rounding(sizes_of_dv, 1));
  return {};
}

// ---- the others

std::string layernorm(const TensorMap& t, const FormulaNumbers&, const std::stop_token& stop, std::vector<ExpectedTensor>& expected) {
  const Array &x = array_of(t, "X"), &gamma = array_of(t, "Gamma"), &beta = array_of(t, "Beta");
  const std::int64_t rows = x.shape[0], columns = x.shape[1];
  if (array_of(t, "Y").shape != x.shape || gamma.shape[0] != columns || beta.shape[0] != columns)
    return "X and Y [rows, columns], Gamma and Beta [columns]";
  Matrix y(x.data.size());
  for (std::int64_t r = 0; r < rows && !stop.stop_requested(); ++r) {
    const float* row = x.data.data() + r * columns;
    double mean = 0, variance = 0;
    for (std::int64_t c = 0; c < columns; ++c) mean += row[c] / static_cast<double>(columns);
    for (std::int64_t c = 0; c < columns; ++c) variance += (row[c] - mean) * (row[c] - mean) / static_cast<double>(columns);
    for (std::int64_t c = 0; c < columns; ++c)
      y[r * columns + c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * gamma.data[c] + beta.data[c];
  }
  expected.push_back({"Y", std::move(y), {kBf16Unit, 1e-5, 4e-3, "the result is rounded once to bf16 (2^-8); statistics are f32"}});
  return {};
}

/// Out = T * exp2(Q K) V
std::string toy(const TensorMap& t, const FormulaNumbers& numbers, const std::stop_token& stop, std::vector<ExpectedTensor>& expected) {
  const auto trips = numbers.params.find("T");
  const auto& shape = array_of(t, "Q").shape;
  if (trips == numbers.params.end()) return "a parameter T, the number of trips";
  for (const char* name : {"Q", "K", "V", "Out"})
    if (array_of(t, name).shape != shape || shape[0] != shape[1]) return "square Q, K, V and Out of one size";
  const std::int64_t n = shape[0];
  Matrix p = product(array_of(t, "Q").data.data(), array_of(t, "K").data.data(), {n, n, n}, stop);
  for (double& x : p) x = std::exp2(x);
  Matrix out(p.size(), 0.0);
  double most = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n && !stop.stop_requested(); ++j) {
      for (std::int64_t l = 0; l < n; ++l)
        out[i * n + j] += static_cast<double>(trips->second) * p[i * n + l] * array_of(t, "V").data[l * n + j];
      most = std::max(most, std::fabs(out[i * n + j]));
    }
  expected.push_back({"Out", std::move(out), {1e-5, 1e-5 * most, 1e-5, "everything is f32; exp2 passes on the rounding of Q K"}});
  return {};
}

constexpr std::array<Reference, 12> kReferences{{
    {"gemm", "A:2 B:2 C:2", "C = A B", nullptr, gemm},
    {"gemm_block_scaled", "A:2 B:2 SA:2 SB:2 D:2",
     "D = A B^T, the products of 128 columns times SA, a number per row of A, and SB, a number per 128 rows of B", nullptr,
     gemm_block_scaled},
    {"gemm_group_scaled", "W:2 S:2 X:2 D:2", "D = W X^T, the products of 128 columns times S, a number per row of W", nullptr,
     gemm_group_scaled},
    {"attention_forward", "Q:3 K:3 V:3 O:3", "O = softmax(Q K^T / sqrt(d)) V", nullptr, attention_forward<false>},
    {"attention_forward_causal", "Q:3 K:3 V:3 O:3", "O = softmax(Q K^T / sqrt(d)) V, a query sees the keys up to its own place", nullptr,
     attention_forward<true>},
    {"attention_forward_scaled", "Q:3 K:3 VT:3 SQ:2 SV:2 O:3",
     "O = softmax(|SQ| Q K^T / sqrt(d)) VT^T * SV, SQ a number per query, SV one per column of V", nullptr, attention_forward_scaled<true>},
    {"attention_forward_scaled_rows", "Q:3 K:3 V:3 SQ:2 SV:2 O:3",
     "O = softmax(|SQ| Q K^T / sqrt(d)) V * SV, SQ a number per query, SV one per column of V", nullptr, attention_forward_scaled<false>},
    {"attention_backward", "Q:3 K:3 V:3 dO:3 LSE:2 Delta:2 dQ:3 dK:3 dV:3", "the derivatives of softmax(Q K^T / sqrt(d)) V along dO",
     prepare_backward<false>, attention_backward<false>},
    {"attention_backward_causal", "Q:3 K:3 V:3 dO:3 LSE:2 Delta:2 dQ:3 dK:3 dV:3",
     "the derivatives of softmax(Q K^T / sqrt(d)) V along dO, a query sees the keys up to its own place", prepare_backward<true>,
     attention_backward<true>},
    {"swiglu_dual_gemm", "A:2 G:2 U:2 Out:2", "Out = silu(A G) * (A U)", nullptr, swiglu},
    {"layernorm", "X:2 Gamma:1 Beta:1 Y:2", "Y = (X - mean) / sqrt(variance + 1e-5) * Gamma + Beta, row by row", nullptr, layernorm},
    {"toy_fig1", "Q:2 K:2 V:2 Out:2", "Out = T * exp2(Q K) V", nullptr, toy},
}};

}  // namespace

double FormulaNumbers::of(std::string_view name) const {
  if (const auto param = params.find(name); param != params.end()) return static_cast<double>(param->second);
  const auto scalar = scalars.find(name);
  return scalar == scalars.end() ? 0 : scalar->second;
}

double softmax_scale(const FormulaNumbers& numbers, std::int64_t d) {
  const auto scale = numbers.scalars.find("scale");
  return scale == numbers.scalars.end() ? 1.0 / std::sqrt(static_cast<double>(d)) : scale->second;
}

std::span<const Reference> references() {
  static const std::vector<Reference> all = [] {
    std::vector<Reference> list(kReferences.begin(), kReferences.end());
    for (const auto more : {sparse_references(), varlen_references()}) list.insert(list.end(), more.begin(), more.end());
    return list;
  }();
  return all;
}

const Reference* find_reference(std::string_view name) {
  const auto all = references();
  const auto it = std::find_if(all.begin(), all.end(), [&](const Reference& r) { return name == r.name; });
  return it == all.end() ? nullptr : &*it;
}

Result<Ok> check_tensors(const Reference& reference, const TensorMap& tensors) {
  Error error;
  std::istringstream wanted(reference.tensors);
  for (std::string item; wanted >> item;) {
    const auto colon = item.find(':');
    const std::string name = item.substr(0, colon);
    const std::size_t rank = static_cast<std::size_t>(item[colon + 1] - '0');
    const auto it = tensors.find(name);
    if (it == tensors.end())
      error.faults.push_back({"", "/tensors", fmt::format("the formula '{}' needs a tensor '{}'", reference.name, name), reference.about});
    else if (it->second.array.shape.size() != rank)
      error.faults.push_back({"", "/tensors",
                              fmt::format("the formula '{}' needs tensor '{}' with {} dimensions, found {}", reference.name, name, rank,
                                          it->second.array.shape.size()),
                              reference.about});
  }
  if (!error.faults.empty()) return error;
  return Ok{};
}

}  // namespace heddle
