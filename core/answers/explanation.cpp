#include "core/answers/explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/summary.h"
#include "core/formats/schedule_json.h"

namespace heddle {

namespace {

/// With more members than this, what each of them prevents would be too long to read.
constexpr std::size_t kFew = 6;

std::string number_word(std::size_t n) {
  constexpr const char* kWords[] = {"no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"};
  return n < std::size(kWords) ? kWords[n] : std::to_string(n);
}

std::string core_heading(const Explanation& e) {
  const std::size_t n = e.members.size();
  if (!e.together) return n == 1 ? "because" : fmt::format("because of {} reasons, each enough by itself", number_word(n));
  if (n == 1) return "because this alone cannot hold";
  return fmt::format("because these {} cannot hold together", number_word(n));
}

}  // namespace

bool buys_nothing(const Explanation& e, const WayOut& r) {
  return r.status == Status::Optimal && e.status == Status::Optimal && e.ii && r.ii == *e.ii;
}

bool decided(const WayOut& r) { return r.status == Status::Optimal || r.status == Status::Infeasible; }

std::string explanation_end(const Explanation& e) {
  const auto open =
      static_cast<std::size_t>(std::count_if(e.ways_out.begin(), e.ways_out.end(), [](const WayOut& r) { return !decided(r); }));
  const std::size_t all = e.ways_out.size() + e.ways_out_left;
  if (!e.cancelled && !e.timed_out && open == 0 && e.ways_out_left == 0) return {};
  std::string text = e.cancelled ? "interrupted" : "time is up";
  if (open > 0)
    text += fmt::format(": {} of {} {} not decided", open, count_of(static_cast<std::int64_t>(all), "change"), open == 1 ? "is" : "are");
  if (e.ways_out_left > 0)
    text += fmt::format("{} {} {} not tried", open > 0 ? "," : ":", count_of(static_cast<std::int64_t>(e.ways_out_left), "change"),
                        e.ways_out_left == 1 ? "was" : "were");
  if (open == 0 && e.ways_out_left == 0) text += ": this is what was known by then";
  return text;
}

std::string explanation_standing(const Explanation& e) {
  if (!e.together) return "arithmetic, no search needed";
  if (e.verified)
    return e.members.size() == 1
               ? "checked again from scratch: it contradicts itself"
               : "checked again from scratch: together they contradict each other, and without any one of them the others do not";
  const auto needed =
      static_cast<std::size_t>(std::count_if(e.members.begin(), e.members.end(), [](const ExplanationMember& m) { return m.needed; }));
  if (needed == e.members.size()) return "each of them is needed; of their details some may not be (undecided within the effort)";
  return fmt::format("needed for certain: {} of {}; the others were not decided within the effort", needed, e.members.size());
}

std::string way_out_result(const Explanation& e, const WayOut& r) {
  switch (r.status) {
    case Status::Optimal:
      if (buys_nothing(e, r)) return "no gain (proved)";
      return fmt::format("II {} (proved)", r.ii);
    case Status::Feasible: return fmt::format("at most II {}, not decided", r.ii);
    case Status::Infeasible: return "still infeasible (proved)";
    default: return "not decided in time";
  }
}

std::string explanation_headline(const Explanation& e) {
  const std::string end = explanation_end(e);
  return printable(e.sentence) + (end.empty() ? "" : "; " + end);
}

std::string explanation_summary(const Problem& problem, const Explanation& e, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n" + wrapped(printable(e.sentence), "", style.width);
  if (const std::string end = explanation_end(e); !end.empty()) text += wrapped(end, "", style.width);
  if (!e.members.empty()) {
    text += core_heading(e) + "\n";
    for (const ExplanationMember& m : e.members) {
      text += wrapped(printable(m.what), "  - ", style.width);
      if (!m.without.empty() && e.members.size() <= kFew) text += wrapped(printable(m.without), "      without it: ", style.width);
    }
  }
  for (const std::string& remark : e.remarks) text += wrapped(printable(remark), "", style.width);
  if (!e.members.empty()) text += wrapped(explanation_standing(e), "", style.width);
  if (!e.assumptions.empty()) {
    std::string all;
    for (const std::string& a : e.assumptions) all += (all.empty() ? "" : "; ") + a;
    text += wrapped("taken for granted: " + printable(all), "", style.width);
  }
  if (!e.ways_out.empty()) {
    text += fmt::format("\n{}\n", e.together && e.members.size() > 1 ? "give way on one of them" : "ways out, one change at a time");
    for (const bool known : {true, false}) {
      std::vector<std::vector<std::string>> rows;
      for (const WayOut& r : e.ways_out)
        if (decided(r) == known)
          rows.push_back(
              {printable(r.what), printable(r.from.empty() ? r.to : r.from + " -> " + r.to), way_out_result(e, r), printable(r.then)});
      if (rows.empty()) continue;
      if (!known) text += "\nnot decided: more time may find more\n";
      text += text_table({{"what"}, {"change"}, {"result"}, {"then in the way"}}, rows, style.width);
    }
  }
  if (std::any_of(e.ways_out.begin(), e.ways_out.end(), [&](const WayOut& r) { return buys_nothing(e, r); }))
    text += "no gain: the step is too small, or something else forbids the same II\n";
  text += "\n" + join_facts({fmt::format("{:.2f} s", e.seconds), count_of(e.queries, "query", "queries"), e.solver}, style) + "\n";
  return text;
}

namespace {

Json strings(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& text : texts) list.push(text);
  return list;
}

Json member_json(const Problem& problem, const ExplanationMember& member) {
  Json ops = Json::array();
  for (const OpId op : member.ops) ops.push(problem.op(op).name);
  Json numbers = Json::object();
  for (const auto& [name, value] : member.numbers) numbers.set(name, value);
  return Json::object()
      .set("family", member.family)
      .set("what", member.what)
      .set("ops", std::move(ops))
      .set("numbers", std::move(numbers))
      .set("parts", strings(member.parts))
      .set("needed", member.needed)
      .set("without", member.without)
      .set("slot", member.slot >= 0 ? Json(member.slot) : Json());
}

Json way_out_json(const WayOut& r) {
  const bool known = r.status == Status::Optimal || r.status == Status::Feasible;
  return Json::object()
      .set("member", r.member)
      .set("what", r.what)
      .set("from", r.from)
      .set("to", r.to)
      .set("status", to_string(r.status))
      .set("ii", known ? Json(r.ii) : Json())
      .set("decided", decided(r))
      .set("then", r.then)
      .set("seconds", seconds_json(r.seconds));
}

}  // namespace

Json explanation_json(const Problem& problem, const Explanation& e) {
  Json members = Json::array(), ways_out = Json::array();
  for (const ExplanationMember& member : e.members) members.push(member_json(problem, member));
  for (const WayOut& r : e.ways_out) ways_out.push(way_out_json(r));
  Json root = Json::object();
  root.set("status", to_string(e.status)).set("ii", e.ii ? Json(*e.ii) : Json());
  root.set("refuted", e.refuted ? Json(*e.refuted) : Json()).set("reason", to_string(e.reason));
  root.set("sentence", e.sentence).set("together", e.together).set("core", std::move(members));
  root.set("verified", e.verified).set("assumptions", strings(e.assumptions)).set("remarks", strings(e.remarks));
  root.set("relaxations", std::move(ways_out)).set("relaxations_left", e.ways_out_left);
  root.set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  root.set("problem_hash", problem_hash(problem)).set("solver", e.solver);
  root.set("seconds", seconds_json(e.seconds)).set("queries", e.queries).set("conflicts", e.conflicts);
  root.set("cancelled", e.cancelled).set("timed_out", e.timed_out);
  return root;
}

}  // namespace heddle
