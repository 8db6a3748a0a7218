#include "core/triton/kernel/scalars.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/base/scanner.h"

namespace heddle::triton {
namespace {

/// Longer expressions become parameters: they would not be read anyway.
constexpr std::size_t kLongest = 400;
constexpr int kDeepest = 100;
constexpr std::int64_t kDefaultExtent = 4096;  ///< of a size that the text does not say
constexpr std::int64_t kDefaultGrid = 32;

/// A number whose sums and products with others of its kind stay far from the ends of 64 bits.
std::optional<std::int64_t> as_integer(const Expr& expr) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 31;
  const std::int64_t value = expr.root().constant;
  return expr.is_constant() && value > -kLarge && value < kLarge ? std::optional(value) : std::nullopt;
}

bool equals(const Expr& expr, std::int64_t number) { return expr.is_constant() && expr.root().constant == number; }

/// Sums are read from the left: a + (b - c) is a + b - c.
Expr::Node sum_of(Expr::Node a, const Expr::Node& b) {
  if (b.op != Operator::Add && b.op != Operator::Subtract) return {Operator::Add, 0, {}, {std::move(a), b}};
  return {b.op, 0, {}, {sum_of(std::move(a), b.children[0]), b.children[1]}};
}

/// A parameter's name: none that the expression language has for itself.
std::string param_name(std::string name) {
  name = kernel_name(std::move(name));
  for (const char* taken : {"min", "max", "ceil_div", "cbrt", "if", "i"})
    if (name == taken) name += "_";
  return name;
}

/// With other words for names, each of which is one operand.
Expr renamed(const Expr& expr, const std::map<std::string, std::string>& words) {
  Expr::Node root = expr.root();
  const auto put = [&](const auto& self, Expr::Node& node) -> void {
    const auto other = node.op == Operator::Name ? words.find(node.name) : words.end();
    if (other != words.end()) node.name = other->second;
    for (Expr::Node& child : node.children) self(self, child);
  };
  put(put, root);
  return expr_of(Expr(std::move(root)).text());
}

/// What the number after "dense<" or at the beginning says; bit patterns of f32 too.
std::optional<std::string> decimal(std::string_view words) {
  if (words.starts_with("dense<")) words.remove_prefix(6);
  const std::size_t end = words.find_first_of(" >:,");
  const std::string text(words.substr(0, end));
  if (text == "true") return "1";
  if (text == "false") return "0";
  if (text.starts_with("0x") || text.starts_with("0X")) {
    std::uint64_t bits = 0;
    if (std::from_chars(text.data() + 2, text.data() + text.size(), bits, 16).ec != std::errc{}) return std::nullopt;
    const std::size_t digits = text.size() - 2;
    const bool f32 = digits == 8, f64 = digits == 16, half = digits == 4;
    if ((f32 && bits == 0xFF800000u) || (f64 && bits == 0xFFF0000000000000u) || (half && (bits == 0xFC00u || bits == 0xFF80u)))
      return "-inf";
    if ((f32 && bits == 0x7F800000u) || (f64 && bits == 0x7FF0000000000000u) || (half && (bits == 0x7C00u || bits == 0x7F80u)))
      return "inf";
    return std::nullopt;
  }
  if (text.empty() || text.size() > 40) return std::nullopt;
  char* stop = nullptr;
  const double value = std::strtod(text.c_str(), &stop);
  if (stop != text.c_str() + text.size() || !(value == value)) return std::nullopt;
  return fmt::format("{}", value);
}

/// The same number everywhere.
bool flat(const Affine& tile) { return std::ranges::all_of(tile.strides, &Expr::is_zero); }

}  // namespace

Expr expr_of(const std::string& text) {
  const Result<Expr> parsed = Expr::parse(text);
  return parsed ? *parsed : Expr(0);
}

std::string kernel_name(std::string name) {
  for (char& c : name)
    if (!in_name(c)) c = '_';
  if (name.empty() || is_digit(name[0])) name = "v_" + name;
  return name;
}

