#include "core/answers/measurement_summary.h"

#include <cmath>

#include <fmt/format.h>

namespace heddle {
namespace {

std::string percent(double fraction) { return fmt::format("{:+.1f} %", 100 * fraction); }

std::string microseconds(double us) { return us >= 1000 ? fmt::format("{:.3f} ms", us / 1000) : fmt::format("{:.2f} us", us); }

/// "1043 cycles per iteration, 1.9 % above II 1024, 0.4 % below the predicted 1047"
std::string iteration_text(const Measurement& m) {
  if (!m.measured_ii) return {};
  std::string text = fmt::format("{:.0f} cycles per iteration", *m.measured_ii);
  const auto beside = [&](std::optional<double> residual, const std::string& what) {
    if (residual) text += fmt::format(", {:.1f} % {} {}", 100 * std::fabs(*residual), *residual < 0 ? "below" : "above", what);
  };
  beside(m.ii_residual(), fmt::format("II {}", m.predicted_ii));
  if (m.predicted) beside(m.prediction_residual(), fmt::format("the predicted {:.0f}", m.predicted->cycles_per_iteration));
  return text;
}

std::string residual(double cycles) { return fmt::format("{:+.0f}", cycles); }

std::string worst_text(const OutputCheck& check) {
  return fmt::format("worst {}: off by {:.4g}, {:.4g} allowed", printable(check.at), check.worst, check.bound);
}

/// ", in whole panels of 128 bytes"
std::string pattern_words(ErrorPattern pattern) {
  switch (pattern) {
    case ErrorPattern::Panels: return ", whole panels of 128 bytes";
    case ErrorPattern::Chunks: return ", chunks of 16 bytes out of place";
    case ErrorPattern::Rows: return ", rows out of place";
    case ErrorPattern::Tiles: return ", whole tiles";
    case ErrorPattern::None:
    case ErrorPattern::Everything:
    case ErrorPattern::Scattered: return "";
  }
  return "";
}

std::string verification_text(const Verification& v) {
  std::string text;
  for (const OutputCheck& check : v.checks) {
    text += fmt::format("  {} {} on {} inputs: {}\n", check.passed ? "right" : "WRONG", printable(check.tensor), printable(check.input),
                        printable(check.criterion));
    if (check.wrong > 0) text += fmt::format("        {} of {} elements are beyond that", check.wrong, check.elements);
    if (check.wrong > 0 && check.untouched > 0) text += fmt::format(", {} of them never written", check.untouched);
    if (check.wrong > 0) text += pattern_words(check.pattern) + "\n";
    if (!check.at.empty() && (check.bound > 0 || check.wrong > 0)) text += fmt::format("        {}\n", worst_text(check));
  }
  if (v.repeats > 1)
    text += fmt::format("  {} runs on the same data are {}\n", v.repeats, v.repeats_equal ? "bitwise equal" : "NOT bitwise equal: a race");
  if (!v.reference.empty()) text += fmt::format("  compared with {}\n", printable(v.reference));
  return text;
}

/// "right by the same criteria, worst O[0, 3]: off by 0.002, 0.01 allowed"
std::string library_check_text(const TimedLibrary& library) {
  if (library.checks.empty()) return library.absent.empty() ? "its result was not checked" : "";
  const OutputCheck* worst = &library.checks.front();
  for (const OutputCheck& check : library.checks)
    if (!check.passed && worst->passed) worst = &check;
  return fmt::format("{} by the same criteria on {} inputs{}", worst->passed ? "right" : "WRONG", printable(worst->input),
                     worst->bound > 0 ? ", " + worst_text(*worst) : "");
}

std::string timing_text(const Timing& t, const TextStyle& style) {
  const bool sustained = t.kernel.sustained_us > 0;
  const auto speed = [](double tflops) { return tflops > 0 ? fmt::format("{:.1f}", tflops) : ""; };
  std::vector<TextColumn> columns{{"", false}, {"cold", true}, {"TFLOP/s", true}};
  if (sustained) columns.insert(columns.end(), {{"sustained", true}, {"TFLOP/s", true}});
  columns.push_back({"", false});
  std::vector<std::vector<std::string>> rows;
  const auto row = [&](const TimedKernel& kernel, const std::string& ratio) {
    rows.push_back({printable(kernel.name), microseconds(kernel.median_us), speed(kernel.tflops)});
    if (sustained) rows.back().insert(rows.back().end(), {microseconds(kernel.sustained_us), speed(kernel.sustained_tflops)});
    rows.back().push_back(ratio);
  };
  row(t.kernel, "");
  for (const TimedLibrary& library : t.libraries)
    if (const auto ratio = t.ratio(library.times)) {
      std::string words = fmt::format("heddle has {:.3f} of its speed", *ratio);
      if (const auto other = t.sustained_ratio(library.times)) words += fmt::format(" cold, {:.3f} sustained", *other);
      row(library.times, words);
    }
  std::string text = text_table(columns, rows);
  std::vector<std::string> facts{fmt::format("{}median of {} of {}", sustained ? "cold: " : "",
                                             count_of(static_cast<std::int64_t>(t.kernel.blocks_us.size()), "block"),
                                             count_of(t.launches, "launch", "launches"))};
  facts.push_back(fmt::format("{} in turn", count_of(t.buffer_sets, "set of buffers", "sets of buffers")));
  if (t.pause_seconds > 0) facts.push_back(fmt::format("{:g} s of rest before each block", t.pause_seconds));
  text += "  " + join_facts(facts, style) + "\n";
  if (sustained) text += fmt::format("  sustained: mean of {} without a pause\n", count_of(t.sustained_launches, "launch", "launches"));
  if (!t.left_out.empty()) text += fmt::format("  its time leaves out: {}\n", printable(t.left_out));
  for (const TimedLibrary& library : t.libraries) {
    if (!library.absent.empty()) text += fmt::format("  not timed: {}\n", printable(library.absent));
    if (const std::string check = library_check_text(library); !check.empty())
      text += fmt::format("  {}: {}\n", printable(library.times.name), check);
  }
  if (!t.no_library.empty()) text += "  no library beside it: " + printable(t.no_library) + "\n";
  return text;
}

std::string profile_text(const KernelProfile& p, const TextStyle& style) {
  std::string text = "ops in the steady loop, cycles\n";
  std::vector<std::vector<std::string>> rows;
  bool bounds = false;
  for (const OpTiming& op : p.ops) {
    bounds = bounds || !op.observed_end;
    rows.push_back({printable(op.op), printable(op.group), fmt::format("{:.0f}", op.start), fmt::format("{:.0f}", op.predicted_start),
                    residual(op.start_residual()), fmt::format("{}{:.0f}", op.observed_end ? "" : "<=", op.duration),
                    fmt::format("{:.0f}", op.predicted_duration), op.observed_end ? residual(op.duration_residual()) : "",
                    fmt::format("{:.0f}", op.spread), fmt::format("{}", op.samples)});
  }
  text += text_table({{"op", false},
                      {"group", false},
                      {"start", true},
                      {"predicted", true},
                      {"off by", true},
                      {"takes", true},
                      {"predicted", true},
                      {"off by", true},
                      {"spread", true},
                      {"samples", true}},
                     rows);
  std::vector<std::string> facts{count_of(p.records, "record"),
                                 fmt::format("iterations {} to {}", p.first_iteration, p.first_iteration + p.iterations - 1),
                                 count_of(p.blocks, "block")};
  if (p.dropped > 0) facts.push_back(fmt::format("{} dropped", p.dropped));
  text += "  " + join_facts(facts, style) + "\n";
  if (bounds) text += "  <=: the result was there when its reader came, so it took no longer than this\n";
  if (p.plain_us > 0)
    text += fmt::format("  recording costs {} ({} against {}){}\n", percent(p.cost()), microseconds(p.median_us), microseconds(p.plain_us),
                        p.trusted ? "" : fmt::format(": more than {:.0f} %, so these are times of another kernel", 100 * kProfileCost));
  else
    text += "  what recording costs was not measured\n";
  return text;
}

}  // namespace

std::string measurement_headline(const Measurement& m, const TextStyle& style) {
  std::vector<std::string> facts{to_string(m.status)};
  if (m.timing && m.timing->kernel.tflops > 0)
    facts.push_back(
        fmt::format("{:.1f} TFLOP/s", m.timing->kernel.tflops) +
        (m.timing->kernel.sustained_tflops > 0 ? fmt::format(" cold, {:.1f} sustained", m.timing->kernel.sustained_tflops) : ""));
  else if (m.timing && m.timing->kernel.median_us > 0)
    facts.push_back(microseconds(m.timing->kernel.median_us));
  if (m.timing && m.timing->ratio())
    facts.push_back(fmt::format("{:.3f} of {}", *m.timing->ratio(), printable(m.timing->fastest_library()->name)));
  facts.push_back(iteration_text(m));
  return join_facts(facts, style);
}

std::string measurement_summary(const Measurement& m, const TextStyle& style) {
  std::string text = fmt::format("{} on {}", printable(m.kernel), m.device ? printable(m.device->name) : "no GPU");
  if (!m.host.empty()) text += " at " + printable(m.host);
  if (m.device) text += ", driver " + printable(m.device->driver);
  if (m.device && m.device->clock_mhz > 0) text += fmt::format(", SM clock {:.0f} MHz while it ran", m.device->clock_mhz);
  text += "\n" + measurement_headline(m, style) + "\n";
  if (!m.sentence.empty()) text += printable(m.sentence) + "\n";
  if (m.verification) text += verification_text(*m.verification);
  if (m.timing && !m.timing->kernel.blocks_us.empty()) text += timing_text(*m.timing, style);
  if (m.measured_ii && m.predicted_ii > 0)
    text += fmt::format("cycles per iteration: {:.1f} measured, II {} ({}){}\n", *m.measured_ii, m.predicted_ii, percent(*m.ii_residual()),
                        m.predicted && m.prediction_residual()
                            ? fmt::format(", {:.0f} predicted ({})", m.predicted->cycles_per_iteration, percent(*m.prediction_residual()))
                            : "");
  if (m.profile) text += profile_text(*m.profile, style);
  return text;
}

}  // namespace heddle
