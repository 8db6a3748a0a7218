#include "core/answers/paper.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/answers/answer_members.h"
#include "core/answers/summary.h"
#include "core/check/checker.h"

namespace heddle {

namespace {

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

struct PaperOpLine {
  std::string id;
  Cycle native = 0, normalized = 0;
  std::optional<Cycle> start{};
};

struct PaperDocument {
  const Problem& problem = blank<Problem>;
  const PaperAnswer& answer = blank<PaperAnswer>;
};

struct SettingsDocument {
  const std::vector<PaperSetting>& switches = blank<std::vector<PaperSetting>>;
};

std::vector<PaperOpLine> paper_op_lines(const Problem& problem, const PaperAnswer& answer) {
  std::vector<PaperOpLine> lines;
  for (const PaperCost& cost : answer.costs) {
    const auto start = answer.ii > 0 ? std::optional(answer.starts[cost.op.index()]) : std::nullopt;
    lines.push_back({problem.op(cost.op).name, cost.native, cost.normalized, start});
  }
  return lines;
}

/// {"order": "paper"}
struct SwitchValues {
  Json write(const std::vector<PaperSetting>& settings) const {
    Json object = Json::object();
    for (const PaperSetting& setting : settings) object.set(setting.name, setting.value);
    return object;
  }
  Json schema(const std::vector<PaperSetting>&, Json&) const {
    return schema::type("object").set("additionalProperties", schema::type("string"));
  }
};

template <class Io>
void visit(Io& io, const PaperOpLine& line) {
  io.written("id", line.id), io.written("native", line.native), io.written("normalized", line.normalized), io.written("start", line.start);
}

}  // namespace

template <class Io>
void visit(Io& io, const PaperNormalization& n) {
  io.written("u", n.u, "the limit on the sum");
  io.written("entries", n.entries);
  io.written("zeros", n.zeros, "of the entries, those that became zero");
  io.written("f", n.error), io.written("sum", n.sum), io.written("largest", n.largest);
  io.written("largest_normalized", n.largest_normalized), io.written("tie_broken", n.tie_broken);
}

template <class Io>
void visit(Io& io, const as::InContext<PaperGroup, Problem>& in) {
  io.written("warps", in.part.warps), io.written("variable_latency", in.part.variable_latency);
  io.written("ops", in.part.ops, as::list(as::NameIn{in.context}));
}

template <class Io>
void visit(Io& io, const PaperWindow& window) {
  io.part("window", "What Algorithm 1 learned at one I: all L with the same number of copies.");
  io.written("i", window.ii), io.written("first_l", window.first_length), io.written("last_l", window.last_length);
  io.written("copies", window.copies), io.written("status", window.status, as::status), io.written("seconds", window.seconds, as::seconds);
}

template <class Io>
void visit(Io& io, const as::InContext<PaperWorth, Problem>& in) {
  const PaperWorth& worth = in.part;
  const Problem& problem = in.context;
  io.written("deadlock", worth.deadlock, "the order cannot run at all");
  io.written("period", only_if(!worth.deadlock, worth.period), "sustained, rounded up");
  io.written("period_limit", worth.limit);
  io.written("native_ii", worth.native_ii, "what the solver finds at native cycles");
  io.written("native_proved", worth.native_proved);
  io.written(
      "checker", [&] { return worth.deadlock ? std::nullopt : std::optional(check(problem, worth.schedule)); }, as::part_in(problem));
  io.written(
      "groups", [&] { return groups_json(problem, worth.schedule); }, as::described_by(groups_schema));
  io.written(
      "ops", [&] { return worth.deadlock ? Json::array() : placements_json(problem, worth.schedule); },
      as::described_by(placements_schema));
  io.written(
      "channels", [&] { return channels_json(problem, worth.schedule); }, as::described_by(channels_schema));
}

template <class Io>
void visit(Io& io, const PaperAblation& ablation) {
  io.written("name", ablation.name), io.written("change", ablation.change), io.written("status", ablation.status, as::status);
  io.written("window", only_if(ablation.window.ii > 0, ablation.window)), io.written("finding", ablation.finding);
}

template <class Io>
void visit(Io& io, const PaperSeconds& seconds) {
  io.written("normalize", seconds.normalize, as::seconds), io.written("modulo", seconds.modulo, as::seconds);
  io.written("joint", seconds.joint, as::seconds), io.written("native", seconds.native, as::seconds);
  io.written("total", seconds.total, as::seconds);
}

template <class Io>
void visit(Io& io, const PaperSetting& setting) {
  const bool number = setting.words.empty();
  io.written("name", setting.name), io.written("value", setting.value), io.written("default", setting.standard);
  io.written_if(number, "low", setting.low, as::any_integer), io.written_if(number, "high", setting.high, as::any_integer);
  io.written_if(!number, "values", setting.words), io.written("about", setting.about);
}

namespace {

template <class Io>
void visit(Io& io, const PaperDocument& of) {
  const PaperAnswer& answer = of.answer;
  io.written("status", answer.status, as::status), io.written("explanation", answer.explanation);
  visit_problem(io, of.problem);
  io.written("i", answer.ii, as::if_known), io.written("l", answer.length, as::if_known), io.written("copies", answer.copies, as::if_known);
  io.written("modulo_i", answer.modulo_ii, as::if_known, "the smallest I with a modulo schedule");
  io.written("modulo_l", answer.modulo_length, as::if_known);
  io.written("normalization", only_if(answer.normalization.applied, answer.normalization), "null: costs are native");
  io.written("ops", paper_op_lines(of.problem, answer)), io.written("groups", answer.groups, as::list(as::part_in(of.problem)));
  io.written("windows", answer.windows, "in the order they were asked");
  io.written("worth", answer.worth, as::part_in(of.problem), "the same groups and order at native cycles");
  io.written("ablations", answer.ablations), io.written("remarks", answer.remarks), io.written("seconds", answer.seconds);
  io.written("switches", answer.settings, SwitchValues{}), io.written("solver", answer.solver), io.written("cancelled", answer.cancelled);
  io.written("timed_out", answer.timed_out);
}

template <class Io>
void visit(Io& io, const SettingsDocument& of) {
  io.written("switches", of.switches);
}

}  // namespace

Json paper_settings_json(const std::vector<PaperSetting>& settings) { return as::part.write(SettingsDocument{settings}); }

Json paper_json(const Problem& problem, const PaperAnswer& answer) { return as::part.write(PaperDocument{problem, answer}); }

Json paper_schema() { return nameless_schema<PaperDocument>("heddle.paper/1", "What heddle paper answers of one kernel"); }

}  // namespace heddle
