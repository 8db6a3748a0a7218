#include "core/dump/dump_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/analysis/channels.h"
#include "core/base/suggest.h"
#include "core/dump/dump_json.h"

namespace heddle::dump {
namespace {

bool is_file(const std::string& path) {
  std::error_code code;
  return std::filesystem::is_regular_file(path, code);
}

bool number_in(std::string_view text, std::int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0;
}

}  // namespace

Result<DumpAddress> parse_address(const std::string& name) {
  DumpAddress address;
  const std::size_t mark = name.rfind('#');
  if (mark == std::string::npos || is_file(name)) {
    address.path = name;
    return address;
  }
  address.path = name.substr(0, mark);
  std::string_view rest = std::string_view(name).substr(mark + 1);
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    std::int64_t value = 0;
    if (number_in(word, value) || (word.starts_with("loop") && number_in(word.substr(4), value)))
      address.loop = value;
    else if (word.starts_with("variant") && number_in(word.substr(7), value) && value < 1 << 20)
      address.variant = static_cast<int>(value);
    else if (const auto reading = parse_reading(word))
      address.reading = reading;
    else
      return Error::in_file(address.path, fmt::format("'{}' after # means nothing here", word),
                            "known: the number of a loop, full, issue-slots, variantN");
  }
  return address;
}

Result<const DumpLoop*> find_loop(const Dump& dump, const DumpAddress& address) {
  const auto has_ops = [](const DumpLoop& l) { return !l.nodes.empty(); };
  if (!address.loop && std::count_if(dump.loops.begin(), dump.loops.end(), has_ops) == 1)
    return &*std::find_if(dump.loops.begin(), dump.loops.end(), has_ops);
  if (!address.loop)
    return Error::in_file(dump.file,
                          fmt::format("the file has {} loops; say which one, like {}#{}", dump.loops.size(), dump.file, dump.loops[0].id),
                          list_loops(dump));
  const auto it = std::find_if(dump.loops.begin(), dump.loops.end(), [&](const DumpLoop& l) { return l.id == *address.loop; });
  if (it == dump.loops.end())
    return Error::in_file(dump.file, fmt::format("the file has no loop {}", *address.loop), "it has " + list_loops(dump));
  if (!has_ops(*it))
    return Error::in_file(dump.file, fmt::format("loop {} has no ops; there is nothing to schedule", it->id),
                          "the file has " + list_loops(dump));
  return &*it;
}

Result<Schedule> stored_schedule(const Dump& dump, const DumpAddress& address, const Problem& problem) {
  for (const DumpLoop& loop : dump.loops) {
    if ((address.loop && loop.id != *address.loop) || !has_ops_of(loop, problem)) continue;
    if (std::optional<Schedule> schedule = to_schedule(dump, loop, problem)) return *std::move(schedule);
    return Error::in_file(address.path, fmt::format("loop {} has no schedule, only a graph", loop.id),
                          "give a schedule_graph file, or solve it");
  }
  return Error::in_file(address.path, fmt::format("no loop in this file has the ops of {}", problem.kernel), "it has " + list_loops(dump));
}

Result<Schedule> joint_schedule(const std::string& path, const std::string& text, const Problem& problem) {
  const Result<JointSolution> solution = parse_joint_solution(text, path);
  if (!solution) return solution.error();
  Schedule schedule;
  schedule.name = std::filesystem::path(path).stem().string();
  schedule.kernel = problem.kernel;
  schedule.machine = problem.machine;
  schedule.params = problem.params;
  schedule.layouts = choices_of(problem);
  schedule.ii = solution->ii;
  schedule.provenance = {"imported", "joint solver", path};
  schedule.groups.resize(1);
  schedule.ops.assign(problem.ops.size(), {0, GroupId(0)});
  std::vector<bool> placed(problem.ops.size(), false);
  Error error;
  for (const auto& [id, cycle] : solution->cycles) {
    // Names of such problems end in the node's number.
    const std::string ending = fmt::format("_{}", id);
    const auto op = std::find_if(problem.ops.begin(), problem.ops.end(), [&](const Op& o) { return o.name.ends_with(ending); });
    if (op == problem.ops.end()) {
      error.faults.push_back({path, fmt::format("/cycles/{}", id), fmt::format("the problem has no node {}", id), {}});
      continue;
    }
    const auto index = static_cast<std::size_t>(op - problem.ops.begin());
    placed[index] = true;
    schedule.ops[index].start = cycle;
  }
  for (std::size_t v = 0; v < placed.size(); ++v)
    if (!placed[v]) error.faults.push_back({path, "/cycles", fmt::format("op '{}' has no cycle", problem.ops[v].name), {}});
  if (schedule.ii < 1)
    error.faults.push_back({path, "/ii", "the solution names no II", "a solution of joint-solver-0.2 is for the II of its problem"});
  if (!error.faults.empty()) return error;
  derive_groups(problem, schedule, UnusedGroups::Keep);
  schedule.depths.assign(problem.channels.size(), 0);
  schedule.depths = minimal_depths(problem, schedule);
  return schedule;
}

}  // namespace heddle::dump
