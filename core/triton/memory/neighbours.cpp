// Rules of Triton's lib/Analysis/AxisInfo.cpp (2025 and 2026), restated: each op's result follows from its operands, what a loop hands on
// is what both its beginning and its turns allow, and what no rule speaks of is not known at all.
#include "core/triton/memory/neighbours.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include "core/base/words.h"
#include "core/triton/read/linear.h"

namespace heddle::triton {
namespace {

using mlir::Op;
using mlir::OpId;
using mlir::ValueId;

constexpr std::int64_t kMost = std::int64_t{1} << 62;  ///< what zero is divisible by
constexpr int kRoundsToSettle = 16;

std::int64_t power_of_two_in(std::int64_t value) {
  return value == 0 ? kMost : std::int64_t{1} << std::min(62, std::countr_zero(static_cast<std::uint64_t>(value)));
}

/// Nothing is known of the other one where it is 0.
std::int64_t common(std::int64_t a, std::int64_t b) { return a == 0 ? b : b == 0 ? a : std::gcd(a, b); }
std::int64_t common(std::int64_t a, std::int64_t b, std::int64_t c) { return common(common(a, b), c); }

std::int64_t times(std::int64_t a, std::int64_t b) { return b > 0 && a > kMost / b ? kMost : a * b; }

/// Where rows become shorter, their first elements are other ones.
std::int64_t common_divisor(const Axis& a, const Axis& b) {
  const std::int64_t both = common(a.divisibility, b.divisibility);
  const bool same = a.contiguity == b.contiguity || a.contiguity == kMost || b.contiguity == kMost;
  return same ? both : common(both, a.contiguity, b.contiguity);
}

Axis either(const Axis& a, const Axis& b) {
  return {common(a.contiguity, b.contiguity), common_divisor(a, b), common(a.constancy, b.constancy)};
}

/// "16", "true", "dense<16>": what a constant is.
std::optional<std::int64_t> whole_number(std::string_view words) {
  if (words.starts_with("dense<")) words.remove_prefix(6);
  if (words.starts_with("true")) return 1;
  if (words.starts_with("false")) return 0;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), number);
  const std::string_view rest(end, static_cast<std::size_t>(words.data() + words.size() - end));
  if (error != std::errc{} || (!rest.empty() && rest.front() != '>' && rest.front() != ' ')) return std::nullopt;
  return number;
}

/// "dense<16> : tensor<1xi32>", "16 : i32", "dense<[1, 16]>": what a hint says of a dimension.
std::optional<std::int64_t> hint(const std::vector<mlir::Attribute>& attributes, std::string_view name, std::size_t dimension) {
  const auto found = std::ranges::find(attributes, name, &mlir::Attribute::name);
  if (found == attributes.end()) return std::nullopt;
  const std::string_view text = std::string_view(found->value).substr(0, found->value.find(':'));
  std::vector<std::int64_t> numbers;
  for (std::size_t i = text.find_first_of("0123456789"); i < text.size(); i = text.find_first_of("0123456789", i)) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data() + i, text.data() + text.size(), number);
    if (error != std::errc{} || number < 1) return std::nullopt;
    numbers.push_back(number);
    i = static_cast<std::size_t>(end - text.data());
  }
  if (numbers.empty()) return std::nullopt;
  return numbers.size() == 1 ? numbers.front() : dimension < numbers.size() ? std::optional(numbers[dimension]) : std::nullopt;
}

void take_hints(const std::vector<mlir::Attribute>& attributes, std::vector<Axis>& axes) {
  for (std::size_t d = 0; d < axes.size(); ++d) {
    if (const auto told = hint(attributes, "tt.contiguity", d)) axes[d].contiguity = *told;
    if (const auto told = hint(attributes, "tt.divisibility", d)) axes[d].divisibility = *told;
    if (const auto told = hint(attributes, "tt.constancy", d)) axes[d].constancy = *told;
  }
}

