// The rule of motion beside every loop that was measured with its schedule (assets/measured).
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"
#include "core/library/library.h"
#include "core/motion/motion.h"
#include "tests/core/motion/measured_loops.h"
#include "tests/support/paths.h"

using namespace heddle;
using namespace heddle::test;

namespace {

struct Measured {
  std::string day, name;
  std::string family;  ///< kernel, its parameters, its layouts: what can be compared
  double cycles = 0, ruled = 0;
  bool attention() const { return family.starts_with("attention_forward"); }
  double error() const { return ruled / cycles - 1; }
};

/// Profiled runs take longer than others, and layer normalization waits for DRAM, which the rule knows nothing of.
bool left_out(const std::string& name) { return name.find("profile") != std::string::npos || name.starts_with("layernorm"); }

std::vector<Measured> all_measured(const Machine& machine = machine_of("h100")) {
  std::vector<Measured> rows;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(repository_path("assets/measured"))) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".json" || left_out(name)) continue;
    const Result<Measurement> m = read_measurement(entry.path().string());
    if (!m || m->schedule_text.empty() || !m->measured_ii) continue;
    InstanceSpec spec = spec_of(*load_kernel(repository_path("kernels/" + m->kernel + ".json")), machine);
    spec.params = m->params;
    spec.choices = parse_schedule_head(m->schedule_text, "")->layouts;
    if (name.ends_with("shuffled")) spec.choices.layouts["keys"] = "natural";  // the file is older than layouts in schedules
    const Result<Problem> problem = make_problem(spec);
    REQUIRE(problem);
    const Result<Schedule> schedule = parse_schedule(m->schedule_text, "", *problem);
    REQUIRE(schedule);
    Measured row{entry.path().parent_path().filename().string(), name, m->kernel, *m->measured_ii};
    for (const auto& [key, value] : m->params) row.family += " " + key + "=" + std::to_string(value);
    if (name.ends_with("shuffled")) row.family += " shuffled";
    row.ruled = motion::motion_of(*problem, *schedule).period.cycles();
    rows.push_back(std::move(row));
  }
  std::sort(rows.begin(), rows.end(),
            [](const Measured& a, const Measured& b) { return std::pair(a.day, a.name) < std::pair(b.day, b.name); });
  return rows;
}

/// Lines of the table in docs/figures.md.
std::string table(const std::vector<Measured>& rows) {
  std::string text;
  char line[160];
  for (const Measured& row : rows) {
    std::snprintf(line, sizeof line, "| %s | %s | %.0f | %.0f | %+.1f %% |\n", row.day.c_str(), row.name.c_str(), row.cycles, row.ruled,
                  100 * row.error());
    text += line;
  }
  return text;
}

struct Summary {
  double error = 0;  ///< in the mean, of attention
  int loops = 0, pairs = 0, right = 0;
};

/// Of two loops of one family and day that were measured 1.5 percent apart and more: whether they come out in that order.
Summary summary_of(const std::vector<Measured>& rows) {
  Summary sum;
  for (const Measured& a : rows) {
    if (!a.attention()) continue;
    ++sum.loops;
    sum.error += std::abs(a.error());
    for (const Measured& b : rows) {
      if (&b <= &a || a.day != b.day || a.family != b.family || std::abs(a.cycles / b.cycles - 1) < 0.015) continue;
      ++sum.pairs;
      sum.right += (a.ruled < b.ruled) == (a.cycles < b.cycles) && a.ruled != b.ruled;
    }
  }
  sum.error /= std::max(1, sum.loops);
  return sum;
}

}  // namespace

TEST_CASE("loops of attention take what was measured, within 3.5 percent in the mean, and orders come out as measured", "[core]") {
  const std::vector<Measured> rows = all_measured();
  const Summary rule = summary_of(rows);
  INFO(table(rows));
  INFO("mean error " << 100 * rule.error << " %, " << rule.right << " of " << rule.pairs << " pairs");
  CHECK(rule.loops == 33);
  CHECK(rule.error < 0.035);
  CHECK(rule.right * 100 >= rule.pairs * 80);
  for (const Measured& row : rows)
    if (row.attention()) CHECK(std::abs(row.error()) < 0.12);
}

TEST_CASE("measured loops of attention are met less well with any part of the rule set to nothing", "[core]") {
  const double whole = summary_of(all_measured()).error;
  const std::vector<std::pair<const char*, void (*)(Contention&)>> parts{
      {"arithmetic loses nothing beside mmas", [](Contention& c) { c.late_per_read = {}, c.late_per_special = {}; }},
      {"mmas lose nothing beside arithmetic", [](Contention& c) { c.product_per_read = {}; }},
      {"no contention at all", [](Contention& c) { c.late_per_read = c.product_per_read = {}, c.late_per_special = {}; }},
      {"order as in the text", [](Contention& c) { c.reordered = false; }},
  };
  for (const auto& [name, without] : parts) {
    Machine machine = machine_of("h100");
    without(machine.contention);
    const Summary summary = summary_of(all_measured(machine));
    INFO(name << ": " << 100 * summary.error << " %, " << summary.right << " of " << summary.pairs << " pairs; whole " << 100 * whole
              << " %");
    CHECK(summary.error > whole);
  }
}

TEST_CASE("loops of GEMM take what was measured, within 5 percent", "[core]") {
  for (const Measured& row : all_measured()) {
    if (!row.family.starts_with("gemm_hopper") && !row.family.starts_with("swiglu")) continue;
    INFO(row.day << " " << row.name << ": " << row.ruled << " for " << row.cycles);
    CHECK(std::abs(row.error()) < 0.05);
  }
}
