// What an iteration beyond the kernel's own computes, op by op: tiles of zeros, of ones, hidden ones, or what was there before.
#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <fmt/format.h>

#include "codegen/program/run_time_sizes.h"
#include "core/base/scanner.h"
#include "core/kernel/index_data.h"
#include "core/kernel/op_kind.h"
#include "core/kernel/op_shapes.h"
#include "core/kernel/switches.h"

namespace heddle::codegen {
namespace {

constexpr int kSamples = 200, kMostTries = 20'000;
constexpr std::int64_t kMostUnits = 24, kUsualTile = 128;
constexpr double kHidden = -1e20;  ///< what a mask must be below for powers of it to be 0, whatever it is scaled by

struct Tile {
  enum class Kind { Zero, One, Hidden, Same, Any };
  Kind kind = Kind::Any;
  std::string as;  ///< Same: of this value, in the iteration before
  bool operator==(const Tile&) const = default;
};
using Kind = Tile::Kind;

class ExtraIteration {
 public:
  ExtraIteration(const Kernel& kernel, const Scope& params)
      : kernel_(kernel), params_(with_switches(kernel, params)), sizes_(run_time_names(kernel)) {}

  std::string harm() {
    for (const TileOp& op : kernel_.body) {
      if (op.kind == "tma_store" || op.kind == "store" || op.kind == "atomic_add") {
        const bool adds_nothing = op.kind == "atomic_add" && input(op, 0).kind == Kind::Zero;
        if (!adds_nothing && !lies_beyond(op, op.inputs.at(0).value))
          return fmt::format("'{}' would write what is not the kernel's", op.name);
      }
      for (const std::string& out : op.outputs) tiles_[out] = result(op);
    }
    const auto changes = [&](const std::string& value) {
      const auto made = tiles_.find(value);
      return made != tiles_.end() && made->second != Tile{Kind::Same, value};
    };
    for (const auto* list : {&kernel_.body, &kernel_.epilogue})
      for (const TileOp& op : *list)
        for (const Operand& in : op.inputs)
          if ((in.distance > 0 || list == &kernel_.epilogue) && changes(in.value))
            return fmt::format("'{}' would become another one, and '{}' reads it", in.value, op.name);
    return {};
  }

 private:
  Tile input(const TileOp& op, std::size_t k) const {
    if (k >= op.inputs.size()) return {};
    const Operand& in = op.inputs[k];
    if (in.distance == 1) return {Kind::Same, in.value};
    const auto made = tiles_.find(in.value);
    return made == tiles_.end() || in.distance > 0 ? Tile{} : made->second;
  }

  Tile result(const TileOp& op) const {
    const std::string fn = text_attr(op, op.kind == "map" ? "expr" : "fn");
    const auto is = [&](std::size_t k, Kind kind) { return input(op, k).kind == kind; };
    const auto sum = [&](bool nothing, std::size_t k) {
      return !nothing ? Tile{} : op.inputs.size() > k ? input(op, k) : Tile{Kind::Zero, {}};
    };
    if (op.kind == "tma_load") return lies_beyond(op, op.outputs.at(0)) ? Tile{Kind::Zero, {}} : Tile{};
    if (op.kind == "mask") return is_masked(op) ? Tile{Kind::Hidden, {}} : Tile{};
    if (op.kind == "mma") return sum(is(0, Kind::Zero) || is(1, Kind::Zero), 2);
    if (op.kind == "reduce_max") return is(0, Kind::Hidden) ? input(op, 1) : Tile{};
    if (op.kind == "reduce_sum") return op.inputs.size() < 3 || is(2, Kind::One) ? sum(is(0, Kind::Zero), 1) : Tile{};
    if (op.kind == "exp2") {
      if (is(0, Kind::Hidden)) return {Kind::Zero, {}};
      if (op.inputs.size() == 1 && is(0, Kind::Zero)) return {Kind::One, {}};
      if (op.inputs.size() == 2 && !is(0, Kind::Any) && input(op, 0) == input(op, 1) && !op.attrs.contains("scale")) return {Kind::One, {}};
      return {};
    }
    if (op.kind == "convert" || op.kind == "copy" || op.kind.ends_with("_store") || op.kind.ends_with("_load")) return input(op, 0);
    // With finite numbers a product with zero is zero.
    if (op.kind == "map" && fn == "fma(x0, x1 * x2, x3)") return sum(is(0, Kind::Zero) || is(1, Kind::Zero) || is(2, Kind::Zero), 3);
    if (op.kind != "elementwise") return {};
    if (fn == "mul" && (is(0, Kind::Zero) || is(1, Kind::Zero))) return {Kind::Zero, {}};
    if (fn == "mul" && (is(0, Kind::One) || is(1, Kind::One)) && !op.attrs.contains("scale")) return input(op, is(0, Kind::One) ? 1 : 0);
    if (fn == "sub" && is(0, Kind::Hidden)) return {Kind::Hidden, {}};
    if (fn == "sub" && is(0, Kind::Zero) && is(1, Kind::Zero)) return {Kind::Zero, {}};
    if (fn == "fma") return sum(is(0, Kind::Zero) || is(1, Kind::Zero), 2);
    if (fn == "add" && is(0, Kind::Zero)) return input(op, 1);
    if (fn == "add" && is(1, Kind::Zero) && !op.attrs.contains("scale")) return input(op, 0);
    return {};
  }

