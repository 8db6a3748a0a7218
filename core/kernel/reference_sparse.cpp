// The formulas follow the lists entry by entry: what is listed twice counts twice, and a -1 stands for zeros.
#include "core/kernel/reference_sparse.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/core.h>

namespace heddle {
namespace {

using Doubles = std::vector<double>;

/// Tensors by name, and numbers of index tensors.
class NamedTensors {
 public:
  explicit NamedTensors(const TensorMap& tensors) : tensors_(tensors) {}
  const Array& array(const char* name) const { return tensors_.find(name)->second.array; }
  std::int64_t extent(const char* name, std::size_t d) const { return array(name).shape[d]; }
  bool is(const char* name, const std::vector<std::int64_t>& shape) const { return array(name).shape == shape; }
  std::int64_t index(const char* name, std::int64_t place) const { return std::llround(array(name).data[static_cast<std::size_t>(place)]); }
  double largest(const char* name) const {
    double most = 0;
    for (const float x : array(name).data) most = std::max(most, std::fabs(static_cast<double>(x)));
    return most;
  }

 private:
  const TensorMap& tensors_;
};

Tolerance of_products(double terms, double largest) {
  return {kBf16Unit, kF32Sum * terms * largest, 4e-3,
          "the result is rounded once to bf16 (2^-8), sums are kept in f32 (2^-22 for each term)"};
}

Tolerance of_attention(const Doubles& out) {
  double sum = 0;
  for (const double x : out) sum += x * x;
  return {
      kBf16Unit, 0.05 * std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, out.size()))), 5e-3,
      "P and O are rounded to bf16: independent errors of 2^-9 give about 2e-3 in the rms; 5 % of the rms in one element is beyond 20 of "
      "their standard deviations"};
}

/// A query's row of the result over a list of keys, each with its row of K and V; none: zeros.
class Attended {
 public:
  Attended(const float* query, std::int64_t d, double scale) : query_(query), out_(static_cast<std::size_t>(d), 0.0), scale_(scale) {}
  /// Null rows are zeros.
  void key(const float* k, const float* v) {
    double score = 0;
    for (std::size_t c = 0; k && c < out_.size(); ++c) score += static_cast<double>(query_[c]) * k[c];
    scores_.push_back(score * scale_), values_.push_back(v);
  }
  Doubles result() {
    if (scores_.empty()) return out_;
    const double most = *std::max_element(scores_.begin(), scores_.end());
    double sum = 0;
    for (double& s : scores_) sum += s = std::exp(s - most);
    for (std::size_t j = 0; j < scores_.size(); ++j)
      for (std::size_t c = 0; values_[j] && c < out_.size(); ++c) out_[c] += scores_[j] / sum * values_[j][c];
    return out_;
  }

 private:
  const float* query_;
  Doubles out_, scores_;
  std::vector<const float*> values_;
  double scale_;
};

std::string attention_block_sparse(const TensorMap& tensors, const FormulaNumbers& numbers, const std::stop_token& stop,
                                   std::vector<ExpectedTensor>& expected) {
  const NamedTensors t(tensors);
  const std::int64_t heads = t.extent("Q", 0), queries = t.extent("Q", 1), d = t.extent("Q", 2), keys = t.extent("K", 1);
  const std::int64_t rows = t.extent("rowptr", 0) - 1;
  const auto keys_of_block = numbers.params.find("KV");
  if (!t.is("K", {heads, keys, d}) || !t.is("V", {heads, keys, d}) || !t.is("O", {heads, queries, d}) || rows < 1 || queries % rows != 0 ||
      keys_of_block == numbers.params.end() || keys % keys_of_block->second != 0)
    return "Q and O [heads, queries, d], K and V [heads, keys, d], rowptr [rows of blocks + 1], and a parameter KV: keys of a block";
  const std::int64_t height = queries / rows, width = keys_of_block->second;
  Doubles out;
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t i = 0; i < queries && !stop.stop_requested(); ++i) {
      Attended row(t.array("Q").data.data() + (h * queries + i) * d, d, softmax_scale(numbers, d));
      for (std::int64_t e = t.index("rowptr", i / height); e < t.index("rowptr", i / height + 1); ++e) {
        const std::int64_t block = t.index("colidx", e);
        for (std::int64_t j = 0; j < width; ++j) {
          const std::int64_t at = (h * keys + block * width + j) * d;
          row.key(block < 0 ? nullptr : t.array("K").data.data() + at, block < 0 ? nullptr : t.array("V").data.data() + at);
        }
      }
      const Doubles result = row.result();
      out.insert(out.end(), result.begin(), result.end());
    }
  const Tolerance tolerance = of_attention(out);
  expected.push_back({"O", std::move(out), tolerance});
  return {};
}

