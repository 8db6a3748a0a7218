#include "app/window/parts/dump_op_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {

std::string describe_node(const dump::DumpNode& node) {
  std::string text = printable(node.what);
  text += fmt::format("{}{}, node {}", text.empty() ? "" : " · ", printable(node.kind), node.id);
  if (node.cycle) text += fmt::format(" · stored: cycle {}", grouped(*node.cycle));
  if (node.stage) text += fmt::format(", stage {}", *node.stage);
  if (node.group >= 0) text += fmt::format(", wg{}", node.group);
  if (node.group == dump::kReplicated) text += ", a copy in every group";
  if (node.occupancy_derived) text += " · occupancy by the compiler's published rules, not in the file";
  return text;
}

std::optional<std::int64_t> loop_inside(const dump::Dump& dump, const dump::DumpNode& node) {
  if (!node.super) return std::nullopt;
  const bool here = std::any_of(dump.loops.begin(), dump.loops.end(), [&](const dump::DumpLoop& l) { return l.id == node.inner_loop; });
  return here ? std::optional(node.inner_loop) : std::nullopt;
}

}  // namespace heddle::app
