// Words about a dump.
#include "app/window/parts/dump_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "app/session/files.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"

namespace heddle::app {
namespace {

std::string facts_of(const dump::Loop& loop) {
  if (loop.nodes.empty()) return "no ops";
  std::string text = count_of(static_cast<std::int64_t>(loop.nodes.size()), "op");
  if (loop.stated_ii && loop.scheduled()) return text + fmt::format(" · II {}", grouped(*loop.stated_ii));
  if (loop.min_ii) return text + fmt::format(" · MinII {}", grouped(*loop.min_ii));
  return text + " · no schedule";
}

/// The loop that has this one as an op.
std::optional<std::int64_t> loop_around(const dump::Dump& dump, std::int64_t id) {
  for (const dump::Loop& outer : dump.loops)
    for (const dump::Node& n : outer.nodes)
      if (n.super && n.inner_loop == id && outer.id != id) return outer.id;
  return std::nullopt;
}

}  // namespace

DumpModel build_dump(const DumpSource& source) {
  const dump::Dump& dump = source.dump();
  DumpModel model;
  model.file = printable(base_name(source.file->path));
  if (dump.variants > 0) model.file += fmt::format(" · {} variants", dump.variants);
  model.format = to_string(dump.format);
  model.about = fmt::format("{}{}; shared memory {} bytes, tensor memory {} bytes", model.format,
                            dump.algorithm.empty() ? "" : ", made by " + printable(dump.algorithm), grouped(dump.smem_budget),
                            grouped(dump.tmem_budget));
  for (std::size_t i = 0; i < dump.loops.size(); ++i) {
    const dump::Loop& loop = dump.loops[i];
    LoopChoice choice{loop.id, fmt::format("loop {}", loop.id), facts_of(loop), i == source.loop};
    if (const auto around = loop_around(dump, loop.id)) choice.name += fmt::format(" in {}", *around);
    model.loops.push_back(std::move(choice));
  }
  return model;
}

std::string describe_node(const dump::Node& node) {
  std::string text = printable(node.what);
  text += fmt::format("{}{}, node {}", text.empty() ? "" : " · ", printable(node.kind), node.id);
  if (node.cycle) text += fmt::format(" · stored: cycle {}", grouped(*node.cycle));
  if (node.stage) text += fmt::format(", stage {}", *node.stage);
  if (node.group >= 0) text += fmt::format(", wg{}", node.group);
  if (node.group == dump::kReplicated) text += ", a copy in every group";
  if (node.occupancy_derived) text += " · occupancy by the compiler's published rules, not in the file";
  return text;
}

std::optional<std::int64_t> loop_inside(const DumpSource& source, const dump::Node& node) {
  if (!node.super) return std::nullopt;
  const auto& loops = source.dump().loops;
  const bool here = std::any_of(loops.begin(), loops.end(), [&](const dump::Loop& l) { return l.id == node.inner_loop; });
  return here ? std::optional(node.inner_loop) : std::nullopt;
}

}  // namespace heddle::app