std::string attention_paged(const TensorMap& tensors, const FormulaNumbers& numbers, const std::stop_token& stop,
                            std::vector<ExpectedTensor>& expected) {
  const NamedTensors t(tensors);
  const std::int64_t sequences = t.extent("pages", 0), queries = t.extent("Q", 1), d = t.extent("Q", 2), page = t.extent("K", 1);
  const std::int64_t heads = t.extent("Q", 0) / std::max<std::int64_t>(1, sequences);
  if (heads < 1 || !t.is("Q", {sequences * heads, queries, d}) || !t.is("O", {sequences * heads, queries, d}) || t.extent("K", 2) != d ||
      t.array("V").shape != t.array("K").shape || t.extent("K", 0) % heads != 0 || !t.is("lengths", {sequences}))
    return "Q and O [sequences * heads, queries, d], K and V [pages * heads, keys of a page, d], pages [sequences, most], lengths "
           "[sequences]";
  Doubles out;
  for (std::int64_t s = 0; s < sequences; ++s)
    for (std::int64_t h = 0; h < heads; ++h)
      for (std::int64_t i = 0; i < queries && !stop.stop_requested(); ++i) {
        Attended row(t.array("Q").data.data() + ((s * heads + h) * queries + i) * d, d, softmax_scale(numbers, d));
        for (std::int64_t j = 0; j < t.index("lengths", s); ++j) {
          const std::int64_t number = t.index("pages", s * t.extent("pages", 1) + j / page);
          const std::int64_t at = ((number * heads + h) * page + j % page) * d;
          row.key(number < 0 ? nullptr : t.array("K").data.data() + at, number < 0 ? nullptr : t.array("V").data.data() + at);
        }
        const Doubles result = row.result();
        out.insert(out.end(), result.begin(), result.end());
      }
  const Tolerance tolerance = of_attention(out);
  expected.push_back({"O", std::move(out), tolerance});
  return {};
}

std::string gemm_grouped(const TensorMap& tensors, const FormulaNumbers&, const std::stop_token& stop,
                         std::vector<ExpectedTensor>& expected) {
  const NamedTensors t(tensors);
  const std::int64_t m = t.extent("A", 0), k = t.extent("A", 1), n = t.extent("B", 2), tiles = t.extent("expert", 0);
  if (t.extent("B", 1) != k || !t.is("C", {m, n}) || m % tiles != 0)
    return "C [M,N] = A [M,K] B [experts,K,N], expert: one for each tile of rows";
  Doubles out(static_cast<std::size_t>(m * n), 0.0);
  for (std::int64_t i = 0; i < m && !stop.stop_requested(); ++i) {
    const std::int64_t expert = t.index("expert", i / (m / tiles));
    for (std::int64_t l = 0; l < k && expert >= 0; ++l) {
      const double a = t.array("A").data[static_cast<std::size_t>(i * k + l)];
      const float* b = t.array("B").data.data() + (expert * k + l) * n;
      for (std::int64_t j = 0; j < n; ++j) out[static_cast<std::size_t>(i * n + j)] += a * b[j];
    }
  }
  expected.push_back({"C", std::move(out), of_products(static_cast<double>(k), t.largest("A") * t.largest("B"))});
  return {};
}

std::string spmm_bsr(const TensorMap& tensors, const FormulaNumbers&, const std::stop_token& stop, std::vector<ExpectedTensor>& expected) {
  const NamedTensors t(tensors);
  const std::int64_t rows = t.extent("rowptr", 0) - 1, height = t.extent("A", 1), width = t.extent("A", 2), n = t.extent("B", 1);
  if (rows < 1 || t.extent("A", 0) != t.extent("colidx", 0) || !t.is("C", {rows * height, n}) || t.extent("B", 0) % width != 0)
    return "C [rows * height, N] = sum of A [blocks, height, width] B [columns * width, N] over the blocks that rowptr and colidx list";
  Doubles out(static_cast<std::size_t>(rows * height * n), 0.0);
  std::int64_t longest = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    longest = std::max(longest, t.index("rowptr", r + 1) - t.index("rowptr", r));
    for (std::int64_t e = t.index("rowptr", r); e < t.index("rowptr", r + 1) && !stop.stop_requested(); ++e) {
      const std::int64_t column = t.index("colidx", e);
      for (std::int64_t i = 0; i < height && column >= 0; ++i)
        for (std::int64_t l = 0; l < width; ++l) {
          const double a = t.array("A").data[static_cast<std::size_t>((e * height + i) * width + l)];
          const float* b = t.array("B").data.data() + (column * width + l) * n;
          for (std::int64_t j = 0; j < n; ++j) out[static_cast<std::size_t>((r * height + i) * n + j)] += a * b[j];
        }
    }
  }
  expected.push_back({"C", std::move(out), of_products(static_cast<double>(longest * width), t.largest("A") * t.largest("B"))});
  return {};
}