Expr combine(Operator op, const std::vector<Expr>& of) {
  Expr::Node node{op, 0, {}, {}};
  for (const Expr& each : of) node.children.push_back(each.root());
  return Expr(std::move(node));
}

/// Quotients as the text means them, rounded down: (a - a % b) / b, as a kernel's sizes leave no remainder (core/kernel/conditions.h).
Expr::Node rounded_down(Expr::Node node) {
  for (Expr::Node& child : node.children) child = rounded_down(std::move(child));
  if (node.op != Operator::Divide) return node;
  Expr::Node rest{Operator::Modulo, 0, {}, node.children};
  node.children[0] = {Operator::Subtract, 0, {}, {node.children[0], std::move(rest)}};
  return node;
}

Expr add(const Expr& a, const Expr& b) {
  if (a.is_zero()) return b;
  if (b.is_zero()) return a;
  const auto x = as_integer(a), y = as_integer(b);
  if (x && y) return Expr(*x + *y);
  return y && *y < 0 ? combine(Operator::Subtract, {a, Expr(-*y)}) : Expr(sum_of(a.root(), b.root()));
}

Expr subtract(const Expr& a, const Expr& b) {
  if (b.is_zero()) return a;
  const auto x = as_integer(a), y = as_integer(b);
  return x && y ? Expr(*x - *y) : combine(Operator::Subtract, {a, b});
}

Expr multiply(const Expr& a, const Expr& b) {
  if (a.is_zero() || b.is_zero()) return Expr(0);
  if (equals(a, 1)) return b;
  if (equals(b, 1)) return a;
  const auto x = as_integer(a), y = as_integer(b);
  return x && y ? Expr(*x * *y) : combine(Operator::Multiply, {a, b});
}

Expr divide(const Expr& a, const Expr& b) {
  if (equals(b, 1)) return a;
  // (x + b - 1) / b, as programs round up.
  const auto ends = [](const Expr::Node& node, Operator op, const Expr& with) {
    return node.op == op && with.root().children.empty() && Expr(node.children[1]).text() == with.text();
  };
  const Expr::Node& top = a.root();
  const Expr::Node* x = nullptr;
  if (const auto by = as_integer(b); by && *by > 1)
    x = ends(top, Operator::Add, Expr(*by - 1)) ? &top.children[0] : nullptr;
  else if (ends(top, Operator::Subtract, Expr(1)) && ends(top.children[0], Operator::Add, b))
    x = &top.children[0].children[0];
  return x ? combine(Operator::CeilDiv, {Expr(*x), b}) : combine(Operator::Divide, {a, b});
}

void Scalars::note(const std::string& sentence) {
  if (std::find(notes_.begin(), notes_.end(), sentence) == notes_.end()) notes_.push_back(sentence);
}

std::string Scalars::fresh(const std::string& name) {
  const std::string wanted = param_name(name);
  const auto taken = [&](const std::string& n) {
    return std::any_of(params_.begin(), params_.end(), [&](const Param& p) { return p.name == n; }) ||
           std::any_of(grid_.begin(), grid_.end(), [&](const GridDim& g) { return g.name == n; });
  };
  std::string free = wanted;
  for (int i = 2; taken(free); ++i) free = fmt::format("{}_{}", wanted, i);
  return free;
}

std::string Scalars::param(const std::string& name, std::int64_t value, std::int64_t eval_value, const std::string& about) {
  const std::string wanted = param_name(name);
  for (const Param& p : params_)
    if (p.name == wanted) return wanted;
  params_.push_back({wanted, value, eval_value, {}, about});
  return wanted;
}

Expr Scalars::unknown(mlir::ValueId id, const std::string& why) {
  if (const auto known = own_.find(id); known != own_.end()) return known->second;
  const mlir::Value& value = flow_.module().value(id);
  return own_[id] = Expr::named(param(fresh(value.name), kDefaultExtent, 256, why));
}

