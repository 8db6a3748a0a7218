// Properties of the checker on random problems: it agrees with a simulation of many iterations on arbitrary schedules and
// on mutants of valid ones; shifts of all starts change nothing; a schedule for II is one for II + 1.
#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>

#include "core/analysis/bounds.h"
#include "core/analysis/channels.h"
#include "core/analysis/period.h"
#include "core/analysis/slack.h"
#include "core/analysis/usage.h"
#include "core/check/checker.h"
#include "tests/support/brute_force.h"
#include "tests/support/random_problem.h"
#include "tests/support/unrolled.h"

using namespace heddle;
using namespace heddle::test;

namespace {

std::set<std::string> families(const Verdict& verdict) {
  std::set<std::string> result;
  for (const Violation& v : verdict.violations) result.insert(v.family);
  return result;
}

std::string listed(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

/// Anything at all, of sound form.
Schedule random_schedule(const Problem& p, std::mt19937& random) {
  Schedule s;
  s.ii = 1 + random() % 12;
  const std::size_t groups = 1 + random() % static_cast<std::size_t>(p.max_groups);
  for (const Op& op : p.ops)
    s.ops.push_back({static_cast<Cycle>(random() % static_cast<unsigned>(3 * s.ii)), GroupId(op.variable_latency ? 0 : random() % groups)});
  s.groups.resize(groups);
  for (ScheduleGroup& g : s.groups) g.warps = 1 + random() % 4;
  if (random() % 2) derive_groups(p, s);
  s.depths = minimal_depths(p, s);
  for (int& depth : s.depths)
    if (random() % 8 == 0) depth = random() % 4;
  return s;
}

struct Mutant {
  std::string what;
  Schedule schedule;
};

Mutant mutate(const Problem& p, const Schedule& valid, std::mt19937& random) {
  Schedule s = valid;
  const std::size_t v = random() % s.ops.size();
  switch (random() % 6) {
    case 0: s.ops[v].start += 1 + random() % 4; return {"later start of " + p.ops[v].name, s};
    case 1: s.ops[v].start = random() % static_cast<unsigned>(3 * s.ii); return {"other start of " + p.ops[v].name, s};
    case 2: s.ops[v].group = GroupId(random() % s.groups.size()); return {"other group of " + p.ops[v].name, s};
    case 3: s.groups[random() % s.groups.size()].warps += random() % 2 ? 1 : -1; return {"other warps", s};
    case 4:
      if (s.depths.empty())
        return {"smaller II", [&] {
                  --s.ii;
                  return s;
                }()};
      s.depths[random() % s.depths.size()] += random() % 3 ? -1 : 1;
      return {"other depth", s};
    default: s.groups[random() % s.groups.size()].registers = 4 * (1 + random() % 8); return {"other registers", s};
  }
}

bool form_is_sound(const Schedule& s) {
  for (const Placement& place : s.ops)
    if (place.start < 0) return false;
  for (const ScheduleGroup& g : s.groups)
    if (g.warps < 0) return false;
  for (int depth : s.depths)
    if (depth < 0) return false;
  return s.ii >= 1;
}

/// Calls `f(seed, problem, schedule)` with schedules that exhaustive search found, at the least II and one above.
void for_valid_schedules(std::uint64_t first, std::uint64_t last, auto&& f) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Problem p = random_problem(seed);
    const BruteForceMinimum least = brute_force_minimum(p, 3, 12, {}, 100'000);
    if (!least.schedule) continue;
    f(seed, p, *least.schedule);
    const BruteForce above = brute_force(p, least.ii + 1, 2, {}, 100'000);
    if (above.schedule) f(seed, p, *above.schedule);
  }
}

}  // namespace

TEST_CASE("checker and simulation of many iterations find the same families violated in any schedule", "[core]") {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= 1500; ++seed) {
    const Problem p = random_problem(seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    for (int i = 0; i < 3; ++i) {
      const Schedule s = random_schedule(p, random);
      const auto found = families(check(p, s)), expected = violated_when_unrolled(p, s);
      for (const std::string& family : found) ++seen[family];
      if (found == expected) continue;
      INFO("seed " << seed << ", schedule " << i << ", II " << s.ii);
      CHECK(listed(found) == listed(expected));
    }
  }
  for (const char* family : {"dependence", "unit", "issue", "blocking", "variable", "warps", "registers", "memory", "depth", "credit"}) {
    INFO(family << " was violated " << seen[family] << " times");
    CHECK(seen[family] > 0);
  }
}

TEST_CASE("what exhaustive search accepts, the simulation accepts, and every mutant is judged alike", "[core]") {
  int schedules = 0, harmful = 0, harmless = 0;
  for_valid_schedules(1, 400, [&](std::uint64_t seed, const Problem& p, const Schedule& s) {
    INFO("seed " << seed << ", II " << s.ii);
    ++schedules;
    CHECK(listed(violated_when_unrolled(p, s)) == "");
    std::mt19937 random(static_cast<unsigned>(seed));
    for (int i = 0; i < 12; ++i) {
      const Mutant mutant = mutate(p, s, random);
      INFO("mutant: " << mutant.what);
      const Verdict verdict = check(p, mutant.schedule);
      if (!form_is_sound(mutant.schedule)) {
        CHECK(families(verdict) == std::set<std::string>{"form"});
        continue;
      }
      const auto expected = violated_when_unrolled(p, mutant.schedule);
      ++(expected.empty() ? harmless : harmful);
      CHECK(listed(families(verdict)) == listed(expected));
    }
  });
  INFO(schedules << " schedules, " << harmful << " harmful mutants, " << harmless << " harmless");
  CHECK(schedules > 300);
  CHECK(harmful > 1500);
}

TEST_CASE("shifting all starts by one constant changes no verdict", "[core]") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    const Problem p = random_problem(seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    Schedule s = random_schedule(p, random);
    const Verdict before = check(p, s);
    for (Placement& place : s.ops) place.start += 1 + static_cast<Cycle>(seed % 17);
    const Verdict after = check(p, s);
    INFO("seed " << seed);
    CHECK(listed(families(before)) == listed(families(after)));
  }
}

