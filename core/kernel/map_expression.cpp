// An expression is a list of nodes, each behind those that it reads: it is computed, and counted, in one pass.
#include "core/kernel/map_expression.h"

#include <algorithm>
#include <cmath>

#include "core/base/assert.h"
#include "core/base/saturate.h"
#include "core/kernel/map_node.h"
#include "core/kernel/rounding.h"

namespace heddle {
namespace {

using F = MapFunction;

/// The larger (smaller) one; where one is no number, the first, as element functions have it.
float larger_of(float a, float b) { return a < b ? b : a; }
float smaller_of(float a, float b) { return b < a ? b : a; }

template <class T>
bool comparison_holds(MapFunction comparison, T a, T b) {
  switch (comparison) {
    case F::Less: return a < b;
    case F::LessEqual: return a <= b;
    case F::Greater: return a > b;
    case F::GreaterEqual: return a >= b;
    case F::Equal: return a == b;
    default: return a != b;
  }
}

std::int64_t whole_result(MapFunction f, std::int64_t a, std::int64_t b, std::int64_t c) {
  switch (f) {
    case F::Add: return sat_add(a, b);
    case F::Sub: return sat_add(a, -b);
    case F::Mul: return sat_mul(a, b);
    case F::Negate: return -a;
    case F::Max: return std::max(a, b);
    case F::Min: return std::min(a, b);
    case F::Abs: return a < 0 ? -a : a;
    case F::Select: return a != 0 ? b : c;
    case F::BitAnd: return a & b;
    case F::BitOr: return a | b;
    case F::BitXor: return a ^ b;
    case F::ShiftLeft: return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << std::clamp<std::int64_t>(b, 0, 63));
    case F::ShiftRight: return a >> std::clamp<std::int64_t>(b, 0, 63);
    case F::Wrap: {
      const std::int64_t above = 64 - std::clamp<std::int64_t>(b, 1, 32);
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) << above) >> above;
    }
    default: return a;
  }
}

/// Towards zero; the ends for what is beyond them, 0 for what is no number.
std::int64_t whole_of(float number) {
  constexpr float kEnd = 9.2e18f;
  if (!(number == number)) return 0;
  return static_cast<std::int64_t>(std::clamp(number, -kEnd, kEnd));
}

float real_result(MapFunction f, float a, float b, float c) {
  switch (f) {
    case F::Add: return a + b;
    case F::Sub: return a - b;
    case F::Mul: return a * b;
    case F::Div: return a / b;
    case F::Negate: return -a;
    case F::Max: return larger_of(a, b);
    case F::Min: return smaller_of(a, b);
    case F::Fma: return std::fma(a, b, c);
    case F::Select: return a != 0 ? b : c;
    case F::Pow: return std::pow(a, b);
    case F::Exp2: return std::exp2(a);
    case F::Exp: return std::exp(a);
    case F::Log2: return std::log2(a);
    case F::Log: return std::log(a);
    case F::Rsqrt: return 1.0f / std::sqrt(a);
    case F::Sqrt: return std::sqrt(a);
    case F::Recip: return 1.0f / a;
    case F::Abs: return std::fabs(a);
    case F::Floor: return std::floor(a);
    case F::Ceil: return std::ceil(a);
    case F::Sin: return std::sin(a);
    case F::Cos: return std::cos(a);
    case F::Tanh: return std::tanh(a);
    case F::Erf: return std::erf(a);
    case F::Sigmoid: return 1.0f / (1.0f + std::exp(-a));
    case F::Bf16: return round_to(DType::Bf16, a);
    case F::F16: return round_to(DType::F16, a);
    case F::E4m3: return round_to(DType::F8e4m3, a);
    case F::E5m2: return round_to(DType::F8e5m2, a);
    default: return a;
  }
}

}  // namespace

bool is_of_bits(MapFunction f) {
  return f == F::BitAnd || f == F::BitOr || f == F::BitXor || f == F::ShiftLeft || f == F::ShiftRight || f == F::Wrap;
}

bool is_comparison(MapFunction f) {
  return f == F::Less || f == F::LessEqual || f == F::Greater || f == F::GreaterEqual || f == F::Equal || f == F::NotEqual;
}

void compute_map_node(std::span<const MapNode> nodes, std::size_t n, MapSlot* slots) {
  const MapNode& node = nodes[n];
  const auto whole = [&](std::size_t k) { return k < node.operands ? slots[node.of[k]].whole : 0; };
  const auto real = [&](std::size_t k) {
    if (k >= node.operands) return 0.0f;
    return nodes[node.of[k]].whole ? static_cast<float>(slots[node.of[k]].whole) : slots[node.of[k]].real;
  };
  if (is_comparison(node.function)) {
    const bool both = nodes[node.of[0]].whole && nodes[node.of[1]].whole;
    slots[n].whole = both ? comparison_holds(node.function, whole(0), whole(1)) : comparison_holds(node.function, real(0), real(1));
  } else if (is_of_bits(node.function)) {
    const auto bits = [&](std::size_t k) { return nodes[node.of[k]].whole ? whole(k) : whole_of(slots[node.of[k]].real); };
    slots[n].whole = whole_result(node.function, bits(0), bits(1), 0);
  } else if (node.whole) {
    slots[n].whole = whole_result(node.function, whole(0), whole(1), whole(2));
  } else if (node.function == F::Select && nodes[node.of[0]].whole) {
    slots[n].real = whole(0) != 0 ? real(1) : real(2);
  } else {
    slots[n].real = real_result(node.function, real(0), real(1), real(2));
  }
}

