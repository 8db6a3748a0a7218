#include "core/check/checker.h"

#include <fmt/format.h>

#include "core/check/families.h"
#include "core/check/form.h"

namespace heddle {
namespace {

/// Above any sum of costs a problem may have (2^31 each), below any overflow in the arithmetic of the judges.
constexpr Cycle kAbsurd = Cycle{1} << 45;

}  // namespace

std::string Case::group_name(GroupId group) const {
  const std::string& role = schedule.groups[group.index()].role;
  return role.empty() ? fmt::format("group {}", group.index()) : fmt::format("group {} ({})", group.index(), role);
}

std::vector<Violation> form_violations(const Problem& p, const Schedule& s) {
  std::vector<Violation> found;
  const auto object = [&](std::string message, std::vector<OpId> ops, std::int64_t amount, std::int64_t limit) {
    found.push_back({"form", std::move(message), std::move(ops), -1, amount, limit});
  };
  const auto sizes = [&](const char* what, std::size_t has, std::size_t wanted) {
    if (has != wanted)
      object(fmt::format("the schedule has {} {}, the problem has {}", has, what, wanted), {}, static_cast<std::int64_t>(has),
             static_cast<std::int64_t>(wanted));
  };
  sizes("op placements", s.ops.size(), p.ops.size());
  sizes("channel depths", s.depths.size(), p.channels.size());
  if (s.ii < 1) object(fmt::format("II is {}, at least 1 is needed", s.ii), {}, s.ii, 1);
  if (s.ii > kAbsurd) object(fmt::format("II is {}, which is absurd", s.ii), {}, s.ii, kAbsurd);
  for (std::size_t v = 0; v < std::min(s.ops.size(), p.ops.size()); ++v) {
    const Placement& place = s.ops[v];
    const std::string& name = p.ops[v].name;
    if (place.start < 0) object(fmt::format("{} starts at {}, before cycle 0", name, place.start), {OpId(v)}, place.start, 0);
    if (place.start > kAbsurd) object(fmt::format("{} starts at {}, which is absurd", name, place.start), {OpId(v)}, place.start, kAbsurd);
    if (!place.group.valid() || place.group.index() >= s.groups.size())
      object(place.group.valid()
                 ? fmt::format("{} is in group {}, but there are only {} groups", name, place.group.index(), s.groups.size())
                 : fmt::format("{} is in no group", name),
             {OpId(v)}, place.group.valid() ? static_cast<std::int64_t>(place.group.index()) : -1,
             static_cast<std::int64_t>(s.groups.size()) - 1);
  }
  for (std::size_t g = 0; g < s.groups.size(); ++g) {
    if (s.groups[g].warps < 0 || s.groups[g].registers < 0)
      object(fmt::format("group {} has {} warps and {} registers; neither may be negative", g, s.groups[g].warps, s.groups[g].registers),
             {}, std::min(s.groups[g].warps, s.groups[g].registers), 0);
  }
  for (std::size_t ch = 0; ch < std::min(s.depths.size(), p.channels.size()); ++ch) {
    if (s.depths[ch] < 0)
      object(fmt::format("channel {} has depth {}", p.channels[ch].name, s.depths[ch]), {p.channels[ch].writer}, s.depths[ch], 0);
  }
  return found;
}

Verdict check(const Problem& problem, const Schedule& schedule, const Constraints& constraints) {
  Verdict verdict{form_violations(problem, schedule)};
  if (!verdict.valid()) return verdict;
  const Case c{problem, schedule, verdict.violations};
  check_group_count(c);
  check_dependences(c);
  check_units(c);
  check_issue(c);
  check_blocking(c);
  check_variable_latency(c);
  check_warps(c);
  check_registers(c);
  check_memory(c);
  check_channels(c);
  check_layouts(c);
  check_user(c, constraints);
  return verdict;
}

}  // namespace heddle