TEST_CASE("a schedule for II is one for II + 1 when whole stages move along and no unit use has an offset", "[core]") {
  int tried = 0;
  for_valid_schedules(1001, 1500, [&](std::uint64_t seed, const Problem& p, Schedule s) {
    if (!monotone_in_ii(p)) return;
    ++tried;
    for (int step = 0; step < 3; ++step) {
      for (Placement& place : s.ops) place.start += place.start / s.ii;
      ++s.ii;
      const Verdict verdict = check(p, s);
      INFO("seed " << seed << ", II " << s.ii << (verdict.valid() ? "" : ": " + verdict.violations.front().message));
      CHECK(verdict.valid());
    }
  });
  CHECK(tried > 100);
}

TEST_CASE("with offsets a larger II can be impossible although a smaller one is not", "[core]") {
  Problem p;
  p.units.resize(1);
  p.ops.resize(1);
  p.ops[0].name = "twice";
  p.ops[0].uses = {{UnitId(0), 0, 1, 1}, {UnitId(0), 3, 1, 1}};
  p.limits.registers_per_thread = 32;
  CHECK_FALSE(monotone_in_ii(p));
  CHECK(brute_force(p, 2, 2).schedule);
  CHECK_FALSE(brute_force(p, 3, 2).schedule);
  CHECK(brute_force(p, 4, 2).schedule);
}

