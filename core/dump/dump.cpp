#include "core/dump/dump.h"

#include <fmt/format.h>

#include <algorithm>

namespace heddle::dump {

const char* to_string(Format format) {
  switch (format) {
    case Format::Ddg: return "ddg-0.1";
    case Format::ScheduleGraph: return "schedule_graph 0.1";
    case Format::Curated: return "curated-ddg-0.2";
    case Format::JointCycles: return "joint-solver-0.1";
    case Format::JointGroups: return "joint-solver-0.2";
  }
  return "";
}

bool DumpLoop::scheduled() const {
  return stated_ii && !nodes.empty() && std::all_of(nodes.begin(), nodes.end(), [](const DumpNode& n) { return n.cycle.has_value(); });
}

bool DumpLoop::grouped() const {
  return std::any_of(nodes.begin(), nodes.end(), [](const DumpNode& n) { return n.group >= 0; });
}

const DumpNode* DumpLoop::find(std::int64_t id) const {
  const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const DumpNode& n) { return n.id == id; });
  return it == nodes.end() ? nullptr : &*it;
}

std::string list_loops(const Dump& dump) {
  std::string text;
  constexpr std::size_t kMost = 16;
  for (std::size_t i = 0; i < std::min(kMost, dump.loops.size()); ++i) {
    const DumpLoop& loop = dump.loops[i];
    text += fmt::format("{}#{}: {} {}{}", i ? ", " : "", loop.id, loop.nodes.size(), loop.nodes.size() == 1 ? "op" : "ops",
                        loop.outer ? " (outer)" : "");
    if (loop.stated_ii) text += fmt::format(", II {}", *loop.stated_ii);
  }
  return dump.loops.size() > kMost ? text + ", ..." : text;
}

}  // namespace heddle::dump