Expr Scalars::integer_constant(const mlir::Op& op) {
  std::string_view words = op.words;
  if (words.starts_with("dense<")) words.remove_prefix(6);
  std::int64_t value = 0;
  if (Scanner(words).number(value) == std::errc{}) return Expr(value);
  if (!words.starts_with("true") && !words.starts_with("false"))
    note(fmt::format("the constant of line {} is not understood: 0 is taken", op.line));
  return Expr(words.starts_with("true") ? 1 : 0);
}

/// An argument that grows by the same number in each iteration: the op that adds and the operand that it adds; null where it is none.
const mlir::Op* Scalars::steady_step(mlir::ValueId id, const ValueSource& next, mlir::ValueId& by) const {
  if (!next.op.valid() || next.distance != 1) return nullptr;
  const mlir::Op& step = flow_.module().op(next.op);
  const bool adds = step.name == "arith.addi" || step.name == "tt.addptr";
  if (step.operands.size() != 2 || (!adds && step.name != "arith.subi")) return nullptr;
  const bool second = step.name == "arith.addi" && step.operands[1] == id;
  if (!second && step.operands[0] != id) return nullptr;
  by = step.operands[second ? 0 : 1];
  // What it grows by must be the same each time.
  std::vector<mlir::ValueId> open{by};
  std::map<mlir::ValueId, bool> seen;
  while (!open.empty()) {
    const mlir::ValueId now = open.back();
    open.pop_back();
    if (!seen.emplace(now, true).second) continue;
    if (seen.size() > 256) return nullptr;
    const mlir::Value& value = flow_.module().value(now);
    if (!value.definer.valid()) {
      if (value.block.valid() && &flow_.module().block(value.block) == flow_.body()) return nullptr;
      continue;
    }
    if (!flow_.inside(value.definer)) continue;
    const mlir::Op& made = flow_.module().op(value.definer);
    if (!made.regions.empty() || is_tile_op(flow_.program(), flow_, made)) return nullptr;
    open.insert(open.end(), made.operands.begin(), made.operands.end());
  }
  return &step;
}

Expr Scalars::block_index(char axis) {
  const std::string name = fmt::format("block_{}", axis);
  if (std::none_of(grid_.begin(), grid_.end(), [&](const GridDim& g) { return g.name == name; })) {
    const std::string size = param(fmt::format("grid_{}", axis), kDefaultGrid, 2, fmt::format("blocks along {}; the launch says it", axis));
    grid_.push_back({name, Expr::named(size)});
  }
  return Expr::named(name);
}

