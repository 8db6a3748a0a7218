#include "core/answers/least_period.h"

#include <fmt/format.h>

#include "core/answers/answer_members.h"
#include "core/answers/period_parts.h"
#include "core/answers/summary.h"
#include "core/chart/chart_layout.h"

namespace heddle {

namespace {

std::string cycles_or_none(double cycles) { return cycles > 0 ? fmt::format("{:.1f}", cycles) : std::string("-"); }

std::string ranked_table(const LeastPeriod& answer, const TextStyle& style) {
  const double least = answer.cycles;
  std::vector<std::vector<std::string>> rows;
  for (const RankedPeriod& row : answer.ranked)
    rows.push_back({printable(row.name), cycles_or_none(row.cycles),
                    row.cycles > 0 && least > 0 ? fmt::format("{:+.1f} %", 100 * (row.cycles / least - 1)) : std::string(),
                    row.ii ? fmt::format("{}", *row.ii) : std::string("-"), printable(row.why)});
  return text_table({{"program"}, {"period", true}, {"to the answer", true}, {"II", true}, {"cannot run"}}, rows, style.width);
}

std::string orders_table(const LeastPeriod& answer, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const OrdersOfGroup& group : answer.orders)
    rows.push_back(
        {printable(group.group), grouped(group.seen), grouped(group.keep_dependences), grouped(group.fit), grouped(group.differ)});
  return text_table({{"orders of"}, {"looked at", true}, {"keep dependences", true}, {"fit registers", true}, {"differ", true}}, rows,
                    style.width);
}

/// "2391.0 (-55.5)"
std::string beside_now(const LeastPeriod& answer, double cycles) { return fmt::format("{:.1f} ({:+.1f})", cycles, cycles - answer.cycles); }

std::string what_if_table(const LeastPeriod& answer, const TextStyle& style) {
  std::vector<std::vector<std::string>> rows;
  for (const PeriodIf& row : answer.what_if)
    rows.push_back({printable(row.change),
                    row.in_order        ? beside_now(answer, *row.in_order)
                    : row.fault.empty() ? "cannot run"
                                        : "",
                    row.least ? beside_now(answer, row.least->cycles()) : "",
                    row.least           ? standing_text(row.least->proof)
                    : row.fault.empty() ? "none found"
                                        : printable(row.fault)});
  return text_table({{"what if"}, {"in the answer's order", true}, {"the least then", true}, {"what is known of that"}}, rows, style.width);
}

}  // namespace

std::string least_period_summary(const Problem& problem, const LeastPeriod& answer, const TextStyle& style) {
  std::string text = problem_title(problem) + "\n" + wrapped(printable(answer.sentence), "", style.width);
  if (!answer.why.empty()) text += wrapped("not the least of all: " + printable(answer.why), "", style.width);
  if (answer.cancelled) text += "interrupted: not all was compared\n";
  if (!answer.bound_sentence.empty()) text += wrapped("bound: " + printable(answer.bound_sentence), "", style.width);
  text += "\n" + ranked_table(answer, style);
  if (!answer.what_if.empty()) text += "\n" + what_if_table(answer, style);
  if (answer.parts) text += "\n" + period_parts_table(*answer.parts, style);
  if (!answer.streams.empty()) {
    text += "\nthe answer's order, group by group (@n: n iterations behind)\n";
    for (const std::string& stream : answer.streams) text += wrapped(printable(stream), "  ", style.width);
  }
  if (!answer.orders.empty()) text += "\n" + orders_table(answer, style);
  if (answer.programs > 0)
    text += wrapped(fmt::format("{} programs, {} of them run, the others cut off by a bound; digest {}; {:.1f} s", grouped(answer.programs),
                                grouped(answer.compared), answer.digest, answer.seconds),
                    "", style.width);
  else if (answer.compared > 0)
    text += fmt::format("{} programs were run; {:.1f} s\n", grouped(answer.compared), answer.seconds);
  return text;
}

namespace {

struct LeastPeriodAnswer {
  const Problem& problem = blank<Problem>;
  const LeastPeriod& answer = blank<LeastPeriod>;
};

}  // namespace

template <class Io>
void visit(Io& io, const RankedPeriod& row) {
  io.written("name", row.name), io.written("period", row.cycles), io.written("ii", row.ii);
  io.optional("why", row.why);
}

template <class Io>
void visit(Io& io, const PeriodIf& row) {
  io.part("period_if");
  io.written("change", row.change);
  io.optional("fault", row.fault, "why there can be no such number");
  io.written("in_order", row.in_order, "period of the answer's order, which stays; null: it cannot run");
  io.written_if(row.least.has_value(), "least", row.least, "the least then");
}

template <class Io>
void visit(Io& io, const OrdersOfGroup& group) {
  io.written("group", group.group), io.written("seen", group.seen), io.written("keep_dependences", group.keep_dependences);
  io.written("fit", group.fit), io.written("differ", group.differ);
}

namespace {

template <class Io>
void visit(Io& io, const LeastPeriodAnswer& of) {
  const LeastPeriod& answer = of.answer;
  io.written("period", answer.cycles, "cycles an iteration, in the rule of motion; 0: there is none");
  io.written("standing", answer.standing, as::period_standing);
  io.written("sentence", answer.sentence, "what is claimed");
  io.written("why", answer.why, "what keeps it from a better standing; empty: it is the least of all");
  io.written_if(answer.parts.has_value(), "parts", answer.parts, "what the period consists of, where the machine has contention");
  io.written("bound", answer.bound, "no program at all has a shorter period");
  io.written("bound_sentence", answer.bound_sentence);
  io.written("from", answer.from, "the name of a schedule at hand; empty: found by the search");
  io.written("streams", answer.streams), io.written("ranked", answer.ranked), io.written("orders", answer.orders);
  io.written_if(!answer.what_if.empty(), "what_if", answer.what_if, "with one number changed after the other");
  io.written("programs", answer.programs, "in all; 0: not counted"), io.written("compared", answer.compared);
  io.written("digest", answer.digest, "of all programs"), io.written("ii", ii_of(answer.schedule), "of the answer's schedule");
  visit_problem(io, of.problem, false);
  io.written("seconds", answer.seconds, as::seconds), io.written("cancelled", answer.cancelled);
}

}  // namespace

Json least_period_json(const Problem& problem, const LeastPeriod& answer) { return as::part.write(LeastPeriodAnswer{problem, answer}); }

Json least_period_schema() { return nameless_schema<LeastPeriodAnswer>("heddle.period/1", "What heddle period answers"); }

}  // namespace heddle
