// Each sequence is cut out and given to the formula of tensors that have one length; what it answers is put where the sequence lies. Of a
// causal mask queries that see no key are left out before.
#include "core/kernel/reference_varlen.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

namespace heddle {
namespace {

/// Rows of one sequence.
struct Rows {
  std::int64_t first = 0, count = 0;
};
struct Sequence {
  std::int64_t number = 0;
  Rows queries, keys;
};

constexpr std::array kOfQueries{"Q", "O", "dO", "dQ"}, kOfKeys{"K", "V", "dK", "dV"};
constexpr std::array kStatistics{"LSE", "Delta"};
constexpr float kNoQuery = 1e30f;  ///< LSE where there is no query: its powers are 0

class Sequences {
 public:
  explicit Sequences(const TensorMap& tensors) : tensors_(tensors) {}

  /// Why the tensors do not fit each other; empty: they do.
  std::string misfit() const {
    const auto& q = shape("Q");
    const auto& k = shape("K");
    const std::int64_t count = shape("cu_seqlens_q")[0] - 1;
    bool fits = count >= 1 && shape("cu_seqlens_k")[0] == count + 1 && k[0] > 0 && q[0] % k[0] == 0 && q[2] == k[2];
    for (const char* name : kOfQueries) fits = fits && (!has(name) || shape(name) == q);
    for (const char* name : kOfKeys) fits = fits && (!has(name) || shape(name) == k);
    for (const char* name : kStatistics) fits = fits && (!has(name) || (shape(name).size() == 2 && shape(name)[0] == count * q[0]));
    if (fits && ends("cu_seqlens_q") <= q[1] && ends("cu_seqlens_k") <= k[1]) return {};
    return "tensors of queries [heads, queries, d] and of keys [heads, or one for each group of them, keys, d], cu_seqlens_q and "
           "cu_seqlens_k [sequences + 1] up to the numbers of both, LSE and Delta [sequences * heads, queries of the longest]";
  }

  std::vector<Sequence> all() const {
    std::vector<Sequence> sequences;
    for (std::int64_t s = 0; s + 1 < shape("cu_seqlens_q")[0]; ++s)
      sequences.push_back({s, rows("cu_seqlens_q", s), rows("cu_seqlens_k", s)});
    return sequences;
  }

  bool has(const char* name) const { return tensors_.contains(name); }
  const std::vector<std::int64_t>& shape(const char* name) const { return tensors_.find(name)->second.array.shape; }

  /// The tensors of one sequence by itself; outputs and statistics have a shape and zeros.
  TensorMap cut(const Sequence& sequence) const {
    TensorMap own;
    for (const char* name : kOfQueries) cut(name, sequence.queries, own);
    for (const char* name : kOfKeys) cut(name, sequence.keys, own);
    for (const char* name : kStatistics)
      if (has(name)) {
        GlobalTensor& made = own[name];
        made.array.shape = {shape("Q")[0], sequence.queries.count};
        made.array.data.resize(static_cast<std::size_t>(made.array.shape[0] * made.array.shape[1]));
      }
    return own;
  }

  /// Of a tensor of results: those of keys may have fewer.
  std::int64_t heads(const std::string& name) const { return shape(is_of_keys(name) ? "K" : "Q")[0]; }

  /// Where a head's rows of the sequence begin in the tensor, and how many numbers they are.
  std::pair<std::int64_t, std::int64_t> place(const std::string& name, const Sequence& sequence, std::int64_t head) const {
    const auto& extents = shape(name.c_str());
    if (extents.size() == 2) {
      // Queries that see no key were left out in front.
      const std::int64_t behind = sequence.queries.first - rows("cu_seqlens_q", sequence.number).first;
      return {(sequence.number * shape("Q")[0] + head) * extents[1] + behind, sequence.queries.count};
    }
    const Rows& own = is_of_keys(name) ? sequence.keys : sequence.queries;
    return {(head * extents[1] + own.first) * extents[2], own.count * extents[2]};
  }

 private:
  static bool is_of_keys(const std::string& name) { return std::find(kOfKeys.begin(), kOfKeys.end(), name) != kOfKeys.end(); }
  std::int64_t number(const char* name, std::int64_t at) const {
    return std::llround(tensors_.find(name)->second.array.data[static_cast<std::size_t>(at)]);
  }
  std::int64_t ends(const char* name) const { return number(name, shape(name)[0] - 1); }
  Rows rows(const char* name, std::int64_t s) const { return {number(name, s), number(name, s + 1) - number(name, s)}; }