Expr Scalars::compute(mlir::ValueId id, int depth) {
  if (const auto known = exprs_.find(id); known != exprs_.end()) return known->second;
  const mlir::Module& module = flow_.module();
  const mlir::Value& value = module.value(id);
  const auto keep = [&](const Expr& made) {
    return exprs_[id] = made.text().size() > kLongest ? unknown(id, "computed by a long expression; see the text") : made;
  };
  if (depth > kDeepest) return unknown(id, "computed by a deep expression; see the text");
  exprs_[id] = Expr(0);  // a value that rests on itself ends here
  if (!value.definer.valid()) {
    const mlir::OpId owner = value.block.valid() ? module.region(module.block(value.block).parent).parent : mlir::OpId{};
    if (owner == flow_.loop()) {
      const mlir::Op& loop = module.op(owner);
      if (value.index == 0 && loop.operands.size() >= 3)
        return keep(add(compute(loop.operands[0], depth + 1), multiply(Expr::named(kLoopVariable), compute(loop.operands[2], depth + 1))));
      if (std::ranges::any_of(flow_.branches(), [&](const Flow::Branch& b) { return b.rare && b.counter == id; }))
        return keep(Expr::named(kLoopVariable));
      // A counter of its own: what it grows by each time.
      const ValueSource next = flow_.carried(id);
      if (!next.op.valid() && next.distance == 0 && next.value != id) return keep(compute(next.value, depth + 1));
      mlir::ValueId by;
      if (const mlir::Op* step = steady_step(id, next, by)) {
        const Expr change = multiply(Expr::named(kLoopVariable), compute(by, depth + 1)), from = compute(next.initial, depth + 1);
        return keep(step->name == "arith.subi" ? subtract(from, change) : add(from, change));
      }
      note(fmt::format("'{}' changes from iteration to iteration by no constant: a parameter stands for it", value.name));
      return keep(unknown(id, "changes from iteration to iteration"));
    }
    if (owner.valid() && module.op(owner).name == "scf.for") {
      // A loop around: one turn of it is looked at.
      const mlir::Op& outer = module.op(owner);
      if (value.index == 0 && !outer.operands.empty()) {
        return keep(compute(outer.operands[0], depth + 1));
      }
      if (value.index + 2 < outer.operands.size()) return keep(compute(outer.operands[value.index + 2], depth + 1));
    }
    return keep(unknown(id, "an argument of the kernel"));
  }
  const mlir::Op& op = module.op(value.definer);
  const auto operand = [&](std::size_t i) { return i < op.operands.size() ? compute(op.operands[i], depth + 1) : Expr(0); };
  // Parameters are made in this order: whatever the right side needs comes first.
  const auto joined = [&](Expr (*join)(const Expr&, const Expr&)) {
    const Expr right = operand(1);
    return join(operand(0), right);
  };
  const auto both = [&](Operator by) {
    const Expr right = operand(1);
    return combine(by, {operand(0), right});
  };
  const auto axis = [&] { return op.words.find('y') != std::string::npos ? 'y' : op.words.find('z') != std::string::npos ? 'z' : 'x'; };
  const std::string& name = op.name;
  const auto x = [&] { return as_integer(operand(0)); };
  const auto y = [&] { return as_integer(operand(1)); };
  if (name == "arith.constant") return keep(integer_constant(op));
  if (name == "tt.get_program_id") return keep(block_index(axis()));
  if (name == "tt.get_num_programs") {
    block_index(axis());
    return keep(Expr::named(fmt::format("grid_{}", axis())));
  }
  if (name == "arith.addi") return keep(joined(add));
  if (name == "arith.subi") return keep(joined(subtract));
  if (name == "arith.muli") return keep(joined(multiply));
  if (name == "arith.divsi" || name == "arith.divui" || name == "arith.floordivsi") {
    if (x() && y() && *x() >= 0 && *y() > 0) return keep(Expr(*x() / *y()));
    return keep(joined(divide));
  }
  if (name == "arith.ceildivsi") return keep(both(Operator::CeilDiv));
  if (name == "arith.remsi" || name == "arith.remui") return keep(both(Operator::Modulo));
  if (name == "arith.minsi" || name == "arith.minui") return keep(both(Operator::Min));
  if (name == "arith.maxsi" || name == "arith.maxui") return keep(both(Operator::Max));
  if (name == "arith.shli")
    if (const auto by = y(); by && *by >= 0 && *by < 31) return keep(multiply(operand(0), Expr(std::int64_t{1} << *by)));
  if (name == "arith.shrsi" || name == "arith.shrui")
    if (const auto by = y(); by && *by >= 0 && *by < 31) return keep(divide(operand(0), Expr(std::int64_t{1} << *by)));
  if (name == "arith.extsi" || name == "arith.extui" || name == "arith.trunci" || name == "arith.index_cast") return keep(operand(0));
  if (name == "arith.select" && op.operands.size() == 3) {
    const Expr no = operand(2), yes = operand(1);
    return keep(combine(Operator::If, {operand(0), yes, no}));
  }
  if (name == "arith.cmpi")
    if (const char* sign = integer_predicate(op)) return keep(both(*comparison_of(sign)));
  if (const mlir::ValueId given = flow_.through_branches(id); given != id) return keep(compute(given, depth + 1));
  if (name == "tt.load") {
    note(fmt::format("'{}' is read from memory (line {}): a parameter stands for it", value.name, op.line));
    return keep(unknown(id, "read from memory by the kernel"));
  }
  note(fmt::format("'{}' is computed by {} (line {}): a parameter stands for it", value.name, op.name, op.line));
  return keep(unknown(id, "computed by " + op.name));
}