/// The dimension along which a thread's first elements lie.
std::size_t fastest(const Linear& linear) {
  for (const auto* part : {&linear.registers, &linear.lanes, &linear.warps})
    for (const std::uint32_t basis : *part)
      for (std::size_t d = 0; d < linear.bits.size(); ++d)
        if (linear.bits[d] > 0 && ((basis >> linear.offset(d)) & ((1u << linear.bits[d]) - 1)) != 0) return d;
  return 0;
}

}  // namespace

Neighbours::Neighbours(const TritonProgram& program) : program_(program), module_(*program.module), known_(program.module->values.size()) {
  for (int round = 0; round < kRoundsToSettle; ++round) {
    bool changed = false;
    for (std::size_t i = 0; i < module_.ops.size(); ++i) changed |= visit(OpId(i));
    if (!changed) return;
  }
  known_.assign(known_.size(), {});  // it does not settle: nothing is known
}

std::int64_t Neighbours::copied_at_once(const Op& load) const {
  const Type& tile = program_.type(load.results.front());
  const std::optional<Linear> linear = linear_of(tile);
  if (!linear || load.operands.empty()) return kMost;
  const std::size_t d = fastest(*linear);
  std::int64_t row = 1;
  for (std::size_t i = 0; i < linear->registers.size() && row < (std::int64_t{1} << linear->bits[d]); ++i, row *= 2)
    if (linear->registers[i] != static_cast<std::uint32_t>(row) << linear->offset(d)) break;
  const auto axis = [&](ValueId value) {
    const Known& known = known_[value.index()];
    return d < known.axes.size() ? known.axes[d] : Axis{};
  };
  const Axis address = axis(load.operands.front());
  const std::int64_t bytes = std::max<std::int64_t>(1, tile.tile.bits / 8);
  row = std::min({row, address.contiguity, std::max<std::int64_t>(1, address.divisibility / bytes)});
  if (load.operands.size() > 1) row = std::min(row, axis(load.operands[1]).constancy);
  return row * tile.tile.bits / 8;
}

Neighbours::Known Neighbours::nothing(ValueId value) const {
  return {std::vector<Axis>(std::max<std::size_t>(1, program_.type(value).tile.shape.size())), std::nullopt};
}

bool Neighbours::join(ValueId into, const Known& known) {
  Known& old = known_[into.index()];
  if (known.axes.empty()) return false;
  Known next = known;
  if (!old.axes.empty() && old.axes.size() == known.axes.size()) {
    for (std::size_t d = 0; d < next.axes.size(); ++d) next.axes[d] = either(old.axes[d], known.axes[d]);
    if (old.constant != known.constant) next.constant.reset();
  }
  const auto same = [](const Axis& a, const Axis& b) {
    return a.contiguity == b.contiguity && a.divisibility == b.divisibility && a.constancy == b.constancy;
  };
  if (std::ranges::equal(old.axes, next.axes, same) && old.constant == next.constant) return false;
  old = std::move(next);
  return true;
}