std::string embedding_bag(const TensorMap& tensors, const FormulaNumbers&, const std::stop_token& stop,
                          std::vector<ExpectedTensor>& expected) {
  const NamedTensors t(tensors);
  const std::int64_t bags = t.extent("rowptr", 0) - 1, width = t.extent("Table", 1);
  if (bags < 1 || !t.is("Out", {bags, width}))
    return "Out [bags, D] = sums of the rows of Table [rows, D] that rowptr [bags + 1] and colidx list";
  Doubles out(static_cast<std::size_t>(bags * width), 0.0);
  std::int64_t longest = 0;
  for (std::int64_t b = 0; b < bags; ++b) {
    longest = std::max(longest, t.index("rowptr", b + 1) - t.index("rowptr", b));
    for (std::int64_t e = t.index("rowptr", b); e < t.index("rowptr", b + 1) && !stop.stop_requested(); ++e) {
      const std::int64_t row = t.index("colidx", e);
      for (std::int64_t c = 0; c < width && row >= 0; ++c)
        out[static_cast<std::size_t>(b * width + c)] += t.array("Table").data[static_cast<std::size_t>(row * width + c)];
    }
  }
  Tolerance tolerance = of_products(static_cast<double>(longest), t.largest("Table"));
  if (tensors.find("Out")->second.dtype == DType::F32)
    tolerance = {0, tolerance.absolute, 1e-6, "sums are kept in f32 (2^-22 for each term)"};
  expected.push_back({"Out", std::move(out), tolerance});
  return {};
}

std::string gemm_gather(const TensorMap& tensors, const FormulaNumbers&, const std::stop_token& stop,
                        std::vector<ExpectedTensor>& expected) {
  const NamedTensors t(tensors);
  const std::int64_t rows = t.extent("A", 0), k = t.extent("A", 1), n = t.extent("B", 1), m = t.extent("Rows", 0) * t.extent("Rows", 1);
  if (t.extent("B", 0) != k || !t.is("C", {m, n}))
    return "C [blocks * height, N] = the rows of A [M,K] that Rows [blocks, height] lists, B [K,N]";
  Doubles out(static_cast<std::size_t>(m * n), 0.0);
  for (std::int64_t i = 0; i < m && !stop.stop_requested(); ++i) {
    const std::int64_t row = t.index("Rows", i);
    for (std::int64_t l = 0; l < k && row >= 0 && row < rows; ++l) {
      const double a = t.array("A").data[static_cast<std::size_t>(row * k + l)];
      const float* b = t.array("B").data.data() + l * n;
      for (std::int64_t j = 0; j < n; ++j) out[static_cast<std::size_t>(i * n + j)] += a * b[j];
    }
  }
  expected.push_back({"C", std::move(out), of_products(static_cast<double>(k), t.largest("A") * t.largest("B"))});
  return {};
}

constexpr std::array kSparse{
    Reference{"attention_block_sparse", "Q:3 K:3 V:3 rowptr:1 colidx:1 O:3",
              "O = softmax(Q K^T / sqrt(d)) V over the blocks of keys that rowptr and colidx list for a block of queries", nullptr,
              attention_block_sparse},
    Reference{"attention_paged", "Q:3 K:3 V:3 pages:2 lengths:1 O:3",
              "O = softmax(Q K^T / sqrt(d)) V over the first `lengths` keys of a sequence, which `pages` says where to find", nullptr,
              attention_paged},
    Reference{"embedding_bag", "Table:2 rowptr:1 colidx:1 Out:2", "Out = sums of the rows of Table that rowptr and colidx list, a bag each",
              nullptr, embedding_bag},
    Reference{"gemm_gather", "Rows:2 A:2 B:2 C:2", "C = A B, the rows of A being those that Rows lists", nullptr, gemm_gather},
    Reference{"gemm_grouped", "A:2 B:3 expert:1 C:2", "C = A B, each tile of rows with the B of its expert", nullptr, gemm_grouped},
    Reference{"spmm_bsr", "A:3 rowptr:1 colidx:1 B:2 C:2", "C = A B, A made of the blocks that rowptr and colidx list", nullptr, spmm_bsr},
};

}  // namespace

std::span<const Reference> sparse_references() { return kSparse; }

}  // namespace heddle