TEST_CASE("no schedule beats the lower bounds, and its sustainable period is at most II", "[core]") {
  for_valid_schedules(2001, 2500, [&](std::uint64_t seed, const Problem& p, const Schedule& s) {
    const Bounds bounds = compute_bounds(p);
    INFO("seed " << seed << ", II " << s.ii << ", bound: " << bounds.sentence);
    CHECK(bounds.min_ii() <= s.ii);
    const Period period = sustainable_period(p, s);
    INFO("period: " << period.sentence);
    CHECK_FALSE(period.deadlock);
    CHECK(period.cycles() <= s.ii);
    if (!bounds.critical.edges.empty()) CHECK(period.cycles() >= bounds.rec_mii);
    const Usage usage = compute_usage(p, s);
    CHECK(peak(usage.smem_live) <= usage.smem_bytes);
    CHECK(peak(usage.tmem_live) <= usage.tmem_columns);
  });
}

TEST_CASE("one op after the other is a valid schedule of large layered problems", "[core]") {
  for (const int ops : {8, 50, 200, 2000}) {
    INFO(ops << " ops");
    const Problem p = random_layered_problem(7, ops);
    Schedule s;
    Cycle now = 0;
    for (const Op& op : p.ops) {
      s.ops.push_back({now, GroupId(op.variable_latency ? 0 : 1)});
      now += op.latency + 700;  // more than any hand-off or read after it
    }
    s.ii = now;
    derive_groups(p, s);
    s.depths = minimal_depths(p, s);
    const Verdict verdict = check(p, s);
    INFO((verdict.valid() ? "" : verdict.violations.front().message));
    CHECK(verdict.valid());
    CHECK(compute_bounds(p).min_ii() < now);
    CHECK(sustainable_period(p, s).cycles() <= now);
  }
}

TEST_CASE("an op moved within its slack breaks no dependence, unit of capacity one, issue order or credit", "[core]") {
  for_valid_schedules(3001, 3250, [&](std::uint64_t seed, const Problem& p, const Schedule& s) {
    const auto slacks = compute_slack(p, s);
    const bool simple = std::all_of(p.units.begin(), p.units.end(), [](const Unit& u) { return u.capacity == 1; });
    for (std::size_t v = 0; v < p.ops.size(); ++v) {
      INFO("seed " << seed << ", op " << p.ops[v].name << ", II " << s.ii);
      CHECK(slacks[v].earlier >= 0);
      CHECK(slacks[v].later >= 0);
      for (const Cycle move : {std::min<Cycle>(slacks[v].later, 40), -std::min<Cycle>(slacks[v].earlier, 40)}) {
        Schedule moved = s;
        for (Placement& place : moved.ops) place.start += 100 * s.ii;
        moved.ops[v].start += move;
        auto broken = families(check(p, moved));
        broken.erase("registers");
        if (!simple) broken.erase("unit");
        CHECK(listed(broken) == "");
      }
    }
  });
}

TEST_CASE("usage agrees with plain tables, cycle by cycle", "[core]") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Problem p = random_problem(seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const Schedule s = random_schedule(p, random);
    const Usage usage = compute_usage(p, s);
    INFO("seed " << seed << ", II " << s.ii);
    for (std::size_t u = 0; u < p.units.size(); ++u) {
      std::vector<std::int64_t> table(static_cast<std::size_t>(s.ii), 0), stepped(table);
      for (std::size_t v = 0; v < p.ops.size(); ++v)
        for (const UnitUse& use : p.ops[v].uses)
          for (Cycle t = 0; t < use.duration && use.unit == UnitId(u); ++t)
            table[static_cast<std::size_t>((s.ops[v].start + use.offset + t) % s.ii)] += use.amount;
      std::size_t step = 0;
      Cycle busy = 0;
      CHECK(usage.units[u].front().at == 0);
      for (std::size_t t = 0; t < table.size(); ++t) {
        while (step + 1 < usage.units[u].size() && usage.units[u][step + 1].at <= static_cast<Cycle>(t)) ++step;
        stepped[t] = usage.units[u][step].value;
        busy += table[t] > 0 ? 1 : 0;
      }
      CHECK(stepped == table);
      CHECK(usage.busy[u] == busy);
    }
    for (std::size_t g = 0; g < s.groups.size(); ++g) CHECK(peak(usage.registers[g]) == usage.register_peak[g]);
  }
}