std::optional<Affine> Scalars::affine(mlir::ValueId value) { return compute_affine(value, 0); }

std::optional<Affine> Scalars::compute_affine(mlir::ValueId id, int depth) {
  if (const auto known = affines_.find(id); known != affines_.end()) return known->second;
  if (depth > kDeepest) return std::nullopt;
  affines_[id] = std::nullopt;
  const Type& type = flow_.program().type(id);
  const std::size_t rank = type.tile.shape.size();
  std::optional<Affine> found = rank == 0 && type.pointer                   ? affine_pointer(id, depth)
                                : rank == 0                                 ? Affine{compute(id, depth + 1), {}, {}}
                                : !flow_.module().value(id).definer.valid() ? affine_argument(id, depth)
                                                                            : affine_result(id, depth);
  const auto is_long = [](const Expr& e) { return e.text().size() > kLongest; };
  if (found && (is_long(found->base) || std::ranges::any_of(found->strides, is_long) || found->strides.size() != rank)) found.reset();
  return affines_[id] = std::move(found);
}

/// A pointer that was moved on is the argument and an offset.
std::optional<Affine> Scalars::affine_pointer(mlir::ValueId id, int depth) {
  const mlir::Module& module = flow_.module();
  const mlir::OpId definer = module.value(id).definer;
  if (definer.valid() && module.op(definer).name == "tt.addptr" && module.op(definer).operands.size() == 2) {
    auto pointer = compute_affine(module.op(definer).operands[0], depth + 1);
    if (pointer) pointer->base = add(pointer->base, compute(module.op(definer).operands[1], depth + 1));
    return pointer;
  }
  if (!definer.valid()) {
    const ValueSource next = flow_.carried(id);
    mlir::ValueId by;
    if (const mlir::Op* step = steady_step(id, next, by); step && step->name == "tt.addptr") {
      auto first = compute_affine(next.initial, depth + 1);
      if (first) first->base = add(first->base, multiply(Expr::named(kLoopVariable), compute(by, depth + 1)));
      return first;
    }
    if (next.value != id && !next.op.valid() && next.distance == 0) return compute_affine(next.value, depth + 1);
    if (next.distance > 0) return std::nullopt;
  }
  Affine itself;
  itself.pointer = id;
  return itself;
}

/// A tile that the loop carries, and that grows by the same every time.
std::optional<Affine> Scalars::affine_argument(mlir::ValueId id, int depth) {
  const ValueSource next = flow_.carried(id);
  if (!next.op.valid()) return next.value == id || next.distance > 0 ? std::nullopt : compute_affine(next.value, depth + 1);
  mlir::ValueId grows;
  const mlir::Op* step = steady_step(id, next, grows);
  if (!step || step->name == "arith.subi") return std::nullopt;
  auto first = compute_affine(next.initial, depth + 1);
  const auto by = compute_affine(grows, depth + 1);
  if (!first || !by || by->strides.size() != flow_.program().type(id).tile.shape.size() || !flat(*by)) return std::nullopt;
  first->base = add(first->base, multiply(Expr::named(kLoopVariable), by->base));
  return first;
}

