// A plan as bytes: numbers and texts one after the other, each part with its length in front.
#include "codegen/run/plan.h"

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <type_traits>

#include "core/kernel/packed.h"

namespace heddle::codegen {
namespace {

constexpr std::uint64_t kMark = 0x33304e5552445248;  // "HRDRUN03", bytes in memory order

struct Out {
  std::string bytes;
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void operator()(std::string& text) { size(text.size()), bytes += text; }
  void size(std::size_t count) {
    auto n = static_cast<std::uint64_t>(count);
    (*this)(n);
  }
};

struct In {
  std::string_view rest;
  bool good = true;
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void operator()(T& value) {
    if (rest.size() < sizeof value) return fail();
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
  }
  void operator()(std::string& text) {
    const std::size_t count = size(1);
    text = rest.substr(0, count);
    rest.remove_prefix(count);
  }
  /// Of a list whose items take at least `least` bytes.
  std::size_t size(std::size_t least) {
    std::uint64_t n = 0;
    (*this)(n);
    if (n > rest.size() / least) fail(), n = 0;
    return static_cast<std::size_t>(n);
  }
  void fail() { good = false, rest = {}; }
};

template <class T>
void pass(Out& out, std::vector<T>& list) {
  out.size(list.size());
  for (T& item : list) pass(out, item);
}
template <class T>
void pass(In& in, std::vector<T>& list) {
  for (std::size_t left = in.size(1); left > 0 && in.good; --left) pass(in, list.emplace_back());
}
template <class Number>
requires(std::is_same_v<Number, float> || std::is_same_v<Number, std::int32_t>) void pass(Out& out, std::vector<Number>& list) {
  out.size(list.size());
  out.bytes.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(Number));
}
template <class Number>
requires(std::is_same_v<Number, float> || std::is_same_v<Number, std::int32_t>) void pass(In& in, std::vector<Number>& list) {
  list.resize(in.size(sizeof(Number)));
  std::copy_n(in.rest.data(), list.size() * sizeof(Number), reinterpret_cast<char*>(list.data()));
  in.rest.remove_prefix(list.size() * sizeof(Number));
}
template <class Io, class T>
void pass(Io& io, std::optional<T>& part) {
  bool there = part.has_value();
  io(there);
  if (there && !part) part.emplace();
  if (there) pass(io, *part);
}
template <class Io, class T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string>) void pass(Io& io, T& value) { io(value); }
template <class Io, class... T>
void each(Io& io, T&... members) {
  (pass(io, members), ...);
}

template <class Io>
void pass(Io& io, TensorMapPlan& m) {
  each(io, m.tensor, m.extents, m.box, m.strides);
  auto bytes = static_cast<std::uint8_t>(m.swizzle);  // of older plans 1: 128
  io(bytes);
  m.swizzle = bytes == 1 ? 128 : bytes;
  if constexpr (std::is_same_v<Io, In>)
    if (m.swizzle != 0 && m.swizzle != 32 && m.swizzle != 64 && m.swizzle != 128) io.fail();
}
template <class Io>
void pass(Io& io, TensorPlan& t) {
  each(io, t.name, t.dtype, t.shape, t.role, t.packed, t.indices);
}
template <class Io>
void pass(Io& io, KernelPlan& k) {
  each(io, k.cubin, k.launch.entry, k.launch.threads, k.launch.cluster, k.launch.smem_bytes, k.launch.tiles, k.launch.maps,
       k.launch.pointers, k.record_words);
}
template <class Io>
void pass(Io& io, ReferencePlan& r) {
  each(io, r.cubin, r.entry, r.output, r.threads, r.slices, r.about);
}
template <class Io>
void pass(Io& io, Expected& e) {
  each(io, e.tensor, e.criterion, e.relative, e.absolute, e.rms, e.values);
}
template <class Io>
void pass(Io& io, CasePlan& c) {
  each(io, c.name, c.data, c.given, c.expected);
}
template <class Io>
void pass(Io& io, LibraryGemm& g) {
  each(io, g.a, g.b, g.c, g.m, g.n, g.k, g.b_transposed);
}
template <class Io>
void pass(Io& io, LibraryAttention& a) {
  each(io, a.q, a.k, a.v, a.o, a.heads, a.queries, a.keys, a.columns, a.causal);
}
template <class Io>
void pass(Io& io, LibraryPlan& p) {
  std::size_t which = p.index();
  io(which);
  if constexpr (std::is_same_v<Io, In>) {
    if (which == 1)
      p.emplace<1>();
    else if (which != 0)
      io.fail();
  }
  std::visit([&](auto& library) { pass(io, library); }, p);
}
template <class Io>
void pass(Io& io, RunPlan& p) {
  std::uint64_t mark = kMark;
  io(mark);
  if constexpr (std::is_same_v<Io, In>)
    if (mark != kMark) io.fail();
  each(io, p.kernel, p.machine, p.arch, p.tensors, p.plain, p.loop, p.ops, p.micros, p.reference, p.cases, p.libraries, p.no_library,
       p.flops, p.seed, p.repeats, p.left_out, p.launches, p.warmups, p.blocks, p.sustained_launches, p.pause_seconds);
}

