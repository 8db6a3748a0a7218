#include "core/answers/explanation.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/answers/answer_members.h"
#include "core/answers/period_parts.h"

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
  if (e.period) text += "\n" + period_parts_table(*e.period, style);
  text += "\n" + join_facts({fmt::format("{:.2f} s", e.seconds), count_of(e.queries, "query", "queries"), e.solver}, style) + "\n";
  return text;
}

namespace {

struct ExplanationAnswer {
  const Problem& problem = blank<Problem>;
  const Explanation& explanation = blank<Explanation>;
};

}  // namespace

template <class Io>
void visit(Io& io, const as::InContext<ExplanationMember, Problem>& in) {
  const ExplanationMember& member = in.part;
  io.written("family", member.family), io.written("what", member.what), io.written("ops", member.ops, as::list(as::NameIn{in.context}));
  io.written("numbers", member.numbers, as::numbers);
  io.written("parts", member.parts, "its single constraints that are needed");
  io.written("needed", member.needed, "shown: without it the others can hold together");
  io.written("without", member.without, "what then goes wrong with it in one such schedule; may be empty");
  io.written("slot", only_if(member.slot >= 0, member.slot), "modulo II, where it goes wrong");
}

template <class Io>
void visit(Io& io, const WayOut& way) {
  const bool known = way.status == Status::Optimal || way.status == Status::Feasible;
  io.written("member", way.member, "of the core, which it eases");
  io.written("what", way.what), io.written("from", way.from), io.written("to", way.to), io.written("status", way.status, as::status);
  io.written("ii", only_if(known, way.ii)), io.written("decided", decided(way));
  io.written("then", way.then, "what stands in the way afterwards; may be empty");
  io.written("seconds", way.seconds, as::seconds);
}

namespace {

template <class Io>
void visit(Io& io, const ExplanationAnswer& answer) {
  const Explanation& e = answer.explanation;
  io.written("status", e.status, as::status);
  io.written("ii", e.ii, "of the best schedule known");
  io.written("refuted", e.refuted, "the II that is explained; null where none has a schedule");
  io.written("reason", e.reason, as::bound_reason), io.written("sentence", e.sentence);
  io.written("together", e.together, "they contradict each other only together; else each alone forbids the II");
  io.written("core", e.members, as::list(as::part_in(answer.problem))), io.written("verified", e.verified);
  io.written("assumptions", e.assumptions), io.written("remarks", e.remarks);
  io.written("relaxations", e.ways_out, "what buys most comes first");
  io.written("relaxations_left", e.ways_out_left, "not tried for lack of time");
  io.written_if(e.period.has_value(), "period", e.period, "what it consists of, where the machine has contention");
  visit_problem(io, answer.problem, false);
  io.written("solver", e.solver), io.written("seconds", e.seconds, as::seconds), io.written("queries", e.queries);
  io.written("conflicts", e.conflicts), io.written("cancelled", e.cancelled), io.written("timed_out", e.timed_out);
}

}  // namespace

Json explanation_json(const Problem& problem, const Explanation& e) { return as::part.write(ExplanationAnswer{problem, e}); }

Json explanation_schema() { return nameless_schema<ExplanationAnswer>("heddle.explain/1", "What heddle explain answers"); }

}  // namespace heddle
