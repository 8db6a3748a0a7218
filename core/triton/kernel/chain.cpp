#include "core/triton/kernel/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/base/scanner.h"
#include "core/kernel/map_expression.h"
#include "core/triton/read/data.h"

namespace heddle::triton {
namespace {

constexpr int kDeepestChain = 64;
constexpr std::size_t kMostInputs = 8, kMostTerms = 1000;

/// "max(x0, x1)": what stands in it needs no parentheses of its own.
bool is_call(std::string_view text) { return text.ends_with(')') && text.find_first_of("+-*/<>=!") == std::string_view::npos; }

/// For each dimension of a value, the dimension of the chain's result that it runs along; -1: one element.
using Dims = std::vector<int>;

class ChainBuilder {
 public:
  ChainBuilder(const Flow& flow, Scalars& scalars, const std::vector<mlir::OpId>& members, bool row_vectors)
      : flow_(flow), scalars_(scalars), members_(members), row_vectors_(row_vectors) {}

  Chain build(mlir::OpId last) {
    const mlir::Op& op = flow_.module().op(last);
    // A tile of one row or one column is a vector.
    const std::vector<std::int64_t>& shape = flow_.program().type(op.results[0]).tile.shape;
    Dims dims;
    for (const std::int64_t extent : shape) dims.push_back(extent == 1 && shape.size() == 2 ? -1 : static_cast<int>(rank_++));
    chain_.term = of_op(op, dims, 0);
    if (chain_.fault.empty() && chain_.inputs.size() > kMostInputs)
      chain_.fault = fmt::format("it reads {} tiles, at most {} can be", chain_.inputs.size(), kMostInputs);
    return std::move(chain_);
  }

 private:
  Term fail(std::string why) {
    if (chain_.fault.empty()) chain_.fault = std::move(why);
    return {};
  }

  Term of_op(const mlir::Op& op, const Dims& dims, int depth) {
    // Ops that read one value twice make the expression twice as long each time.
    if (depth > kDeepestChain || ++terms_ > kMostTerms) return fail("its chain is too long");
    if (!chain_.fault.empty()) return {};
    const auto role = work_of(flow_.program(), op);
    Term term;
    term.kind = Term::Kind::Op;
    if (role == OpRole::Convert) {
      const Type& to = flow_.program().type(op.results[0]);
      term.text = rounding(to);
      term.of.push_back(of_value(op.operands.at(0), dims, depth + 1));
      if (term.text.empty()) return term.of[0];
      return term;
    }
    term.text = expression_in(flow_.program(), op);
    if (term.text.empty()) return fail(fmt::format("what {} computes is not known", op.name));
    for (const mlir::ValueId operand : op.operands) term.of.push_back(of_value(operand, dims, depth + 1));
    return term;
  }

  static std::string rounding(const Type& to) {
    const std::string& element = to.tile.element;
    if (element == "bf16") return "bf16(x0)";
    if (element == "f16") return "f16(x0)";
    if (element.starts_with("f8E4")) return "e4m3(x0)";
    if (element.starts_with("f8E5")) return "e5m2(x0)";
    return {};
  }