bool Neighbours::visit(OpId id) {
  const Op& op = module_.op(id);
  bool changed = false;
  const auto hand_on = [&](ValueId from, ValueId to) { changed |= join(to, known_[from.index()]); };
  // What no rule reaches is not known.
  for (const mlir::RegionId region : op.regions)
    for (const mlir::BlockId block : module_.region(region).blocks) {
      const std::vector<ValueId>& arguments = module_.block(block).arguments;
      for (std::size_t k = 0; k < arguments.size(); ++k) {
        if (op.name == "scf.for" && k == 0 && op.operands.size() > 2) {
          Known counter = nothing(arguments[k]);
          const Known &low = known_[op.operands[0].index()], &step = known_[op.operands[2].index()];
          if (!low.axes.empty() && !step.axes.empty())
            counter.axes[0].divisibility = common(low.axes[0].divisibility, step.axes[0].divisibility);
          changed |= join(arguments[k], counter);
        } else if (op.name == "scf.for" && k + 2 < op.operands.size()) {
          hand_on(op.operands[k + 2], arguments[k]);
        } else if (op.name.starts_with("ttg.warp_specialize") && k < op.operands.size()) {
          hand_on(op.operands[k], arguments[k]);
        } else if (op.name != "scf.for") {
          Known start = nothing(arguments[k]);
          take_hints(module_.value(arguments[k]).attributes, start.axes);
          changed |= join(arguments[k], start);
        }
      }
    }
  if (op.name == "scf.for") {
    for (std::size_t k = 0; k < op.results.size() && k + 3 < op.operands.size(); ++k) hand_on(op.operands[k + 3], op.results[k]);
    return changed;
  }
  if (op.name == "scf.yield") {
    const OpId around = module_.around(id);
    if (!around.valid()) return changed;
    const Op& parent = module_.op(around);
    const mlir::Block* body = parent.name == "scf.for" ? module_.body(around) : nullptr;
    for (std::size_t k = 0; k < op.operands.size() && (parent.name == "scf.for" || parent.name == "scf.if"); ++k) {
      if (k < parent.results.size()) hand_on(op.operands[k], parent.results[k]);
      if (body && k + 1 < body->arguments.size()) hand_on(op.operands[k], body->arguments[k + 1]);
    }
    return changed;
  }
  if (op.results.empty() || op.name == "scf.if") return changed;
  // Operands that nothing has reached yet are those of a later round.
  if (std::ranges::any_of(op.operands, [&](ValueId v) { return known_[v.index()].axes.empty(); })) return changed;
  std::optional<Known> known = result_of(op);
  for (const ValueId result : op.results) {
    Known mine = known && known->axes.size() == nothing(result).axes.size() ? *known : nothing(result);
    take_hints(op.attributes, mine.axes);
    changed |= join(result, mine);
  }
  return changed;
}

std::optional<Neighbours::Known> Neighbours::result_of(const Op& op) const {
  const std::string_view name = op.name;
  const Type& type = program_.type(op.results.front());
  const std::vector<std::int64_t>& shape = type.tile.shape;
  const auto operand = [&](std::size_t i) -> const Known& { return known_[op.operands[i].index()]; };
  if (name == "arith.constant") {
    const std::optional<std::int64_t> value = whole_number(op.words);
    if (!value) return std::nullopt;
    Known known = nothing(op.results.front());
    known.constant = value;
    for (std::size_t d = 0; d < known.axes.size(); ++d) known.axes[d] = {1, power_of_two_in(*value), d < shape.size() ? shape[d] : 1};
    return known;
  }
  if (name == "tt.make_range") {
    const std::int64_t start = op.integer("start", 0), end = op.integer("end", 0);
    return Known{{{end - start, power_of_two_in(start), 1}}, std::nullopt};
  }
  if (op.operands.empty()) return std::nullopt;
  const Known& a = operand(0);
  if (one_of(name, {"arith.extsi", "arith.extui", "arith.trunci", "tt.bitcast"}) || name.ends_with(".convert_layout")) return a;
  if (name == "tt.splat") {
    Known known{{}, a.constant};
    for (const std::int64_t extent : shape) known.axes.push_back({1, a.axes[0].divisibility, extent});
    return known;
  }
  if (name == "tt.expand_dims") {
    const auto at = static_cast<std::size_t>(std::max<std::int64_t>(0, op.integer("axis", 0)));
    if (at > a.axes.size()) return std::nullopt;
    std::int64_t divisor = a.constant ? power_of_two_in(*a.constant) : 0;
    for (std::size_t d = 0; d < a.axes.size() && !a.constant; ++d)
      divisor = common(divisor, a.axes[d].contiguity > 1 ? 1 : a.axes[d].divisibility);
    Known known = a;
    known.axes.insert(known.axes.begin() + static_cast<std::ptrdiff_t>(at), {1, divisor, 1});
    return known;
  }
  if (name == "tt.broadcast") {
    const std::vector<std::int64_t>& before = program_.operand_type(op, 0).tile.shape;
    if (before.size() != shape.size() || a.axes.size() != shape.size()) return std::nullopt;
    Known known = a;
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (before[d] == 1) known.axes[d].contiguity = 1, known.axes[d].constancy = shape[d];
    return known;
  }
  if (name == "tt.load") {
    Known known = nothing(op.results.front());
    if (a.axes.size() != known.axes.size()) return std::nullopt;
    for (std::size_t d = 0; d < known.axes.size(); ++d)
      known.axes[d].constancy =
          common(a.axes[d].constancy, op.operands.size() > 1 && d < operand(1).axes.size() ? operand(1).axes[d].constancy : 0);
    return known;
  }
  if (op.operands.size() < 2) return std::nullopt;
  const Known& b = operand(1);
  if (name == "arith.select" && op.operands.size() > 2) {
    const Known& c = operand(2);
    if (a.constant) return *a.constant ? b : c;
    if (b.axes.size() != c.axes.size()) return std::nullopt;
    Known known{{}, b.constant == c.constant ? b.constant : std::nullopt};
    for (std::size_t d = 0; d < b.axes.size(); ++d) {
      known.axes.push_back(either(b.axes[d], c.axes[d]));
      if (program_.operand_type(op, 0).tile.shape.empty() || d >= a.axes.size()) continue;
      known.axes[d].contiguity = common(known.axes[d].contiguity, a.axes[d].constancy);
      known.axes[d].constancy = common(known.axes[d].constancy, a.axes[d].constancy);
    }
    return known;
  }
  if (op.operands.size() != 2 || a.axes.size() != b.axes.size()) return std::nullopt;
  if (name == "arith.cmpi") return compared(op, a, b);
  if (one_of(name, {"arith.maxsi", "arith.maxui", "arith.minsi", "arith.minui"})) {
    Known known = nothing(op.results.front());
    if (a.constant && b.constant)
      known.constant = name.starts_with("arith.max") ? std::max(*a.constant, *b.constant) : std::min(*a.constant, *b.constant);
    else
      for (std::size_t d = 0; d < a.axes.size(); ++d) known.axes[d] = either(a.axes[d], b.axes[d]);
    return known;
  }
  return binary(op, a, b);
}