/// A tile that an op makes of numbers, or of another tile by laying it out otherwise.
std::optional<Affine> Scalars::affine_result(mlir::ValueId id, int depth) {
  const mlir::Op& op = flow_.module().op(flow_.module().value(id).definer);
  const std::size_t rank = flow_.program().type(id).tile.shape.size();
  const std::string name = present_name(op.name);
  const auto inner = [&] { return op.operands.empty() ? std::nullopt : compute_affine(op.operands[0], depth + 1); };
  if (name == "tt.make_range" && rank == 1) return Affine{Expr(op.integer("start", 0)), {Expr(1)}, {}};
  if (name == "arith.constant") {
    const auto number = decimal(op.words);
    const auto value = read_number<std::int64_t>(number.value_or(""));
    if (!value || !as_integer(Expr(*value))) return std::nullopt;
    return Affine{Expr(*value), std::vector<Expr>(rank), {}};
  }
  if (name == "tt.splat") {
    auto scalar = inner();
    if (scalar) scalar->strides.assign(rank, Expr(0));
    return scalar;
  }
  if (name == "tt.expand_dims") {
    auto tile = inner();
    const std::int64_t axis = op.integer("axis", 0);
    if (!tile || axis < 0 || static_cast<std::size_t>(axis) > tile->strides.size()) return std::nullopt;
    tile->strides.insert(tile->strides.begin() + axis, Expr(0));
    return tile;
  }
  if (name == "tt.trans" && rank == 2) {
    auto tile = inner();
    if (tile && tile->strides.size() == 2) std::swap(tile->strides[0], tile->strides[1]);
    return tile;
  }
  if (name == "tt.broadcast" || name == "ttg.convert_layout" || name == "arith.extsi" || name == "arith.extui" || name == "arith.trunci" ||
      name == "arith.index_cast" || name == "tt.bitcast")
    return inner();
  return affine_arithmetic(op, name, depth);
}

/// What is computed of two tiles element by element.
std::optional<Affine> Scalars::affine_arithmetic(const mlir::Op& op, std::string_view name, int depth) {
  const bool sum = name == "tt.addptr" || name == "arith.addi" || name == "arith.subi", product = name == "arith.muli",
             remainder = name == "arith.remsi" || name == "arith.remui", quotient = name == "arith.divsi" || name == "arith.divui";
  if ((!sum && !product && !remainder && !quotient) || op.operands.size() < 2) return std::nullopt;
  auto a = compute_affine(op.operands[0], depth + 1), b = compute_affine(op.operands[1], depth + 1);
  if (!a || !b) return std::nullopt;
  if (sum) {
    if (a->strides.size() != b->strides.size()) return std::nullopt;
    const auto join = name == "arith.subi" ? subtract : add;
    a->base = join(a->base, b->base);
    for (std::size_t d = 0; d < a->strides.size(); ++d) a->strides[d] = join(a->strides[d], b->strides[d]);
    if (!a->pointer.valid()) a->pointer = b->pointer;
    a->wraps = a->wraps || b->wraps;
    return a;
  }
  if (product) {
    if (a->strides.size() != b->strides.size()) return std::nullopt;
    if (!flat(*b)) std::swap(a, b);
    if (!flat(*b)) return std::nullopt;
    a->base = multiply(a->base, b->base);
    for (Expr& stride : a->strides) stride = multiply(stride, b->base);
    return a;
  }
  if (!flat(*b)) return std::nullopt;
  if (quotient) return flat(*a) ? std::optional(Affine{combine(Operator::Divide, {a->base, b->base}), a->strides, {}}) : std::nullopt;
  if (flat(*a)) return Affine{combine(Operator::Modulo, {a->base, b->base}), a->strides, {}};
  a->wraps = true;
  note(fmt::format("'{}' wraps at {} (line {}): taken as not wrapping, which is the same inside the tensor",
                   flow_.module().value(op.results[0]).name, b->base.text(), op.line));
  return a;
}