  Term of_value(mlir::ValueId id, Dims dims, int depth) {
    const mlir::Module& module = flow_.module();
    const TritonProgram& program = flow_.program();
    int distance = 0;
    mlir::ValueId initial;
    for (int passage = 0; passage < 256; ++passage) {
      if (depth + passage > 512) break;
      const ValueSource from = flow_.carried(id);
      id = from.value;
      distance += from.distance;
      if (!initial.valid()) initial = from.initial;
      const Type& type = program.type(id);
      if (dims.size() != type.tile.shape.size() && !type.tile.shape.empty()) return fail("the shapes in it do not fit");
      if (distance == 0 && !type.tile.tile() && !is_float(type) && !type.pointer && type.tile.shape.empty()) {
        const std::size_t places = chain_.at.size();
        if (const auto whole = place({scalars_.expr(id), {}, {}}, {})) return {Term::Kind::Coordinates, 0, *whole, {}, false};
        chain_.at.resize(places);
      }
      if (distance == 0) {
        if (const auto number = scalars_.number(id)) return {Term::Kind::Number, 0, *number, {}, false};
        if (type.tile.tile() && !is_float(type) && !type.pointer) {
          const std::size_t places = chain_.at.size();
          if (const auto flags = coordinates(id, dims, 0)) {
            const mlir::OpId made = module.value(id).definer;
            return {Term::Kind::Coordinates, 0, *flags, {}, made.valid() && !flow_.inside(made)};
          }
          chain_.at.resize(places);
        }
      }
      const mlir::OpId definer = module.value(id).definer;
      if (!definer.valid()) return input(id, {}, distance, initial, dims);
      const mlir::Op& op = module.op(definer);
      const bool here = std::find(members_.begin(), members_.end(), definer) != members_.end();
      if (here && distance == 0) return of_op(op, dims, depth + 1);
      const auto role = work_of(program, op);
      if (role != OpRole::View || op.operands.empty() || program.type(op.operands[0]).tile.space != dump::TileType::Space::Register) {
        // A number that was spread over a tile: the number of a reduction, for instance.
        if (op.name == "tt.splat" && !op.operands.empty()) {
          dims.clear();
          id = op.operands[0];
          continue;
        }
        return input(id, flow_.inside(definer) ? definer : mlir::OpId{}, distance, initial, dims);
      }
      if (!through(op, dims)) return fail(fmt::format("{} (line {}) changes the order of elements", op.name, op.line));
      id = op.operands[0];
    }
    return fail("its chain is too long");
  }

  /// The dimensions of the view's operand.
  bool through(const mlir::Op& op, Dims& dims) const {
    const Type &from = flow_.program().type(op.operands[0]), &to = flow_.program().type(op.results[0]);
    const std::string name = present_name(op.name);
    if (name == "tt.expand_dims") {
      const std::int64_t axis = op.integer("axis", 0);
      if (axis < 0 || static_cast<std::size_t>(axis) >= dims.size()) return false;
      dims.erase(dims.begin() + axis);
      return true;
    }
    if (name == "tt.broadcast") {
      if (from.tile.shape.size() != dims.size()) return false;
      for (std::size_t d = 0; d < dims.size(); ++d)
        if (from.tile.shape[d] == 1 && to.tile.shape[d] != 1) dims[d] = -1;
      return true;
    }
    if (name == "tt.trans") {
      if (dims.size() != 2) return false;
      std::swap(dims[0], dims[1]);
      return true;
    }
    if (name == "ttg.convert_layout" || from.tile.shape == to.tile.shape) return true;
    return false;
  }

  Term input(mlir::ValueId value, mlir::OpId op, int distance, mlir::ValueId initial, const Dims& dims) {
    std::vector<int> runs;
    for (const int d : dims)
      if (d >= 0) runs.push_back(d);
    ChainInput read;
    read.source = {value, op, distance, initial};
    const Type& type = flow_.program().type(value);
    if (type.tile.shape.empty() || runs.empty())
      read.lay = '1';
    else if (runs.size() == rank_ && (rank_ < 2 || (runs[0] == 0 && runs[1] == 1)))
      read.lay = 'f';
    else if (runs.size() == 1)
      read.lay = runs[0] == 0 ? 'r' : 'c';
    else
      return fail("it reads a tile whose rows and columns are exchanged in registers");
    // Integers that were loaded are numbers like others.
    const mlir::OpId maker = op.valid() ? op : flow_.module().value(value).definer;
    const bool loaded = maker.valid() && is_tile_op(flow_.program(), flow_, flow_.module().op(maker));
    if (!type.tile.shape.empty() && !is_float(type) && type.tile.bits != 1 && !loaded)
      return fail(fmt::format("it reads integers ('{}') that are no function of the place in the tile", flow_.module().value(value).name));
    auto it = std::find(chain_.inputs.begin(), chain_.inputs.end(), read);
    if (it == chain_.inputs.end()) it = chain_.inputs.insert(it, read);
    return {Term::Kind::Input, static_cast<std::size_t>(it - chain_.inputs.begin()), {}, {}, false};
  }

