#include "core/answers/paper.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/answers/summary.h"
#include "core/check/checker.h"
#include "core/formats/schedule_json.h"

namespace heddle {

namespace {

std::string wall_time(double value) { return value < 1 ? fmt::format("{:.0f} ms", value * 1000) : fmt::format("{:.2f} s", value); }

std::string count_of(std::int64_t count, const char* noun) { return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s"); }

std::string zero_share(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? fmt::format("{} %", (part * 100 + whole / 2) / whole) : "none";
}

std::string normalization_text(const PaperNormalization& n, const TextStyle& style) {
  if (!n.applied) return "costs: native cycles, not normalized\n";
  std::string text =
      join_facts({fmt::format("costs normalized with U {}", n.u), fmt::format("F {}", n.error), fmt::format("sum {}", n.sum),
                  fmt::format("{} of {} positive costs became zero ({})", n.zeros, n.entries, zero_share(n.zeros, n.entries))},
                 style) +
      "\n";
  if (n.largest_normalized > 0)
    text += fmt::format("one normalized cycle stands for {:.1f} native cycles (the largest cost, {}, became {})\n",
                        static_cast<double>(n.largest) / static_cast<double>(n.largest_normalized), n.largest, n.largest_normalized);
  if (!n.tie_broken) text += "the tie-break among the solutions of the smallest F was cut short\n";
  return text;
}

std::string names_of(const Problem& problem, const std::vector<OpId>& ops) {
  std::string text;
  for (const OpId op : ops) text += (text.empty() ? "" : " ") + problem.op(op).name;
  return printable(text);
}

std::string warps_text(const std::vector<int>& warps) {
  std::string text;
  for (const int warp : warps) text += (text.empty() ? "" : " ") + std::to_string(warp);
  return text;
}

std::string groups_text(const Problem& problem, const PaperAnswer& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const PaperGroup& group : answer.groups)
    rows.push_back({warps_text(group.warps), group.variable_latency ? "variable latency" : "", names_of(problem, group.ops)});
  return "\ngroups\n" + text_table({{"pool"}, {"role"}, {"ops"}}, rows);
}

std::string ops_text(const Problem& problem, const PaperAnswer& answer) {
  std::vector<std::vector<std::string>> rows;
  for (const PaperCost& cost : answer.costs) {
    const bool placed = answer.ii > 0;
    const Cycle start = placed ? answer.starts[cost.op.index()] : 0;
    rows.push_back({printable(problem.op(cost.op).name), std::to_string(cost.native), std::to_string(cost.normalized),
                    placed ? std::to_string(start) : "", placed ? std::to_string(start % answer.ii) : ""});
  }
  return "\nops\n" + text_table({{"op"}, {"cycles", true}, {"normalized", true}, {"start", true}, {"slot", true}}, rows);
}

std::string windows_text(const PaperAnswer& answer) {
  constexpr std::size_t kShown = 12;
  std::vector<std::vector<std::string>> rows;
  const std::size_t skipped = answer.windows.size() > kShown ? answer.windows.size() - kShown : 0;
  for (std::size_t i = skipped; i < answer.windows.size(); ++i) {
    const PaperWindow& w = answer.windows[i];
    rows.push_back({std::to_string(w.ii), fmt::format("{} to {}", w.first_length, w.last_length), std::to_string(w.copies),
                    std::string(status_word(to_string(w.status))), wall_time(w.seconds)});
  }
  std::string text = "\njoint problem\n";
  if (skipped > 0) text += fmt::format("  {} more before\n", skipped);
  return text + text_table({{"I", true}, {"L"}, {"copies", true}, {"status"}, {"time", true}}, rows);
}

/// How often each family is violated, and the first complaint of each.
std::string objections(const Verdict& verdict) {
  std::map<std::string, int> families;
  std::string text;
  for (const Violation& v : verdict.violations) ++families[v.family];
  for (const auto& [family, count] : families) {
    const auto first = std::find_if(verdict.violations.begin(), verdict.violations.end(),
                                    [&, name = family](const Violation& v) { return v.family == name; });
    text += fmt::format("  {}{}: {}\n", family, count > 1 ? fmt::format(" ({} times)", count) : "", printable(first->message));
  }
  return text;
}

std::string worth_text(const Problem& problem, const PaperWorth& worth) {
  std::string text = "\nat native cycles\n";
  if (worth.deadlock) return text + fmt::format("  The schedule's order deadlocks with the rings that fit: {}\n", printable(worth.limit));
  const std::string optimum =
      worth.native_ii ? fmt::format(", native optimum {}{}", *worth.native_ii, worth.native_proved ? "" : " (not proved)") : "";
  text += fmt::format("  The paper's groups and order sustain {} cycles per iteration{}.\n", worth.period, optimum);
  text += fmt::format("  {}\n", printable(worth.limit));
  const Verdict verdict = check(problem, worth.schedule);
  if (verdict.valid()) return text + "  As a native schedule it obeys every rule.\n";
  return text + "  As a native schedule it breaks rules that the paper's model does not have:\n" + objections(verdict);
}

std::string ablations_text(const PaperAnswer& answer) {
  std::string text = "\nablations\n";
  for (const PaperAblation& a : answer.ablations) {
    const char* word = a.status == Status::Infeasible ? "unsatisfiable, as the paper reports for Blackwell forward"
                       : a.status == Status::Feasible ? "satisfiable; the paper reports unsatisfiable for Blackwell forward"
                                                      : "not decided";
    text += fmt::format("  {} ({}): {}\n    {}\n", a.name, a.change, word, printable(a.finding));
  }
  return text;
}

std::string changed_switches(const PaperAnswer& answer) {
  std::string text;
  for (const PaperSetting& setting : answer.settings)
    if (setting.value != setting.standard) text += fmt::format(" {}={}", setting.name, setting.value);
  return text.empty() ? "" : "switches:" + text + "\n";
}

}  // namespace

std::string paper_headline(const PaperAnswer& answer, const TextStyle& style) {
  if (answer.ii > 0) {
    return join_facts({fmt::format("I {}", answer.ii), fmt::format("L {}", answer.length),
                       answer.copies == 1 ? "1 copy" : fmt::format("{} copies", answer.copies),
                       count_of(static_cast<std::int64_t>(answer.groups.size()), "group"),
                       answer.status == Status::Optimal ? "Algorithm 1 ran through" : "a shorter L was not decided"},
                      style);
  }
  if (answer.status == Status::Infeasible) return join_facts({"no schedule at any I", "proved"}, style);
  return join_facts({"no schedule found", answer.cancelled ? "interrupted" : answer.timed_out ? "time is up" : ""}, style);
}

std::string paper_summary(const Problem& problem, const PaperAnswer& answer, const TextStyle& style) {
  std::string text = fmt::format("{}, as the Twill paper schedules it\n{}\n", problem_title(problem), paper_headline(answer, style));
  if (!answer.explanation.empty()) text += printable(answer.explanation) + "\n";
  text += changed_switches(answer);
  text += normalization_text(answer.normalization, style);
  if (answer.modulo_ii > 0) text += fmt::format("modulo schedule alone: I {}, L {}\n", answer.modulo_ii, answer.modulo_length);
  for (const std::string& remark : answer.remarks) text += printable(remark) + "\n";
  if (!answer.groups.empty()) text += groups_text(problem, answer);
  if (!answer.costs.empty()) text += ops_text(problem, answer);
  if (!answer.windows.empty()) text += windows_text(answer);
  if (answer.worth) text += worth_text(problem, *answer.worth);
  if (!answer.ablations.empty()) text += ablations_text(answer);
  const PaperSeconds& s = answer.seconds;
  text += "\n" +
          join_facts({"total " + wall_time(s.total), "normalize " + wall_time(s.normalize), "modulo " + wall_time(s.modulo),
                      "joint " + wall_time(s.joint), "native " + wall_time(s.native), answer.solver},
                     style) +
          "\n";
  return text;
}

std::string paper_settings_table(const std::vector<PaperSetting>& settings, const TextStyle& style) {
  std::string text;
  for (const PaperSetting& setting : settings) {
    std::string values;
    for (const std::string& word : setting.words)
      values += (values.empty() ? "" : " | ") + (word == setting.standard ? word + " (default)" : word);
    if (values.empty()) values = fmt::format("integer up to {}, {} (default)", setting.high, setting.standard);
    text += fmt::format("{} = {}\n", setting.name, values);
    // Wrapped by words.
    std::string line = "   ";
    std::string rest = setting.about + " ";
    for (std::size_t at = 0; at < rest.size();) {
      const std::size_t end = rest.find(' ', at);
      if (static_cast<int>(line.size() + 1 + end - at) > std::max(40, style.width)) {
        text += line + "\n";
        line = "   ";
      }
      line += " " + rest.substr(at, end - at);
      at = end + 1;
    }
    text += line + "\n";
  }
  return text;
}

std::vector<TextColumn> paper_row_columns() {
  return {{"kernel"},          {"machine"},      {"zero"},        {"I", true},        {"L", true},      {"copies", true}, {"groups", true},
          {"normalize", true}, {"modulo", true}, {"joint", true}, {"sustains", true}, {"native", true}, {"rules broken"}};
}

std::vector<std::string> paper_row(const Problem& problem, const PaperAnswer& answer) {
  const auto number = [](std::int64_t value) { return value > 0 ? std::to_string(value) : std::string("-"); };
  std::string sustains = "-", native = "-", broken;
  if (answer.worth) {
    sustains = answer.worth->deadlock ? "deadlock" : std::to_string(answer.worth->period);
    if (answer.worth->native_ii) native = std::to_string(*answer.worth->native_ii) + (answer.worth->native_proved ? "" : " not proved");
    std::map<std::string, int> families;
    if (!answer.worth->deadlock)
      for (const Violation& v : check(problem, answer.worth->schedule).violations) ++families[v.family];
    for (const auto& [family, count] : families) broken += (broken.empty() ? "" : ", ") + family;
    if (broken.empty() && !answer.worth->deadlock) broken = "none";
  } else {
    broken = answer.explanation;
  }
  return {printable(problem.kernel),
          printable(machine_title(problem)),
          zero_share(answer.normalization.zeros, answer.normalization.entries),
          number(answer.ii),
          (answer.status == Status::Feasible ? "<= " : "") + number(answer.length),
          number(answer.copies),
          number(static_cast<std::int64_t>(answer.groups.size())),
          wall_time(answer.seconds.normalize),
          wall_time(answer.seconds.modulo),
          wall_time(answer.seconds.joint),
          sustains,
          native,
          printable(broken)};
}

namespace {

Json known(Cycle value) { return value > 0 ? Json(value) : Json(); }

Json names(const Problem& problem, const std::vector<OpId>& ops) {
  Json list = Json::array();
  for (const OpId op : ops) list.push(problem.op(op).name);
  return list;
}

Json window_json(const PaperWindow& window) {
  return Json::object()
      .set("i", window.ii)
      .set("first_l", window.first_length)
      .set("last_l", window.last_length)
      .set("copies", window.copies)
      .set("status", to_string(window.status))
      .set("seconds", seconds_json(window.seconds));
}

Json normalization_json(const PaperNormalization& n) {
  if (!n.applied) return Json();
  return Json::object()
      .set("u", n.u)
      .set("entries", n.entries)
      .set("zeros", n.zeros)
      .set("f", n.error)
      .set("sum", n.sum)
      .set("largest", n.largest)
      .set("largest_normalized", n.largest_normalized)
      .set("tie_broken", n.tie_broken);
}

Json ops_json(const Problem& problem, const PaperAnswer& answer) {
  Json list = Json::array();
  for (const PaperCost& cost : answer.costs) {
    Json op = Json::object();
    op.set("id", problem.op(cost.op).name).set("native", cost.native).set("normalized", cost.normalized);
    op.set("start", answer.ii > 0 ? Json(answer.starts[cost.op.index()]) : Json());
    list.push(std::move(op));
  }
  return list;
}

Json groups_json(const Problem& problem, const PaperAnswer& answer) {
  Json list = Json::array();
  for (const PaperGroup& group : answer.groups) {
    Json warps = Json::array();
    for (const int warp : group.warps) warps.push(warp);
    list.push(Json::object()
                  .set("warps", std::move(warps))
                  .set("variable_latency", group.variable_latency)
                  .set("ops", names(problem, group.ops)));
  }
  return list;
}

Json worth_json(const Problem& problem, const PaperWorth& worth) {
  Json root = Json::object();
  root.set("deadlock", worth.deadlock).set("period", worth.deadlock ? Json() : Json(worth.period));
  root.set("period_limit", worth.limit);
  root.set("native_ii", worth.native_ii ? Json(*worth.native_ii) : Json()).set("native_proved", worth.native_proved);
  root.set("checker", worth.deadlock ? Json() : verdict_json(problem, check(problem, worth.schedule)));
  root.set("groups", heddle::groups_json(problem, worth.schedule));
  root.set("ops", worth.deadlock ? Json::array() : placements_json(problem, worth.schedule));
  root.set("channels", channels_json(problem, worth.schedule));
  return root;
}

}  // namespace

Json paper_settings_json(const std::vector<PaperSetting>& settings) {
  Json list = Json::array();
  for (const PaperSetting& setting : settings) {
    Json item = Json::object();
    item.set("name", setting.name).set("value", setting.value).set("default", setting.standard);
    if (setting.words.empty()) {
      item.set("low", setting.low).set("high", setting.high);
    } else {
      Json words = Json::array();
      for (const std::string& word : setting.words) words.push(word);
      item.set("values", std::move(words));
    }
    list.push(std::move(item.set("about", setting.about)));
  }
  return Json::object().set("switches", std::move(list));
}

Json paper_json(const Problem& problem, const PaperAnswer& answer) {
  Json root = Json::object();
  root.set("status", to_string(answer.status)).set("explanation", answer.explanation);
  set_problem(root, problem);
  root.set("i", known(answer.ii)).set("l", known(answer.length)).set("copies", known(answer.copies));
  root.set("modulo_i", known(answer.modulo_ii)).set("modulo_l", known(answer.modulo_length));
  root.set("normalization", normalization_json(answer.normalization));
  root.set("ops", ops_json(problem, answer)).set("groups", groups_json(problem, answer));
  Json windows = Json::array(), ablations = Json::array(), remarks = Json::array();
  for (const PaperWindow& window : answer.windows) windows.push(window_json(window));
  for (const PaperAblation& a : answer.ablations)
    ablations.push(Json::object()
                       .set("name", a.name)
                       .set("change", a.change)
                       .set("status", to_string(a.status))
                       .set("window", a.window.ii > 0 ? window_json(a.window) : Json())
                       .set("finding", a.finding));
  for (const std::string& remark : answer.remarks) remarks.push(remark);
  root.set("windows", std::move(windows));
  root.set("worth", answer.worth ? worth_json(problem, *answer.worth) : Json());
  root.set("ablations", std::move(ablations)).set("remarks", std::move(remarks));
  root.set("seconds", Json::object()
                          .set("normalize", seconds_json(answer.seconds.normalize))
                          .set("modulo", seconds_json(answer.seconds.modulo))
                          .set("joint", seconds_json(answer.seconds.joint))
                          .set("native", seconds_json(answer.seconds.native))
                          .set("total", seconds_json(answer.seconds.total)));
  Json switches = Json::object();
  for (const PaperSetting& setting : answer.settings) switches.set(setting.name, setting.value);
  root.set("switches", std::move(switches)).set("solver", answer.solver);
  root.set("cancelled", answer.cancelled).set("timed_out", answer.timed_out);
  return root;
}

}  // namespace heddle