  /// Calls holds(scope) for an extra iteration of tiles of other sizes, as long as it answers true.
  template <class Holds>
  bool always(Holds holds) const {
    std::mt19937_64 random(45);
    const auto below = [&](std::int64_t bound) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(bound)); };
    // Sizes are whole tiles as often as not.
    std::vector<std::int64_t> units{1, kUsualTile};
    for (const auto& [name, value] : params_)
      if (std::find(sizes_.begin(), sizes_.end(), name) == sizes_.end() && value > 1 && value <= 8 * kUsualTile) units.push_back(value);
    int tried = 0;
    for (int sample = 0; sample < kMostTries && tried < kSamples; ++sample) {
      Scope scope = params_;
      for (const std::string& size : sizes_) {
        const std::int64_t unit = units[static_cast<std::size_t>(below(static_cast<std::int64_t>(units.size())))];
        scope[size] = unit == 1 ? 1 + below(kMostUnits * kUsualTile) : unit * (1 + below(kMostUnits));
      }
      const auto fine = [&](const Condition& c) {
        const auto value = c.expr.evaluate(scope);
        return value.ok() && *value != 0;
      };
      const auto exact = [&](const SizeExpr& size) { return divides_exactly(*size.expr, scope); };
      const auto exprs = size_exprs(kernel_);
      if (!std::all_of(kernel_.conditions.begin(), kernel_.conditions.end(), fine) || !std::all_of(exprs.begin(), exprs.end(), exact))
        continue;
      auto with_tables = with_index_tables(kernel_, std::move(scope));
      if (!with_tables.ok()) continue;
      scope = *std::move(with_tables);
      for (const GridDim& dim : kernel_.grid) {
        const auto size = dim.size.evaluate(scope);
        if (!size.ok() || *size < 1) return false;
        scope[dim.name] = below(*size);
      }
      const auto trips = kernel_.loop.trips.evaluate(scope);
      if (!trips.ok()) return false;
      scope[kernel_.loop.variable] = *trips + below(8);
      if (!holds(scope)) return false;
      ++tried;
    }
    return tried >= kSamples / 4;
  }

  /// The tile of this value is nowhere in the op's tensor.
  bool lies_beyond(const TileOp& op, const std::string& value) const {
    const Tensor* tensor = kernel_.find_tensor(op.tensor);
    const TileValue* tile = kernel_.find_value(value);
    if (!tensor || !tile || op.at.size() != tensor->shape.size() || tile->shape.size() > op.at.size()) return false;
    const std::size_t lead = op.at.size() - tile->shape.size();
    for (std::size_t d = 0; d < op.at.size(); ++d)
      if (always([&](const Scope& scope) {
            const auto at = op.at[d].evaluate(scope), extent = tensor->shape[d].evaluate(scope);
            const auto height = d < lead ? Result<std::int64_t>(1) : tile->shape[d - lead].evaluate(scope);
            return at.ok() && extent.ok() && height.ok() && (*at >= *extent || *at + *height <= 0);
          }))
        return true;
    return false;
  }

  /// From its first column on, which lies beyond the end; or above the diagonal in all rows that are stored of what follows from it.
  bool is_masked(const TileOp& op) const {
    const auto value = read_number<double>(text_attr(op, "value"));
    if (!value || *value > kHidden) return false;
    if (op.at.size() != 2) return false;
    if (flag_attr(op, "before"))  // `at` has the end, then the first column (or row)
      return always([&](const Scope& scope) {
        const auto end = op.at[0].evaluate(scope), first = op.at[1].evaluate(scope);
        return end.ok() && first.ok() && *first >= *end;
      });
    if (flag_attr(op, "transpose")) return false;  // keeps what lies beyond the last row
    bool stored = false;
    const std::set<std::string> follows = made_from(op);
    for (const TileOp& store : kernel_.epilogue) {
      const Tensor* tensor = kernel_.find_tensor(store.tensor);
      const TileValue* tile = store.inputs.empty() ? nullptr : kernel_.find_value(store.inputs[0].value);
      if (!tensor || !tile || !store.outputs.empty() || !follows.contains(tile->name)) continue;
      if (store.at.size() != tensor->shape.size() || store.at.size() < tile->shape.size()) return false;
      const std::size_t d = store.at.size() - tile->shape.size();
      const std::optional<Expr> before = end_of_rows(store);
      stored = always([&](const Scope& scope) {
        const auto row = op.at[0].evaluate(scope), column = op.at[1].evaluate(scope);
        const auto from = store.at[d].evaluate(scope), end = before.value_or(tensor->shape[d]).evaluate(scope);
        return row.ok() && column.ok() && from.ok() && end.ok() && *row + (*end - 1 - *from) < *column;
      });
      if (!stored) return false;
    }
    return stored;
  }

  /// Everything that depends on its results.
  std::set<std::string> made_from(const TileOp& op) const {
    std::set<std::string> names(op.outputs.begin(), op.outputs.end());
    for (std::size_t before = 0; before != names.size();) {
      before = names.size();
      for (const auto* list : {&kernel_.body, &kernel_.epilogue})
        for (const TileOp& next : *list)
          if (std::any_of(next.inputs.begin(), next.inputs.end(), [&](const Operand& in) { return names.contains(in.value); }))
            names.insert(next.outputs.begin(), next.outputs.end());
    }
    return names;
  }

  const Kernel& kernel_;
  const Scope params_;
  const std::vector<std::string> sizes_;
  std::map<std::string, Tile> tiles_;
};

}  // namespace

std::string harm_of_more_trips(const Kernel& kernel, const Scope& params) { return ExtraIteration(kernel, params).harm(); }

}  // namespace heddle::codegen