  /// An integer or flag tile as an expression of row and col.
  std::optional<std::string> coordinates(mlir::ValueId id, const Dims& dims, int depth) {
    if (depth > 16) return std::nullopt;
    const mlir::Module& module = flow_.module();
    if (const auto affine = scalars_.affine(id))
      if (auto text = place(*affine, dims)) return text;
    const mlir::OpId definer = module.value(id).definer;
    if (!definer.valid()) return std::nullopt;
    const mlir::Op& op = module.op(definer);
    const auto inner = [&](std::size_t i) { return i < op.operands.size() ? coordinates(op.operands[i], dims, depth + 1) : std::nullopt; };
    if (op.name.starts_with("arith.") && op.operands.size() <= 3) {
      std::vector<std::string> of;
      for (std::size_t k = 0; k < op.operands.size(); ++k) {
        const auto operand = inner(k);
        if (!operand) return std::nullopt;
        of.push_back(*operand);
      }
      return of_places(op, of);
    }
    const auto role = work_of(flow_.program(), op);
    if (role == OpRole::View && !op.operands.empty()) {
      Dims next = dims;
      if (op.name == "tt.splat") return std::nullopt;
      if (through(op, next)) return coordinates(op.operands[0], next, depth + 1);
    }
    return std::nullopt;
  }

  /// Integer arithmetic on places, in whole numbers; nothing where it is division by what is no power of two.
  std::optional<std::string> of_places(const mlir::Op& op, const std::vector<std::string>& of) const {
    const std::string text = expression_in(flow_.program(), op);
    if (of.empty() || text.empty()) return std::nullopt;
    if (text.starts_with("floor(") || text.starts_with("x0 - floor(")) {
      const std::string divisor = of.size() > 1 ? of[1] : "";
      const auto by = read_number<std::int64_t>(divisor.starts_with('(') ? divisor.substr(1, divisor.size() - 2) : divisor);
      if (!by || *by <= 0 || (*by & (*by - 1)) != 0) return std::nullopt;
      return text.starts_with("floor(") ? fmt::format("shift_right({}, {})", of[0], std::countr_zero(static_cast<std::uint64_t>(*by)))
                                        : fmt::format("bit_and({}, {})", of[0], *by - 1);
    }
    // Places lie far within 32 bits.
    Term term{Term::Kind::Op, 0, text.starts_with("wrap(") ? text.substr(5, text.rfind(',') - 5) : text, {}, false};
    for (const std::string& part : of) term.of.push_back({Term::Kind::Coordinates, 0, part, {}, false});
    const bool one_operand = term.text == "x0" || is_call(term.text);
    const std::string made = expression_text(term);
    return one_operand ? made : "(" + made + ")";
  }

  std::optional<std::string> place(const Affine& affine, const Dims& dims) {
    if (affine.pointer.valid() || affine.wraps || affine.strides.size() != dims.size()) return std::nullopt;
    std::string text;
    if (!affine.base.is_constant()) {
      auto it = std::ranges::find(chain_.at, affine.base.text(), &Expr::text);
      if (it == chain_.at.end()) {
        if (chain_.at.size() == MapExpression::kMostPlaces) return std::nullopt;
        it = chain_.at.insert(it, affine.base);
      }
      text = fmt::format("at{}", it - chain_.at.begin());
    } else if (!affine.base.is_zero()) {
      text = affine.base.text();
    }
    for (std::size_t d = 0; d < dims.size(); ++d) {
      const Expr& stride = affine.strides[d];
      if (dims[d] < 0 || stride.is_zero()) continue;
      if (!stride.is_constant()) return std::nullopt;
      const char* along = rank_ == 2 ? (dims[d] == 0 ? "row" : "col") : row_vectors_ ? "col" : "row";
      const std::string part = stride.text() == "1" ? along : fmt::format("{} * {}", stride.text(), along);
      text += text.empty() ? part : " + " + part;
    }
    return text.empty() ? "0" : "(" + text + ")";
  }

