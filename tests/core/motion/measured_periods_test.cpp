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

std::vector<Measured> all_measured() {
  const Machine machine = machine_of("h100");
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
    Measured row{entry.path().parent_path().filename().string(), name, m->kernel, *m->measured_ii, 0};
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

}  // namespace

TEST_CASE("loops of attention take what was measured, within 3.5 percent in the mean, and orders come out as measured", "[core]") {
  const std::vector<Measured> rows = all_measured();
  INFO(table(rows));
  double sum = 0;
  int attention = 0, pairs = 0, right = 0;
  for (const Measured& a : rows) {
    if (!a.attention()) continue;
    ++attention;
    sum += std::abs(a.error());
    CHECK(std::abs(a.error()) < 0.16);
    for (const Measured& b : rows) {
      if (&b <= &a || a.day != b.day || a.family != b.family || std::abs(a.cycles / b.cycles - 1) < 0.015) continue;
      ++pairs;
      right += (a.ruled < b.ruled) == (a.cycles < b.cycles) && a.ruled != b.ruled;
    }
  }
  INFO("mean error " << 100 * sum / attention << " %, " << right << " of " << pairs << " pairs");
  CHECK(attention == 33);
  CHECK(sum / attention < 0.035);
  CHECK(right * 100 >= pairs * 80);
}

TEST_CASE("loops of GEMM take what was measured, within 5 percent", "[core]") {
  for (const Measured& row : all_measured()) {
    if (!row.family.starts_with("gemm_hopper") && !row.family.starts_with("swiglu")) continue;
    INFO(row.day << " " << row.name << ": " << row.ruled << " for " << row.cycles);
    CHECK(std::abs(row.error()) < 0.05);
  }
}