  void cut(const char* name, const Rows& rows, TensorMap& own) const {
    if (!has(name)) return;
    const GlobalTensor& whole = tensors_.find(name)->second;
    const auto& extents = whole.array.shape;
    GlobalTensor& made = own[name];
    made.dtype = whole.dtype;
    made.array.shape = {extents[0], rows.count, extents[2]};
    for (std::int64_t h = 0; h < extents[0]; ++h) {
      const auto from = whole.array.data.begin() + (h * extents[1] + rows.first) * extents[2];
      made.array.data.insert(made.array.data.end(), from, from + rows.count * extents[2]);
    }
  }

  const TensorMap& tensors_;
};

/// Those whose queries see keys, with these queries alone.
std::vector<Sequence> seeing(const Sequences& sequences, bool causal) {
  std::vector<Sequence> kept;
  for (Sequence s : sequences.all()) {
    const std::int64_t blind = s.keys.count == 0 ? s.queries.count : causal ? std::max<std::int64_t>(0, s.queries.count - s.keys.count) : 0;
    s.queries.first += blind, s.queries.count -= blind;
    if (s.queries.count > 0) kept.push_back(s);
  }
  return kept;
}

const Reference& dense(const char* name) { return *find_reference(name); }

template <bool Causal>
void prepare_backward_varlen(TensorMap& tensors, const FormulaNumbers& numbers, const std::stop_token& stop) {
  const Sequences sequences(tensors);
  if (!sequences.misfit().empty()) return;
  for (const auto& [name, value] : {std::pair{"LSE", kNoQuery}, {"Delta", 0.0f}}) {
    auto& data = tensors.find(name)->second.array.data;
    std::fill(data.begin(), data.end(), value);
  }
  for (const Sequence& s : seeing(sequences, Causal)) {
    TensorMap own = sequences.cut(s);
    dense(Causal ? "attention_backward_causal" : "attention_backward").prepare(own, numbers, stop);
    for (const char* name : kStatistics) {
      auto from = own.find(name)->second.array.data.begin();
      for (std::int64_t h = 0; h < sequences.shape("Q")[0]; ++h) {
        const auto [at, count] = sequences.place(name, s, h);
        std::copy_n(from, count, tensors.find(name)->second.array.data.begin() + at);
        from += count;
      }
    }
  }
}

/// By the formula of this name. What belongs to no sequence may be anything; queries that see no key have zeros, and so have keys that none
/// sees.
std::string by_sequence(const char* formula, const TensorMap& tensors, const FormulaNumbers& numbers, const std::stop_token& stop,
                        std::vector<ExpectedTensor>& expected) {
  const Sequences sequences(tensors);
  if (std::string why = sequences.misfit(); !why.empty()) return why;
  const bool causal = std::string_view(formula).ends_with("causal");
  const auto fill = [&](ExpectedTensor& e, const Sequence& s, double value) {
    for (std::int64_t h = 0; h < sequences.heads(e.tensor); ++h) {
      const auto [at, count] = sequences.place(e.tensor, s, h);
      std::fill_n(e.values.begin() + at, count, value);
    }
  };
  for (const auto& [name, tensor] : tensors) {
    if (!is_written(tensor.role)) continue;
    expected.push_back({name, std::vector<double>(tensor.array.data.size(), std::numeric_limits<double>::quiet_NaN()), {}});
    if (tensor.array.shape.size() == 3)
      for (const Sequence& s : sequences.all()) fill(expected.back(), s, 0.0);
  }
  for (const Sequence& s : seeing(sequences, causal)) {
    std::vector<ExpectedTensor> own;
    if (std::string why = dense(formula).compute(sequences.cut(s), numbers, stop, own); !why.empty()) return why;
    for (const ExpectedTensor& part : own) {
      const auto whole = std::find_if(expected.begin(), expected.end(), [&](const ExpectedTensor& e) { return e.tensor == part.tensor; });
      if (whole == expected.end()) continue;
      Tolerance& all = whole->tolerance;
      all = {std::max(all.relative, part.tolerance.relative), std::max(all.absolute, part.tolerance.absolute),
             std::max(all.rms, part.tolerance.rms), part.tolerance.reason};
      auto from = part.values.begin();
      for (std::int64_t h = 0; h < sequences.heads(part.tensor) && !stop.stop_requested(); ++h) {
        const auto [at, count] = sequences.place(part.tensor, s, h);
        std::copy_n(from, count, whole->values.begin() + at);
        from += count;
      }
    }
  }
  return {};
}

template <bool Causal>
std::string forward(const TensorMap& t, const FormulaNumbers& numbers, const std::stop_token& stop, std::vector<ExpectedTensor>& expected) {
  return by_sequence(Causal ? "attention_forward_causal" : "attention_forward", t, numbers, stop, expected);
}
template <bool Causal>
std::string backward(const TensorMap& t, const FormulaNumbers& numbers, const std::stop_token& stop,
                     std::vector<ExpectedTensor>& expected) {
  return by_sequence(Causal ? "attention_backward_causal" : "attention_backward", t, numbers, stop, expected);
}

/// Row sums of dO * O over the root of their length, or times what the kernel has for it.
std::string delta(const TensorMap& t, const FormulaNumbers& numbers, const std::stop_token& stop, std::vector<ExpectedTensor>& expected) {
  const auto array = [&](const char* name) -> const Array& { return t.find(name)->second.array; };
  const Array &o = array("O"), &grad = array("dO"), &starts = array("cu_seqlens_q"), &result = array("Delta");
  const std::int64_t heads = o.shape[0], rows = o.shape[1], d = o.shape[2], sequences = starts.shape[0] - 1;
  if (grad.shape != o.shape || result.shape[0] != sequences * heads || sequences < 1 || std::llround(starts.data.back()) > rows)
    return "O and dO [heads, queries, d], cu_seqlens_q [sequences + 1], Delta [sequences * heads, queries of the longest]";
  const double scale = softmax_scale(numbers, d);
  std::vector<double> sums(result.data.size(), std::numeric_limits<double>::quiet_NaN());
  double most = 0;
  for (std::int64_t s = 0; s < sequences; ++s)
    for (std::int64_t h = 0; h < heads && !stop.stop_requested(); ++h)
      for (std::int64_t i = std::llround(starts.data[s]); i < std::llround(starts.data[s + 1]); ++i) {
        double sum = 0, size = 0;
        for (std::int64_t c = 0; c < d; ++c) {
          const double product = static_cast<double>(o.data[(h * rows + i) * d + c]) * grad.data[(h * rows + i) * d + c];
          sum += product, size += std::fabs(product);
        }
        most = std::max(most, size);
        sums[(s * heads + h) * result.shape[1] + i - std::llround(starts.data[s])] = sum * scale;
      }
  expected.push_back(
      {"Delta", std::move(sums), {1e-6, kF32Sum * static_cast<double>(d) * most, 1e-5, "sums are kept in f32 (2^-22 for each term)"}});
  return {};
}

constexpr const char* kForward = "cu_seqlens_q:1 cu_seqlens_k:1 Q:3 K:3 V:3 O:3";
constexpr const char* kBackward = "cu_seqlens_q:1 cu_seqlens_k:1 Q:3 K:3 V:3 dO:3 LSE:2 Delta:2 dQ:3 dK:3 dV:3";

constexpr std::array kVarlen{
    Reference{"attention_delta_varlen", "cu_seqlens_q:1 O:3 dO:3 Delta:2", "Delta = rowsum(dO * O) / sqrt(d) in each sequence", nullptr,
              delta},
    Reference{"attention_forward_varlen", kForward, "O = softmax(Q K^T / sqrt(d)) V in each sequence", nullptr, forward<false>},
    Reference{"attention_forward_causal_varlen", kForward,
              "O = softmax(Q K^T / sqrt(d)) V in each sequence, whose last query sees all of its keys, the one before it one less", nullptr,
              forward<true>},
    Reference{"attention_backward_varlen", kBackward, "the derivatives of softmax(Q K^T / sqrt(d)) V along dO in each sequence",
              prepare_backward_varlen<false>, backward<false>},
    Reference{"attention_backward_causal_varlen", kBackward,
              "the derivatives of softmax(Q K^T / sqrt(d)) V along dO in each sequence, whose last query sees all of its keys, the one "
              "before it one less",
              prepare_backward_varlen<true>, backward<true>},
};

}  // namespace

std::span<const Reference> varlen_references() { return kVarlen; }

}  // namespace heddle