Neighbours::Known Neighbours::compared(const Op& op, const Known& a, const Known& b) const {
  const std::vector<std::int64_t>& shape = program_.type(op.results.front()).tile.shape;
  Known known = nothing(op.results.front());
  const std::string_view how = op.words;
  const auto is = [&](std::string_view word) { return how.size() > 2 && how.substr(1).starts_with(word); };
  for (std::size_t d = 0; d < shape.size() && d < a.axes.size(); ++d) {
    const Axis &x = a.axes[d], &y = b.axes[d];
    std::int64_t& constancy = known.axes[d].constancy;
    if (a.constant && b.constant) {
      constancy = x.constancy;
      continue;
    }
    constancy = common(x.constancy, y.constancy);
    // A row of numbers against one number: it changes sides where the number is, and that is a multiple.
    if ((is("gt") || is("le")) && x.constancy == shape[d])
      constancy = std::max(constancy, common(y.contiguity, x.divisibility, y.divisibility));
    else if ((is("lt") || is("ge")) && y.constancy == shape[d])
      constancy = std::max(constancy, common(x.contiguity, x.divisibility, y.divisibility));
  }
  return known;
}

Neighbours::Known Neighbours::binary(const Op& op, const Known& a, const Known& b) const {
  const std::string_view name = op.name;
  const std::vector<std::int64_t>& shape = program_.type(op.results.front()).tile.shape;
  const bool adds = name == "arith.addi" || name == "tt.addptr", subtracts = name == "arith.subi", multiplies = name == "arith.muli",
             divides = name.starts_with("arith.div"), remains = name.starts_with("arith.rem"), left = name == "arith.shli",
             right = name.starts_with("arith.shr"), logic = one_of(name, {"arith.andi", "arith.ori", "arith.xori"});
  Known known = nothing(op.results.front());
  if (!adds && !subtracts && !multiplies && !divides && !remains && !left && !right && !logic) return known;
  // Offsets of pointers count elements of what they point to.
  const std::int64_t element =
      name == "tt.addptr" ? std::max<std::int64_t>(1, parse_type(program_.operand_type(op, 0).pointee, module_).tile.bits / 8) : 1;
  const auto is = [](const Known& of, std::int64_t number) { return of.constant == number; };
  if (a.constant && b.constant) {
    const std::int64_t x = *a.constant, y = *b.constant;
    const auto wrap = [](std::uint64_t number) { return static_cast<std::int64_t>(number); };
    const auto ux = static_cast<std::uint64_t>(x), uy = static_cast<std::uint64_t>(y);
    if (adds) known.constant = wrap(ux + uy * static_cast<std::uint64_t>(element));
    if (subtracts) known.constant = wrap(ux - uy);
    if (multiplies) known.constant = wrap(ux * uy);
    if ((divides || remains) && y != 0 && y != -1) known.constant = divides ? x / y : x % y;
    if ((left || right) && y >= 0 && y < 63) known.constant = left ? wrap(ux << y) : x >> y;
    if (logic) known.constant = name == "arith.andi" ? (x & y) : name == "arith.ori" ? (x | y) : (x ^ y);
  } else if (remains && is(b, 1)) {
    known.constant = 0;
  }
  for (std::size_t d = 0; d < known.axes.size() && d < a.axes.size(); ++d) {
    const Axis &x = a.axes[d], &y = b.axes[d];
    Axis& out = known.axes[d];
    if (known.constant) {
      out = {1, power_of_two_in(*known.constant), std::max(x.constancy, y.constancy)};
      continue;
    }
    const std::int64_t extent = d < shape.size() ? shape[d] : 0;
    const bool row_by_number = extent > 0 && x.contiguity == extent && y.constancy == extent;
    out.constancy = common(x.constancy, y.constancy);
    // The first of a row that counts is no multiple once it is multiplied or shifted.
    const auto firsts = [](const Axis& axis, bool kept) { return axis.contiguity > 1 && !kept ? 1 : axis.divisibility; };
    if (adds || subtracts) {
      out.contiguity = common(x.contiguity, y.constancy);
      if (adds) out.contiguity = std::max(out.contiguity, common(x.constancy, y.contiguity));
      out.divisibility = common(x.divisibility, times(y.divisibility, element));
    } else if (multiplies) {
      out.contiguity = std::max(is(b, 1) ? x.contiguity : 1, is(a, 1) ? y.contiguity : 1);
      out.divisibility = times(firsts(x, is(b, 1)), firsts(y, is(a, 1)));
    } else if (divides) {
      if (is(b, 1)) out.contiguity = x.contiguity;
      if (row_by_number) out.constancy = std::max(out.constancy, common(x.contiguity, x.divisibility, y.divisibility));
      const std::int64_t by = b.constant ? std::abs(*b.constant) : 0;
      if (is(a, 0) || is(b, 1))
        out.divisibility = x.divisibility;
      else if (by > 0 && std::has_single_bit(static_cast<std::uint64_t>(by)) && x.contiguity == 1)
        out.divisibility = std::max<std::int64_t>(1, x.divisibility / by);
    } else if (remains) {
      if (row_by_number) out.contiguity = common(x.contiguity, x.divisibility, y.divisibility);
      if (y.constancy > 1) out.divisibility = common(x.divisibility, y.divisibility);
    } else if (left || right) {
      const std::int64_t shift = b.constant.value_or(left ? 0 : -1);
      if (is(b, 0)) out.contiguity = x.contiguity;
      const std::int64_t divisor = firsts(x, shift == 0);
      if (shift >= 0 && shift < 62)
        out.divisibility = left ? times(divisor, std::int64_t{1} << shift) : std::max<std::int64_t>(1, divisor >> shift);
    }
  }
  return known;
}

}  // namespace heddle::triton
