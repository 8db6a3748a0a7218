// Draws by remainder, because the standard distributions differ between libraries.
#include "tests/support/random_constraint.h"

#include <algorithm>

namespace heddle::test {

std::optional<UserConstraint> random_constraint(const Problem& problem, Cycle ii, std::mt19937& random) {
  const auto below = [&](std::int64_t n) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n)); };
  const auto op = [&] { return problem.ops[static_cast<std::size_t>(below(static_cast<std::int64_t>(problem.ops.size())))].name; };
  UserConstraint c;
  c.kind = static_cast<ConstraintKind>(below(static_cast<std::int64_t>(kLastConstraintKind) + 1));
  c.name = to_string(c.kind);
  switch (c.kind) {
    case ConstraintKind::Pin:
      c.ops = {op()};
      c.low = below(2 * ii);
      break;
    case ConstraintKind::Range:
      c.ops = {op()};
      c.low = below(2 * ii);
      c.high = c.low + below(4);
      break;
    case ConstraintKind::InGroup:
    case ConstraintKind::NotInGroup:
      c.ops = {op()};
      c.low = below(problem.max_groups);
      break;
    case ConstraintKind::SameGroup:
    case ConstraintKind::DifferentGroup:
    case ConstraintKind::SameStage: c.ops = {op(), op()}; break;
    case ConstraintKind::Before:
      c.ops = {op(), op()};
      c.low = below(8) - 2;
      break;
    case ConstraintKind::EarlierStage:
      c.ops = {op(), op()};
      c.low = 1 + below(2);
      break;
    case ConstraintKind::MaxStages: c.high = 1 + below(3); break;
    case ConstraintKind::MaxWarps: c.high = 1 + below(8); break;
    case ConstraintKind::MaxGroups: c.high = 1 + below(2); break;
    case ConstraintKind::MaxRegisters: c.high = 4 + below(12); break;
    case ConstraintKind::MaxSmem: c.high = 16 * below(8); break;
    case ConstraintKind::MaxTmem: c.high = 32 * below(4); break;
    case ConstraintKind::OneByOne: break;
    case ConstraintKind::IIRange:
      c.low = 1 + below(ii);
      c.high = below(3) == 0 ? 0 : c.low + below(ii);
      break;
    case ConstraintKind::ClosedGroup: c.ops = {op()}; break;
    case ConstraintKind::MaxWidthRegisters: c.high = 768 * (1 + below(40)); break;
    case ConstraintKind::MaxStageSmem:
    case ConstraintKind::MaxCrossingSmem:
      for (std::int64_t rings = 1 + below(2); rings > 0; --rings) c.rings.push_back({op(), {op()}, 16 * below(4)});
      if (c.kind == ConstraintKind::MaxCrossingSmem) c.low = 16 * below(4);
      c.high = 16 * below(12);
      break;
    case ConstraintKind::MaxDepth:
      if (problem.channels.empty()) return std::nullopt;
      c.channel = problem.channels[static_cast<std::size_t>(below(static_cast<std::int64_t>(problem.channels.size())))].name;
      c.high = below(3);
      break;
  }
  if (c.ops.size() == 2 && c.ops[0] == c.ops[1]) return std::nullopt;
  return c;
}

void random_edit(const Problem& problem, Cycle ii, Constraints& constraints, std::mt19937& random) {
  const auto any = [&]() -> UserConstraint& { return constraints[random() % constraints.size()]; };
  switch (constraints.empty() ? 0 : random() % 6) {
    case 1: constraints.erase(constraints.begin() + static_cast<std::ptrdiff_t>(random() % constraints.size())); break;
    case 2: any().enabled ^= true; break;
    case 3: any().low += static_cast<std::int64_t>(random() % 3) - 1; break;
    default:
      if (const auto fresh = random_constraint(problem, ii, random)) constraints.push_back(*fresh);
  }
  // A group number may have been moved out of range, which is a fault of its own.
  for (UserConstraint& c : constraints)
    if (c.kind == ConstraintKind::InGroup) c.low = std::max<std::int64_t>(0, std::min<std::int64_t>(c.low, problem.max_groups - 1));
}

}  // namespace heddle::test
