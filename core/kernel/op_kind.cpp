// Adding a kind means: one line here, one function in core/kernel/op_semantics.cpp, and a rule in the machine files that can run it.
#include "core/kernel/op_kind.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/scanner.h"
#include "core/base/suggest.h"

namespace heddle {
namespace {

using Type = OpAttribute::Type;

constexpr OpAttribute kVariant{"variant", Type::Text, "", "the cost rule of this name, where the machine has several for the kind"};
constexpr OpAttribute kScale{"scale", Type::Number, "1", "factor on the first operand"};
constexpr OpAttribute kArgument{
    "argument", Type::Text, "",
    "what whoever calls a written kernel may give for the factor, \"scale\" or \"scale * 1.44269504\" (docs/files.md)"};
constexpr OpAttribute kColumn{"column", Type::Integer, "0", "the first column that is taken of a wider operand", 0, 1 << 24};
constexpr OpAttribute kReduced{"axis", Type::Integer, "1", "the dimension that goes: 1 leaves a number per row, 0 one per column", 0, 1};
constexpr OpAttribute kAlong{
    "axis", Type::Integer, "0", "what a vector operand runs along: 0, it has an element per row; 1, one per column", 0, 1};

constexpr std::array kPlain{kVariant};
constexpr std::array kStore{OpAttribute{"before", Type::Expression, "",
                                        "the first row of the tensor, counted as `at` does, that is left as it is, like all after it"},
                            kVariant};
constexpr std::array kMma{OpAttribute{"transpose_a", Type::Flag, "false", "A is stored [K,M]"},
                          OpAttribute{"transpose_b", Type::Flag, "false", "B is stored [N,K]"}, kColumn,
                          OpAttribute{"row", Type::Integer, "0", "the first row that is taken of a longer B", 0, 1 << 24}, kVariant};
constexpr std::array kPart{kColumn, kVariant};
constexpr std::array kTurned{OpAttribute{"transpose", Type::Flag, "false", "the tile in memory has columns for rows"}, kVariant};
constexpr std::array kMaximum{
    kReduced, kScale, kArgument,
    OpAttribute{"keep_within", Type::Number, "0", "the second input stays the maximum unless the new one is more than this above it"},
    kVariant};
constexpr std::array kSum{kReduced, kScale, kArgument, OpAttribute{"mean", Type::Flag, "false", "divided by the number of elements"},
                          kVariant};
constexpr std::array kPower{kAlong, OpAttribute{"emulated", Type::Integer, "0", "percent that is computed without MUFU", 0, 100}, kScale,
                            kArgument, kVariant};
constexpr std::array kElements{
    OpAttribute{"fn", Type::Function, "", "the function; it must be given", 0, 0, true},
    OpAttribute{"value", Type::Number, "", "stands for a missing last operand"},
    kScale,
    kArgument,
    kAlong,
    OpAttribute{"skip_ones", Type::Flag, "false", "of mul: rows whose factors are all 1 need no work (the result is the same)"},
    kVariant};
constexpr std::array kLeast{kReduced, kScale, kArgument, kVariant};
constexpr std::array kBits{kReduced, kVariant};
constexpr std::array kChain{
    OpAttribute{"expr", Type::Text, "", "what an element is of x0 to x7; it must be given (docs/files.md)", 0, 0, true},
    OpAttribute{"fma", Type::Integer, "", "instructions per element on the FP32 pipe; else counted in `expr`", 0, 1 << 20},
    OpAttribute{"alu", Type::Integer, "", "the same on the ALU", 0, 1 << 20},
    OpAttribute{"mufu", Type::Integer, "", "the same on the special function unit", 0, 1 << 20},
    OpAttribute{"along", Type::Text, "",
                "a letter per input: f full, r one element per row, c one per column, 1 one number; else of the shapes"},
    kArgument,
    kVariant};
constexpr std::array kConstant{OpAttribute{"value", Type::Number, "0", "the constant"}, kVariant};
constexpr std::array kMask{OpAttribute{"axis", Type::Integer, "1", "of `before`: 1, columns are kept; 0, rows", 0, 1},
                           OpAttribute{"before", Type::Flag, "false", "columns before the first number of `at` are kept, whatever the row"},
                           OpAttribute{"transpose", Type::Flag, "false", "rows are keys and columns queries"},
                           OpAttribute{"value", Type::Number, "0", "what stands where nothing is kept"}, kVariant};
constexpr std::array kVector{kAlong, kVariant};
constexpr std::array kOpaque{kVariant, OpAttribute{"stands_for", Type::Text, "", "the kind that tables and pictures show for it"}};

constexpr std::array<OpKind, 25> kKinds{{
    {"tma_load", 0, 0, 1, true, false, kPlain,
     "Copies a box of a global tensor into a tile, asynchronously; elements outside the tensor read as zero."},
    {"tma_store", 1, 1, 0, false, true, kStore,
     "Copies a tile into a box of a global tensor, asynchronously; elements outside the tensor are dropped, and rows that are not `before` "
     "a row."},
    {"load", 0, 0, 1, true, false, kPlain,
     "Reads a box of a global tensor into a tile; elements outside read as zero. Variant `async` (cp.async) fills a tile of shared memory "
     "without waiting."},
    {"store", 1, 1, 0, false, true, kStore,
     "Writes a tile into a box of a global tensor; elements outside are dropped, and rows that are not `before` a row."},
    {"mma", 2, 3, 1, false, false, kMma,
     "D = A B + C in 32-bit accumulation, with A [M,K], B [K,N]; a transposed operand is stored [K,M] or [N,K]; without C "
     "the start is zero; a narrower D takes the columns of B from `column` on, a narrower A (in K) its rows from `row` on."},
    {"tmem_load", 1, 1, 1, false, false, kPart, "Tensor memory to registers; a narrower result takes its columns from `column` on."},
    {"tmem_store", 1, 1, 1, false, false, kPlain, "Registers to tensor memory."},
    {"smem_load", 1, 1, 1, false, false, kTurned, "Shared memory to registers; with `transpose` its rows become columns."},
    {"smem_store", 1, 1, 1, false, false, kPlain, "Registers to shared memory."},
    {"reduce_max", 1, 2, 1, false, false, kMaximum,
     "r = max over a tile's axis (default 1: along rows) of scale * tile; with a second input also the maximum with it, which is "
     "kept where the new one is at most `keep_within` above it."},
    {"reduce_sum", 1, 3, 1, false, false, kSum,
     "r = sum over a tile's axis of scale * tile (divided by the extent if `mean`); a second input is added, a third "
     "multiplies the second first."},
    {"reduce_min", 1, 2, 1, false, false, kLeast,
     "r = min over a tile's axis of scale * tile; with a second input also the minimum with it."},
    {"reduce_xor", 1, 2, 1, false, false, kBits, "r = exclusive or of whole numbers over a tile's axis; with a second input also with it."},
    {"reduce_argmax", 1, 1, 1, false, false, kBits,
     "r = where along a tile's axis its maximum lies, counted from 0; the first of equal ones."},
    {"exp2", 1, 2, 1, false, false, kPower,
     "r = 2^(scale * a), with a second input 2^(scale * a - b); `emulated`: percent that a kernel's text computes "
     "without MUFU, to 1.1e-4 of itself, far below the rounding to bf16; heddle eval computes all of them exactly."},
    {"elementwise", 1, 3, 1, false, false, kElements,
     "r = fn(scale * a, b, c) per element; a vector operand runs along `axis` (default 0: one element per row); `value` "
     "stands for a missing last operand."},
    {"map", 0, 8, 1, false, false, kChain,
     "r = expr(x0, x1, ...) per element: a chain of element functions as one op. An input is of the result's shape, one number, or a "
     "vector with an element per row or per column (`along` says which where both would fit); `at` has the numbers "
     "that the expression names at0, at1 ... at7: the row and the column of the tile's first element, an end of rows or columns."},
    {"mask", 1, 1, 1, false, false, kMask,
     "r = a where its column is at most its row, with `transpose` where its row is at most its column, else `value`; `at` has the row and "
     "the column of the tile's first element (causal attention: the key comes after the query). With `before`, r = a where its column, "
     "with axis 0 its row, is before an end, and `at` has that end and the first column (or row): keys beyond the last one, where their "
     "number is no multiple of a step."},
    {"convert", 1, 1, 1, false, false, kPlain, "The same numbers in another element type, rounded to nearest even."},
    {"copy", 1, 1, 1, false, false, kPlain, "The same tile under another name or in another space."},
    {"fill", 0, 0, 1, false, false, kConstant, "A tile of one constant."},
    {"broadcast", 1, 1, 1, false, false, kVector, "A vector repeated into a tile; it runs along `axis` (default 0: one element per row)."},
    {"atomic_add", 1, 1, 0, false, true, kPlain,
     "Adds a tile into a box of a global tensor element by element; elements outside are dropped."},
    {"gather", 0, 1, 1, true, false, kPlain,
     "Reads rows of a global tensor: row r of the result is row index[r], from column `at` on; without an index, the row that `at` says, "
     "an "
     "expression that may name `row`, with r for it; rows outside read as zero."},
    {"opaque", 0, 64, OpKind::kAnyOutputs, false, false, kOpaque,
     "An op of a graph that has only numbers; it can be scheduled but not executed or emitted. `stands_for`: the kind that "
     "tables and pictures show for it."},
}};

constexpr std::array<ElementwiseFunction, 22> kElementwise{{
    {"add", 2, "a + b"},
    {"sub", 2, "a - b"},
    {"mul", 2, "a b"},
    {"div", 2, "a / b"},
    {"max", 2, "the larger"},
    {"min", 2, "the smaller"},
    {"fma", 3, "a b + c"},
    {"select", 3, "b where a is not 0, else c"},
    {"scale", 2, "a b"},
    {"copy", 1, "a"},
    {"neg", 1, "-a"},
    {"abs", 1, "|a|"},
    {"recip", 1, "1 / a"},
    {"sqrt", 1, "square root"},
    {"rsqrt", 2, "1 / square root of a + b; b is 0 where it is missing"},
    {"square", 1, "a a"},
    {"log2", 1, "logarithm to base 2"},
    {"sigmoid", 1, "1 / (1 + exp(-a))"},
    {"silu", 1, "a / (1 + exp(-a))"},
    {"tanh", 1, "hyperbolic tangent"},
    {"relu", 1, "max(a, 0)"},
    {"gelu", 1, "a times the normal distribution up to a"},
}};

}  // namespace

std::span<const OpKind> op_kinds() { return kKinds; }

const OpKind* find_op_kind(std::string_view name) {
  const auto it = std::find_if(kKinds.begin(), kKinds.end(), [&](const OpKind& kind) { return name == kind.name; });
  return it == kKinds.end() ? nullptr : &*it;
}

const OpAttribute* OpKind::find_attribute(std::string_view wanted) const {
  const auto it = std::find_if(attributes.begin(), attributes.end(), [&](const OpAttribute& a) { return wanted == a.name; });
  return it == attributes.end() ? nullptr : &*it;
}

std::span<const ElementwiseFunction> elementwise_functions() { return kElementwise; }

bool is_async_load(const TileOp& op) {
  const auto* variant = op.attr<std::string>("variant");
  return op.kind == "load" && variant && *variant == "async";
}

bool looks_rows_up(const TileOp& op) { return op.kind == "gather" && op.inputs.empty() && !op.at.empty(); }

std::optional<Expr> end_of_rows(const TileOp& op) {
  const auto* text = op.kind == "tma_store" || op.kind == "store" ? op.attr<std::string>("before") : nullptr;
  if (!text) return std::nullopt;
  Result<Expr> end = Expr::parse(*text);
  return end.ok() ? std::optional(*std::move(end)) : std::nullopt;
}

std::optional<float> number_of(const Attr& attr) {
  if (const auto* whole = std::get_if<std::int64_t>(&attr)) return static_cast<float>(*whole);
  const auto* text = std::get_if<std::string>(&attr);
  const auto value = text ? read_number<double>(*text) : std::nullopt;
  return value ? std::optional(static_cast<float>(*value)) : std::nullopt;
}

std::string attribute_fault(const OpAttribute& attribute, const Attr& value) {
  switch (attribute.type) {
    case Type::Flag: return std::holds_alternative<bool>(value) ? "" : "expected true or false";
    case Type::Integer: {
      const auto* number = std::get_if<std::int64_t>(&value);
      return number && *number >= attribute.low && *number <= attribute.high
                 ? ""
                 : fmt::format("expected an integer from {} to {}", attribute.low, attribute.high);
    }
    case Type::Number: return number_of(value) ? "" : "expected an integer, or a decimal number in quotes: \"0.5\"";
    case Type::Function: {
      std::vector<std::string> known;
      for (const ElementwiseFunction& f : kElementwise) known.emplace_back(f.name);
      const auto* text = std::get_if<std::string>(&value);
      return text && std::find(known.begin(), known.end(), *text) != known.end() ? "" : fmt::format("expected one of {}", list_of(known));
    }
    case Type::Expression: {
      const auto* text = std::get_if<std::string>(&value);
      const auto expr = text ? Expr::parse(*text) : Error::input("expected an expression in quotes: \"starts[b + 1]\"");
      return expr.ok() ? "" : expr.error().faults.front().message;
    }
    case Type::Text: return std::holds_alternative<std::string>(value) ? "" : "expected a string";
  }
  return "";
}

}  // namespace heddle
