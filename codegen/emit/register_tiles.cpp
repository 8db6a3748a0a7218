// What a thread has of every value, from the plan's layouts.
#include "codegen/emit/writer.h"
#include "core/layout/known.h"

namespace heddle::codegen {

void Writer::lay_out_values() {
  plan_ = problem_.layouts;
  using Family = LayoutPlan::Family;
  const Family family = plan_ ? plan_->family : Family::None;
  tiles_ = family == Family::Products ? Tiles::Fragments : family == Family::TensorProducts ? Tiles::ThreadRows : Tiles::WarpRows;
  for (const TileValue& v : kernel_.values) {
    Value& value = values_.emplace_back();
    for (const Expr& extent : v.shape) value.shape.push_back(extent.evaluate(program_.params).value());
    value.per_register = 32 / bits_of(v.dtype);
    value.packed = value.per_register > 1;
  }
  if (!plan_ || plan_->values.size() != values_.size()) {
    refusals_.push_back({"layout", {}, "nothing is known of how values lie: the problem has no plan of its layouts", std::nullopt});
    return;
  }
  if (!schedule_.layouts.empty() && schedule_.layouts != plan_->choices) {
    refusals_.push_back(
        {"layout", {}, "the schedule chooses layouts and instructions with which the problem was not resolved", std::nullopt});
    return;
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const TileValue& v = kernel_.values[i];
    Value& value = values_[i];
    if (v.space != Space::Register) continue;
    const auto odd = [&](const std::string& what) {
      refusals_.push_back({"layout", {}, fmt::format("'{}' {}", v.name, what), std::nullopt});
    };
    if (v.dtype == DType::I32) {
      odd("holds integers of 32 bits in registers; f32, and numbers of 16, 8 and 4 bits can be written");
      continue;
    }
    const std::string wrong = lay_out(i, value);
    if (!wrong.empty()) odd(wrong);
    if (!value.layout) continue;
    const int elements = value.layout->elements;
    if (elements > 256) odd("takes more registers than a thread has");
    if (elements % value.per_register != 0 && value.shape.size() == 2)
      odd(fmt::format("has {} elements in a thread, which make no whole registers", elements));
    if (value.shape.size() == 1) {
      const std::int64_t words = (elements + value.per_register - 1) / value.per_register, share = (value.shape[0] + 127) / 128;
      const std::int64_t said = v.registers ? v.registers->evaluate(program_.params).value() : share;
      if (said < words)
        odd(fmt::format("lies in {} registers of every thread, and its file says {} (\"registers\": {})", words, said, words));
    }
  }
}

/// What a thread has of a value, from its layout; or what is wrong with that.
std::string Writer::lay_out(std::size_t v, Value& value) const {
  const ValuePlan& plan = plan_->values[v];
  if (!plan.layout) return plan.unknown.empty() ? "has a shape that is spread over threads in no known way" : plan.unknown;
  const heddle::Layout& from = *plan.layout;
  if (from.shape != value.shape) return fmt::format("lies as {}, which is of another shape", plan.text);
  const auto extent = [&](LayoutAxis axis) { return from.extent(axis); };
  if (from.in_memory() || extent(LayoutAxis::Lane) > 32 || extent(LayoutAxis::Warp) > 4)
    return fmt::format("lies as {}, which is not in the registers of four warps", plan.text);
  Layout& layout = *(value.layout = Layout());
  layout.elements = static_cast<int>(extent(LayoutAxis::Register));
  const bool tile = value.shape.size() == 2;
  if (tile) {
    layout.rows = value.shape[0], layout.cols = value.shape[1];
    layout.columns = tiles_ == Tiles::WarpRows ? static_cast<int>(layout.cols / 32) : tiles_ == Tiles::ThreadRows ? layout.elements : 0;
    const heddle::Layout usual = tiles_ == Tiles::Fragments  ? accumulator_layout(layout.cols)
                                 : tiles_ == Tiles::WarpRows ? warp_rows_layout(layout.rows, layout.cols)
                                                             : thread_rows_layout(layout.rows, layout.cols);
    layout.usual = from == usual || same_places(from, usual);
    const auto other = tiles_ == Tiles::Fragments ? relabelled(usual, 1) : std::nullopt;
    layout.usual_rows = layout.usual || (other && same_places(from, *other));
    return {};
  }
  // Rows are spread over warps, columns are not.
  LayoutPlace last;
  last[LayoutAxis::Warp] = extent(LayoutAxis::Warp) - 1;
  const auto element = element_at(from, last);
  const bool rows = element && (*element)[0] > 0;
  layout.kind = rows ? Layout::Kind::Rows : Layout::Kind::Columns;
  (rows ? layout.rows : layout.cols) = value.shape[0];
  const auto usual = usual_vector(rows, value.shape[0]);
  layout.usual = layout.usual_rows = usual && (from == *usual || same_places(from, *usual));
  return {};
}

/// A vector of one number per row or per column lies as the tiles do, without the other dimension.
std::optional<heddle::Layout> Writer::usual_vector(bool rows, std::int64_t extent) const {
  const auto across = [&](std::int64_t least) { return rows ? least : extent; };
  switch (tiles_) {
    case Tiles::Fragments:
      if (rows ? extent != 64 : extent % 8 != 0) return std::nullopt;
      return without_dimension(accumulator_layout(across(16)), rows ? 1 : 0);
    case Tiles::WarpRows:
      if (extent % (rows ? 4 : 256) != 0) return std::nullopt;
      return without_dimension(warp_rows_layout(rows ? extent : 4, across(256)), rows ? 1 : 0);
    case Tiles::ThreadRows:
      if (!rows || extent != 128) return std::nullopt;
      return without_dimension(thread_rows_layout(extent, across(16)), 1);
  }
  return std::nullopt;
}

bool Writer::lies_alike(std::size_t a, std::size_t b) const {
  const heddle::Layout *one = layout_of(a), *other = layout_of(b);
  return !one || !other || one == other || same_places(*one, *other);
}

/// Refuses what is written for the layouts of Tiles only.
bool Writer::lies_as_usual(const Step& step, const TileOp& op) {
  const bool by_row = is_reduction(op.kind) && integer_attr(op, "axis", 1) == 1;
  const auto usual = [&](const Place& p) {
    const auto& layout = values_[p.value].layout;
    if (p.kind == Place::Kind::None || !layout || layout->usual || (by_row && layout->usual_rows)) return true;
    refuse("layout", op,
           fmt::format("'{}' is written for registers that lie as {}, and '{}' lies as {}: a copy can bring it there", op.name,
                       tiles_ == Tiles::Fragments  ? "accumulator"
                       : tiles_ == Tiles::WarpRows ? "warp_rows"
                                                   : "thread_rows",
                       kernel_.values[p.value].name, plan_->values[p.value].text));
    return false;
  };
  bool all = usual(step.output);
  for (const Place& p : step.inputs) all = usual(p) && all;
  return all;
}

std::string Writer::index_of_row(const Layout& tile) const {
  switch (tiles_) {
    case Tiles::Fragments: return "(e >> 1) & 1";
    case Tiles::WarpRows: return fmt::format("e / {}", tile.columns);
    case Tiles::ThreadRows: break;
  }
  return "0";
}

}  // namespace heddle::codegen