  const Flow& flow_;
  Scalars& scalars_;
  const std::vector<mlir::OpId>& members_;
  const bool row_vectors_;
  std::size_t rank_ = 0, terms_ = 0;
  Chain chain_;
};

bool is_op(const Term& term, std::string_view text) { return term.kind == Term::Kind::Op && term.text == text; }
bool is_input(const Term& term) { return term.kind == Term::Kind::Input; }
bool is_finite_number(const Term& term) { return term.kind == Term::Kind::Number && term.text != "inf" && term.text != "-inf"; }

/// input, or input * number.
struct Scaled {
  std::size_t input = 0;
  std::string scale;  ///< empty: 1
};
std::optional<Scaled> scaled(const Term& term) {
  if (is_input(term)) return Scaled{term.input, {}};
  if (!is_op(term, "x0 * x1")) return std::nullopt;
  for (const std::size_t k : {0u, 1u})
    if (is_input(term.of[k]) && is_finite_number(term.of[1 - k])) return Scaled{term.of[k].input, term.of[1 - k].text};
  return std::nullopt;
}

struct NamedExpression {
  std::string_view text, fn;
};
constexpr NamedExpression kNamed[] = {{"x0 + x1", "add"},     {"x0 - x1", "sub"},     {"x0 * x1", "mul"},   {"x0 / x1", "div"},
                                      {"max(x0, x1)", "max"}, {"min(x0, x1)", "min"}, {"-x0", "neg"},       {"abs(x0)", "abs"},
                                      {"sqrt(x0)", "sqrt"},   {"rsqrt(x0)", "rsqrt"}, {"log2(x0)", "log2"}, {"tanh(x0)", "tanh"}};

/// One op whose operands are inputs; its last may be a number.
std::optional<NativeOp> as_elementwise(const Chain& chain) {
  const Term& term = chain.term;
  if (term.kind != Term::Kind::Op) return std::nullopt;
  const auto named = std::find_if(std::begin(kNamed), std::end(kNamed), [&](const NamedExpression& n) { return n.text == term.text; });
  if (named == std::end(kNamed)) return std::nullopt;
  NativeOp op{"elementwise", {}, {{"fn", std::string(named->fn)}}};
  std::vector<const Term*> of;
  for (const Term& t : term.of) of.push_back(&t);
  const bool swaps = named->fn == "add" || named->fn == "mul" || named->fn == "max" || named->fn == "min";
  if (swaps && of.size() == 2) {
    const auto full = [&](const Term* t) { return is_input(*t) && chain.inputs[t->input].lay == 'f'; };
    if (!full(of[0]) && full(of[1])) std::swap(of[0], of[1]);
  }
  char vector = 0;
  for (std::size_t k = 0; k < of.size(); ++k) {
    if (is_input(*of[k])) {
      op.inputs.push_back(of[k]->input);
      const char lay = chain.inputs[of[k]->input].lay;
      if (lay == 'r' || lay == 'c') {
        if (vector && vector != lay) return std::nullopt;
        vector = lay;
      }
    } else if (k > 0 && k + 1 == of.size() && is_finite_number(*of[k])) {
      op.attrs["value"] = of[k]->text;
    } else {
      return std::nullopt;
    }
  }
  if (vector == 'c') op.attrs["axis"] = std::int64_t{1};
  return op;
}

std::optional<NativeOp> as_exp2(const Chain& chain) {
  const Term& term = chain.term;
  if (!is_op(term, "exp2(x0)")) return std::nullopt;
  NativeOp op{"exp2", {}, {}};
  const Term& inner = term.of[0];
  const Term* first = &inner;
  if (is_op(inner, "x0 - x1")) {
    if (!is_input(inner.of[1])) return std::nullopt;
    first = &inner.of[0];
  }
  const auto a = scaled(*first);
  if (!a) return std::nullopt;
  op.inputs.push_back(a->input);
  if (!a->scale.empty()) op.attrs["scale"] = a->scale;
  if (chain.inputs[a->input].lay != 'f') return std::nullopt;
  if (first != &inner) {
    op.inputs.push_back(inner.of[1].input);
    const char lay = chain.inputs[inner.of[1].input].lay;
    if (lay == 'c') op.attrs["axis"] = std::int64_t{1};
  }
  return op;
}

/// select(row's coordinate >= column's, x, number).
std::optional<NativeOp> as_mask(const Chain& chain) {
  const Term& term = chain.term;
  if (!is_op(term, "select(x0, x1, x2)") || term.of[0].kind != Term::Kind::Coordinates || !is_input(term.of[1]) ||
      term.of[2].kind != Term::Kind::Number || chain.at.size() != 2 || chain.inputs[term.of[1].input].lay != 'f')
    return std::nullopt;
  // at0 is the coordinate that stands first in the comparison.
  const bool rows_first = term.of[0].text == "((at0 + row) >= (at1 + col))",
             columns_first = term.of[0].text == "((at0 + col) <= (at1 + row))";
  if (!rows_first && !columns_first) return std::nullopt;
  NativeOp op{"mask", {term.of[1].input}, {{"value", term.of[2].text == "-inf" ? std::string("-1e30") : term.of[2].text}}};
  if (term.of[2].text == "inf") return std::nullopt;
  op.attrs["swapped"] = columns_first;  // taken out again by whoever writes the coordinates
  return op;
}

}  // namespace

Chain build_chain(const Flow& flow, Scalars& scalars, mlir::OpId last, const std::vector<mlir::OpId>& members, bool row_vectors) {
  return ChainBuilder(flow, scalars, members, row_vectors).build(last);
}

std::string expression_text(const Term& term, bool counted) {
  switch (term.kind) {
    case Term::Kind::Input: return fmt::format("x{}", term.input);
    case Term::Kind::Number: return term.text.starts_with('-') ? "(" + term.text + ")" : term.text;
    case Term::Kind::Coordinates: return counted && term.before_loop ? "row" : term.text;
    case Term::Kind::Op: break;
  }
  const bool call = is_call(term.text);
  std::string text;
  for (std::size_t i = 0; i < term.text.size(); ++i) {
    const bool name = term.text[i] == 'x' && i + 1 < term.text.size() && std::isdigit(static_cast<unsigned char>(term.text[i + 1])) &&
                      (i == 0 || !std::isalnum(static_cast<unsigned char>(term.text[i - 1])));
    if (!name) {
      text += term.text[i];
      continue;
    }
    const auto k = static_cast<std::size_t>(term.text[++i] - '0');
    const Term& inner = term.of[std::min(k, term.of.size() - 1)];
    const std::string part = expression_text(inner, counted);
    const bool wrap = !call && inner.kind == Term::Kind::Op && inner.text.back() != ')';
    text += wrap ? "(" + part + ")" : part;
  }
  return text;
}

NativeOp native_op(const Chain& chain) {
  for (const auto attempt : {as_exp2, as_elementwise, as_mask})
    if (auto op = attempt(chain)) return *std::move(op);
  const Term& term = chain.term;
  if (is_input(term) ||
      (term.kind == Term::Kind::Op && term.of.size() == 1 && is_input(term.of[0]) && term.text.ends_with("(x0)") &&
       (term.text.starts_with("bf16") || term.text.starts_with("f16") || term.text.starts_with("e4m3") || term.text.starts_with("e5m2")))) {
    const std::size_t input = is_input(term) ? term.input : term.of[0].input;
    if (chain.inputs[input].lay == 'f') return {"convert", {input}, {}};
  }
  NativeOp op{"map", {}, {{"expr", expression_text(term)}}};
  std::string along;
  for (std::size_t i = 0; i < chain.inputs.size(); ++i) {
    op.inputs.push_back(i);
    along += chain.inputs[i].lay;
  }
  op.attrs["along"] = along;
  return op;
}

std::optional<JoinedReduction> joined_reduction(const Chain& chain, std::size_t reduced, bool maximum) {
  const Term& term = chain.term;
  if (!is_op(term, maximum ? "max(x0, x1)" : "x0 + x1")) return std::nullopt;
  for (const std::size_t k : {0u, 1u}) {
    const Term &mine = term.of[k], &other = term.of[1 - k];
    const auto own = scaled(mine);
    if (!own || own->input != reduced) continue;
    JoinedReduction joined;
    joined.scale = own->scale;
    // A maximum of scaled elements is the scaled maximum only for a positive factor; a sum always.
    if (maximum && joined.scale.starts_with('-')) return std::nullopt;
    if (is_input(other) && other.input != reduced) {
      joined.old = other.input;
      return joined;
    }
    if (!maximum && is_op(other, "x0 * x1") && is_input(other.of[0]) && is_input(other.of[1])) {
      // Which of the two is the carried one is told by its distance.
      const bool second = chain.inputs[other.of[1].input].source.distance > chain.inputs[other.of[0].input].source.distance;
      joined.old = other.of[second].input;
      joined.factor = other.of[!second].input;
      if (joined.old == reduced || joined.factor == reduced) return std::nullopt;
      return joined;
    }
  }
  return std::nullopt;
}

}  // namespace heddle::triton