/// Indices into the tensors, which the child uses without looking again.
bool consistent(const RunPlan& p) {
  const std::size_t n = p.tensors.size();
  const auto launch = [&](const KernelPlan& k) {
    if (k.launch.cluster < 1) return false;
    for (const TensorMapPlan& m : k.launch.maps)
      if (m.tensor >= n || m.extents.empty() || m.box.size() != m.extents.size() ||
          (!m.strides.empty() && m.strides.size() != m.extents.size()))
        return false;
    for (const std::size_t t : k.launch.pointers)
      if (t >= n) return false;
    return true;
  };
  const auto whole = [](const TensorPlan& t) {
    const std::size_t rank = t.shape.size();
    const int bits = bits_of(t.dtype);
    if (t.role == TensorRole::Index && (bits != 32 || static_cast<std::int64_t>(t.indices.size()) != t.elements())) return false;
    return t.packed == 0 || (rank >= 2 && (bits == 4 || (bits == 32 && t.packed <= 2)) && t.shape[rank - 2] % kPackedRows == 0 &&
                             t.shape[rank - 1] % packed_columns(bits) == 0);
  };
  if (!std::all_of(p.tensors.begin(), p.tensors.end(), whole)) return false;
  bool good = launch(p.plain) && (!p.loop || launch(*p.loop)) && (!p.ops || launch(*p.ops)) && (!p.reference || p.reference->output < n);
  for (const KernelPlan& micro : p.micros) good = good && launch(micro);
  for (const CasePlan& c : p.cases) {
    good = good && (c.given.empty() || c.given.size() == n);
    for (const Expected& e : c.expected)
      good = good && e.tensor < n && (e.values.empty() || static_cast<std::int64_t>(e.values.size()) == p.tensors[e.tensor].elements());
    for (std::size_t t = 0; good && t < c.given.size(); ++t)
      good = c.given[t].empty() || static_cast<std::int64_t>(c.given[t].size()) == p.tensors[t].elements();
  }
  const auto known = [&](std::initializer_list<std::size_t> tensors) {
    return std::all_of(tensors.begin(), tensors.end(), [&](std::size_t t) { return t < n; });
  };
  for (const LibraryPlan& library : p.libraries) {
    const auto* gemm = std::get_if<LibraryGemm>(&library);
    const auto* attention = std::get_if<LibraryAttention>(&library);
    good = good && (!gemm || known({gemm->a, gemm->b, gemm->c}));
    good = good && (!attention || known({attention->q, attention->k, attention->v, attention->o}));
  }
  return good;
}

}  // namespace

std::int64_t TensorPlan::elements() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}
std::int64_t TensorPlan::bytes() const { return (elements() * bits_of(dtype) + 7) / 8; }

const char* to_string(CasePlan::Data data) {
  switch (data) {
    case CasePlan::Data::Integers: return "small integers";
    case CasePlan::Data::Random: return "random";
    case CasePlan::Data::Outliers: return "random with outlier rows";
    case CasePlan::Data::Given: return "random, prepared";
  }
  return "";
}

std::string plan_bytes(const RunPlan& plan) {
  Out out;
  RunPlan copy = plan;  // pass() names members for reading too
  pass(out, copy);
  return std::move(out.bytes);
}

Result<RunPlan> parse_plan(std::string_view bytes) {
  In in{bytes};
  RunPlan plan;
  pass(in, plan);
  if (!in.good || !in.rest.empty() || !consistent(plan)) return Error::input("what came in is no plan of a run");
  return plan;
}

}  // namespace heddle::codegen