std::optional<std::string> Scalars::number(mlir::ValueId id) {
  const mlir::Module& module = flow_.module();
  for (int passage = 0; passage < kDeepest; ++passage) {
    const ValueSource from = flow_.carried(id);
    if (from.distance > 0) return std::nullopt;
    id = from.value;
    const mlir::Value& value = module.value(id);
    if (!value.definer.valid()) {
      const Type& type = flow_.program().type(id);
      if (type.tile.tile() || !is_float(type)) return std::nullopt;
      note(fmt::format("the number '{}' is an argument that the text does not know: {} is taken", value.name, kUnknownNumber));
      return kUnknownNumber;
    }
    const mlir::Op& op = module.op(value.definer);
    if (op.name == "arith.constant") return decimal(op.words);
    const auto role = work_of(flow_.program(), op);
    const bool passes = role == OpRole::View || op.name == "tt.splat" || op.name == "arith.truncf" || op.name == "arith.extf";
    if (!passes || op.operands.size() != 1) {
      // Arithmetic of scalars: scale * log2(e), 1 / n. Its value is as unknown as its operands.
      if (!flow_.program().type(id).tile.tile() && is_float(flow_.program().type(id)) && !flow_.inside(value.definer) &&
          !is_tile_op(flow_.program(), flow_, op) && flow_.behind_index(id).empty()) {
        note(fmt::format("the number '{}' is computed before the loop (line {}): {} is taken", value.name, op.line, kUnknownNumber));
        return kUnknownNumber;
      }
      return std::nullopt;
    }
    id = op.operands[0];
  }
  return std::nullopt;
}

Trips Scalars::trips() {
  const mlir::Op& loop = flow_.module().op(flow_.loop());
  if (loop.operands.size() < 3) return {};
  const Expr low = expr(loop.operands[0]), high = expr(loop.operands[1]), step = expr(loop.operands[2]);
  const Expr span = subtract(high, low);
  Trips trips;
  trips.of_tile = equals(step, 1) ? span : combine(Operator::CeilDiv, {span, step});
  // A flattened loop runs through several tiles; its counter says when one ends.
  for (const Flow::Branch& branch : flow_.branches())
    if (branch.rare && flow_.module().value(branch.counter).index > 0) trips.of_tile = add(expr(branch.end), Expr(1));
  set_most(trips);
  give_trips(trips);
  Scope scope;
  for (const Param& p : params_) scope[p.name] = p.value;
  if (divides_exactly(trips.most, scope)) return trips;
  for (Expr* each : {&trips.most, &trips.of_tile})
    if (Expr exact = Expr(rounded_down(each->root())); exact.text().size() <= kLongest) *each = std::move(exact);
  return trips;
}

/// Over all blocks: the first one or the last one runs longest.
std::int64_t Scalars::set_most(Trips& trips, bool evaluation) const {
  Scope scope;
  for (const Param& p : params_) scope[p.name] = evaluation ? p.eval_value.value_or(p.value) : p.value;
  std::int64_t longest = -1;
  for (const bool last : {true, false}) {
    std::map<std::string, std::string> places;
    for (const GridDim& dim : grid_) places[dim.name] = last ? fmt::format("({} - 1)", dim.size.text()) : "0";
    const Expr most = renamed(trips.of_tile, places);
    const auto count = most.evaluate(scope);
    if (count && *count > longest) {
      longest = *count;
      trips.most = most;
    }
  }
  return longest;
}

/// What the text does not say is taken so that the loop runs: a bound that was loaded lies behind one that was loaded before it, and a
/// length is that of several steps.
void Scalars::give_trips(Trips& trips) {
  constexpr std::int64_t kEnough = 2, kLargest = std::int64_t{1} << 24;
  const std::vector<std::string> names = trips.of_tile.names();
  if (Trips small = trips; set_most(small, true) < 1)
    for (Param& param : params_)
      if (std::ranges::find(names, param.name) != names.end()) param.eval_value.reset();
  if (set_most(trips) >= kEnough) return;
  for (Param& param : params_) {
    if (std::ranges::find(names, param.name) == names.end()) continue;
    const std::int64_t before = param.value;
    for (std::int64_t factor = 2; before * factor <= kLargest; factor *= 2) {
      param.value = before * factor;
      if (set_most(trips) >= kEnough) {
        note(fmt::format("'{}' is taken as {}, so that the loop runs", param.name, param.value));
        return;
      }
    }
    param.value = before;
  }
}

}  // namespace heddle::triton