float MapExpression::evaluate(std::span<const float> x, std::int64_t row, std::int64_t col, std::span<const std::int64_t> at) const {
  std::array<MapSlot, kMostNodes> slots;  // filled in the order of the list, each before it is read
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const MapNode& node = nodes_[n];
    switch (node.function) {
      case F::Input:
        HEDDLE_ASSERT(node.input < x.size(), "as many numbers as inputs were said to parse()");
        slots[n].real = x[node.input];
        break;
      case F::Number:
        if (node.whole)
          slots[n].whole = node.whole_number;
        else
          slots[n].real = node.number;
        break;
      case F::Row: slots[n].whole = row; break;
      case F::Column: slots[n].whole = col; break;
      case F::At:
        HEDDLE_ASSERT(node.input < at.size(), "as many places as places() says");
        slots[n].whole = saturate(at[node.input]);
        break;
      default: compute_map_node(nodes_, n, slots.data());
    }
  }
  return nodes_.back().whole ? static_cast<float>(slots[nodes_.size() - 1].whole) : slots[nodes_.size() - 1].real;
}

bool MapExpression::uses(MapFunction function) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const MapNode& node) { return node.function == function; });
}

bool MapExpression::uses_place(std::size_t place) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const MapNode& node) { return node.function == F::At && node.input == place; });
}

std::size_t MapExpression::places() const {
  std::size_t count = 0;
  for (const MapNode& node : nodes_)
    if (node.function == F::At) count = std::max(count, node.input + 1);
  return count;
}

bool MapExpression::uses_input(std::size_t input) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const MapNode& node) { return node.function == F::Input && node.input == input; });
}

MapExpression::Counts MapExpression::counts() const {
  const std::size_t size = nodes_.size();
  std::vector<int> readers(size, 0);
  // The same for all elements; computed of inputs; a product that becomes part of a sum.
  std::vector<bool> uniform(size), data(size), joins(size, false);
  for (std::size_t n = 0; n < size; ++n) {
    const F f = nodes_[n].function;
    uniform[n] = f != F::Input && f != F::Row && f != F::Column;
    data[n] = f == F::Input;
    for (std::size_t k = 0; k < nodes_[n].operands; ++k) {
      ++readers[nodes_[n].of[k]];
      uniform[n] = uniform[n] && uniform[nodes_[n].of[k]];
      data[n] = data[n] || data[nodes_[n].of[k]];
    }
  }
  for (std::size_t n = 0; n < size; ++n) {
    const MapNode& node = nodes_[n];
    if (node.whole || (node.function != F::Add && node.function != F::Sub)) continue;
    for (std::size_t k = 0; k < 2; ++k) {
      std::size_t from = node.of[k];
      while (nodes_[from].function == F::Negate && readers[from] == 1) from = nodes_[from].of[0];
      if (nodes_[from].function != F::Mul || nodes_[from].whole || readers[from] != 1 || uniform[from]) continue;
      joins[from] = true;
      break;
    }
  }
  Counts c;
  for (std::size_t n = 0; n < size; ++n) {
    const MapNode& node = nodes_[n];
    if (uniform[n] || joins[n] || node.operands == 0) continue;
    if (node.whole) {
      // Sums of coordinates are made once per thread, or are part of the text.
      c.alu += data[n] || (node.function != F::Add && node.function != F::Sub && node.function != F::Negate);
      continue;
    }
    switch (node.function) {
      case F::Add:
      case F::Sub:
      case F::Mul:
      case F::Fma: ++c.fma; break;
      case F::Div: {
        const MapNode& by = nodes_[node.of[1]];
        const MapNode& of = nodes_[node.of[0]];
        if (!by.constant) ++c.mufu;
        if (!of.constant || of.number != 1.0f) ++c.fma;
        break;
      }
      case F::Max:
      case F::Min:
      case F::Select:
      case F::Abs:
      case F::Floor:
      case F::Ceil:
      case F::Bf16:
      case F::F16:
      case F::E4m3:
      case F::E5m2: ++c.alu; break;
      case F::Exp2:
      case F::Log2:
      case F::Rsqrt:
      case F::Sqrt:
      case F::Recip:
      case F::Tanh: ++c.mufu; break;
      case F::Exp:
      case F::Log: ++c.mufu, ++c.fma; break;
      case F::Sigmoid: c.mufu += 2, c.fma += 2; break;
      case F::Sin:
      case F::Cos: ++c.mufu, c.fma += 3, ++c.alu; break;
      case F::Erf: ++c.mufu, c.fma += 12, c.alu += 4; break;
      case F::Pow: c.mufu += 2, c.fma += 8, c.alu += 4; break;
      default: break;
    }
  }
  if (c == Counts{}) c.fma = 1;
  return c;
}

MapExpression::Counts map_counts(const TileOp& op) {
  MapExpression::Counts counts;
  if (const auto* expr = op.attr<std::string>("expr"))
    if (const auto parsed = MapExpression::parse(*expr, op.inputs.size()); parsed.ok()) counts = parsed->counts();
  const auto given = [&](const char* name, std::int64_t& count) {
    if (const auto* number = op.attr<std::int64_t>(name)) count = *number;
  };
  given("fma", counts.fma);
  given("alu", counts.alu);
  given("mufu", counts.mufu);
  return counts;
}

}  // namespace heddle
