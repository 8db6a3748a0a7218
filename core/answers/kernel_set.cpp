// Rates are for reading only; members were compared by exact ratios before.
#include "core/answers/kernel_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/analysis/bounds.h"
#include "core/answers/answer_members.h"
#include "core/answers/summary.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"

namespace heddle {

namespace {

const char* rate_unit(WorkKind kind) {
  switch (kind) {
    case WorkKind::MultiplyAdds: return "MAC/cycle";
    case WorkKind::Bytes: return "bytes/cycle";
    case WorkKind::Iterations: break;
  }
  return "";
}

std::string rate(const KernelSetMember& m, Cycle ii) {
  if (m.work.kind == WorkKind::Iterations || ii < 1) return "";
  return fmt::format("{:.1f}", static_cast<double>(m.work.amount) / static_cast<double>(ii));
}

std::string peak(const KernelSetMember& m, Cycle ii) {
  if (m.work.at_peak < 1 || ii < 1) return "";
  return fmt::format("{:.1f} %", 100.0 * static_cast<double>(m.work.at_peak) / static_cast<double>(ii));
}

/// What the member asks of the memory system in the steady state, to and from global memory.
std::string traffic(const KernelSetMember& m, Cycle ii) {
  if (m.work.kind != WorkKind::MultiplyAdds || ii < 1) return "";
  return fmt::format("{:.1f}", static_cast<double>(m.work.bytes) / static_cast<double>(ii));
}

std::string status_of(const KernelSetMember& m) { return m.pruned ? "pruned" : std::string(status_word(to_string(m.outcome.status))); }

std::string value_of(const KernelSetMember& m, const char* objective) {
  for (const ObjectiveValue& o : m.outcome.objectives)
    if (o.name == objective) return fmt::format("{}{}", o.value, o.proved ? "" : "?");
  return "";
}

/// The II with which a member would be as fast as the best one.
std::string ii_to_equal(const KernelSetMember& m, const KernelSetAnswer& family) {
  if (family.best.empty()) return "";
  const KernelSetMember& winner = family.members[family.best.front().member];
  const auto even = static_cast<__int128>(family.best.front().value) * m.work.amount / winner.work.amount;
  return fmt::format("<= {}", static_cast<Cycle>(std::min<__int128>(even, kSaturated)));
}

/// The fastest first, by what is proved where there is no schedule; invalid members last.
std::vector<std::size_t> ranked(const KernelSetAnswer& family) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < family.members.size(); ++i)
    if (!family.members[i].invalid()) order.push_back(i);
  const std::size_t winner = family.best.empty() ? family.members.size() : family.best.front().member;
  const auto rank = [](const KernelSetMember& m) { return m.outcome.schedule ? 0 : m.outcome.status == Status::Infeasible ? 2 : 1; };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const KernelSetMember &left = family.members[a], &right = family.members[b];
    if (a == winner || b == winner) return a == winner && b != winner;
    if (rank(left) != rank(right)) return rank(left) < rank(right);
    const auto ii = [](const KernelSetMember& m) { return m.outcome.schedule ? m.outcome.schedule->ii : m.outcome.lower_bound; };
    return compare_ratios(ii(left), left.work.amount, ii(right), right.work.amount) < 0;
  });
  return order;
}

std::string short_seconds(double value) {
  return value < 0.0005 ? "" : value < 1 ? fmt::format("{:.0f} ms", value * 1000) : fmt::format("{:.2f} s", value);
}

/// Labels with one reason in common stand together.
std::string reasons(const char* title, const std::vector<std::pair<std::string, std::string>>& items) {
  std::string text;
  std::vector<std::string> said;
  for (const auto& [label, reason] : items) {
    if (std::find(said.begin(), said.end(), reason) != said.end()) continue;
    said.push_back(reason);
    std::string labels;
    std::vector<std::string> named;
    for (const auto& [other, same] : items) {
      if (same != reason || std::find(named.begin(), named.end(), other) != named.end()) continue;
      labels += (labels.empty() ? "" : ", ") + other;
      named.push_back(other);
    }
    text += fmt::format("  {}: {}\n", printable(labels), printable(reason));
  }
  return text.empty() ? text : fmt::format("\n{}\n{}", title, text);
}

/// The label, without the number of groups when that does not matter.
std::string invalid_label(const KernelSetAnswer& family, const KernelSetMember& m) {
  const bool all = std::all_of(family.members.begin(), family.members.end(),
                               [&](const KernelSetMember& o) { return o.series != m.series || o.invalid(); });
  const std::string suffix = fmt::format(" groups<={}", m.groups);
  return all && m.label.ends_with(suffix) ? m.label.substr(0, m.label.size() - suffix.size()) : m.label;
}

std::string fault_text(const std::vector<Fault>& faults) {
  std::string text = faults.front().message;
  if (!faults.front().hint.empty()) text += " (" + faults.front().hint + ")";
  if (faults.size() > 1) text += fmt::format(", and {} more", faults.size() - 1);
  return text;
}

}  // namespace

std::string member_facts(const KernelSetMember& m, const TextStyle& style) {
  if (m.invalid()) return "no problem: " + printable(fault_text(m.faults));
  const SolveOutcome& o = m.outcome;
  if (o.status == Status::Infeasible) return join_facts({"no schedule exists", "proved"}, style);
  const Cycle ii = o.schedule ? o.schedule->ii : o.lower_bound;
  const std::string speed = rate(m, ii);
  return join_facts({fmt::format("II {}{}", o.schedule ? "" : ">= ", ii), status_of(m),
                     speed.empty() ? "" : fmt::format("{}{} {}", o.schedule ? "" : "at most ", speed, rate_unit(m.work.kind))},
                    style);
}

KernelSetTable kernel_set_table(const KernelSetAnswer& family) {
  KernelSetTable table;
  table.members = ranked(family);
  for (const std::size_t i : table.members) {
    const KernelSetMember& m = family.members[i];
    const SolveOutcome& o = m.outcome;
    const bool impossible = o.status == Status::Infeasible;
    const Cycle ii = o.schedule ? o.schedule->ii : impossible ? 0 : o.lower_bound;
    const char* at_most = o.schedule || ii < 1 ? "" : "<= ";
    const std::string speed = rate(m, ii), share = peak(m, ii);
    table.rows.push_back(
        {printable(m.label), std::to_string(m.problem.ops.size()), m.min_ii < kNoFiniteII ? std::to_string(m.min_ii) : "none",
         impossible   ? "none"
         : o.schedule ? std::to_string(ii)
                      : fmt::format(">= {}", ii),
         m.pruned ? ii_to_equal(m, family) : "", status_of(m), speed.empty() ? "" : at_most + speed, share.empty() ? "" : at_most + share,
         o.schedule ? traffic(m, ii) : "", value_of(m, "stages"), o.schedule ? std::to_string(o.schedule->groups.size()) : "",
         value_of(m, "warps"), value_of(m, "smem"), m.problem.limits.tmem_columns > 0 ? value_of(m, "tmem") : "", value_of(m, "registers"),
         short_seconds(o.seconds.total)});
  }
  table.columns = {{"member"},
                   {"ops", true},
                   {"MinII", true},
                   {"II", true},
                   {"to equal", true},
                   {"status"},
                   {rate_unit(family.work), true},
                   {"of peak", true},
                   {"bytes/cycle", true},
                   {"stages", true},
                   {"groups", true},
                   {"warps", true},
                   {"SMEM", true},
                   {"TMEM", true},
                   {"registers", true},
                   {"time", true}};
  return table;
}

std::string kernel_set_headline(const KernelSetAnswer& family, const TextStyle& style) {
  if (family.best.empty()) {
    const bool invalid = !family.members.empty() &&
                         std::all_of(family.members.begin(), family.members.end(), [](const KernelSetMember& m) { return m.invalid(); });
    if (invalid) return "no member is a problem that could be solved";
    const bool none = family.complete && !family.members.empty();
    return join_facts({none ? "no member has a schedule" : "no schedule found", family.cancelled   ? "interrupted"
                                                                                : family.timed_out ? "time is up"
                                                                                : none             ? "proved"
                                                                                                   : ""},
                      style);
  }
  const KernelSetBest& best = family.best.front();
  const KernelSetMember& m = family.members[best.member];
  const std::string speed = rate(m, best.value), share = peak(m, best.value);
  return join_facts({printable(m.label), fmt::format("II {}", best.value), speed.empty() ? "" : speed + " " + rate_unit(family.work),
                     share.empty() ? "" : share + " of the tensor peak", best.proved ? "proved: no member is faster" : "not proved"},
                    style);
}

std::string kernel_set_summary(const KernelSetAnswer& family, const TextStyle& style) {
  std::vector<std::string> kernels;
  for (const KernelSetMember& m : family.members)
    if (std::find(kernels.begin(), kernels.end(), m.kernel) == kernels.end()) kernels.push_back(m.kernel);
  std::string title;
  for (const std::string& k : kernels) title += (title.empty() ? "" : ", ") + k;
  std::string text = fmt::format("{} on {}: {}\n{}\n", printable(title),
                                 printable(family.members.empty() ? family.machine : machine_title(family.members.front().problem)),
                                 count_of(family.members.size(), "member"), kernel_set_headline(family, style));
  if (!family.best.empty()) {
    const KernelSetMember& winner = family.members[family.best.front().member];
    text += printable(winner.outcome.explanation) + "\n";
    text += family.ties_settled ? "among equals it has the best tie-breaking objectives, proved\n"
                                : "members that may equal it are not settled, so ties are broken among those known\n";
  }
  if (!family.complete)
    text += fmt::format("partial answer: {}, not every member is settled\n", family.cancelled ? "interrupted" : "time is up");

  std::vector<std::pair<std::string, std::string>> open, invalid, impossible;
  for (const KernelSetMember& m : family.members) {
    if (m.invalid())
      invalid.emplace_back(invalid_label(family, m), fault_text(m.faults));
    else if (m.outcome.status == Status::Infeasible)
      impossible.emplace_back(m.label, m.outcome.explanation);
    else if (!m.why.empty() && !m.pruned)
      open.emplace_back(m.label, m.why);
  }
  const KernelSetTable table = kernel_set_table(family);
  if (!table.rows.empty())
    text += "\nmembers, the fastest first (steady state of one CTA; pruned: even its lower bound is slower than the best)\n" +
            text_table(table.columns, table.rows);
  text += reasons("not settled", open) + reasons("no schedule exists", impossible) + reasons("no problem at all", invalid);

  if (family.best.size() > 1) {
    std::vector<std::vector<std::string>> rows;
    for (const KernelSetBest& b : family.best) {
      if (b.objective == "tmem" && family.members[b.member].problem.limits.tmem_columns == 0) continue;
      rows.push_back({b.objective == "throughput" ? std::string("throughput (II)") : b.objective, std::to_string(b.value),
                      b.proved ? "proved" : "not proved", printable(family.members[b.member].label)});
    }
    text += "\nbest under each objective alone, among the members solved (each at its own least II)\n" +
            text_table({{"objective"}, {"value", true}, {"status"}, {"member"}}, rows);
  }
  text += "\n" + join_facts({short_seconds(family.seconds), family.solver}, style) + "\n";
  return text;
}

namespace {

/// Without a common factor.
struct Ratio {
  Cycle cycles = 0;
  std::int64_t work = 1;
};

std::optional<Ratio> ratio(std::optional<Cycle> cycles, std::int64_t work) {
  if (!cycles) return {};
  const std::int64_t common = std::gcd(*cycles, work);
  return Ratio{*cycles / common, work / common};
}

template <class Io>
void visit(Io& io, const Ratio& ratio) {
  io.written("cycles", ratio.cycles), io.written("work", ratio.work);
}

}  // namespace

template <class Io>
void visit(Io& io, const Subtile& subtile) {
  io.written("param", subtile.param), io.written("factor", subtile.factor);
}

template <class Io>
void visit(Io& io, const KernelSetMember& m) {
  const SolveOutcome& o = m.outcome;
  const bool there = !m.invalid(), finite = m.min_ii < kNoFiniteII;
  const std::optional<Cycle> ii = ii_of(o.schedule);
  io.written("label", m.label), io.written("kernel", m.kernel), io.written("choices", m.choices, as::numbers);
  io.written("subtiles", m.subtiles), io.written("max_groups", m.groups), io.written("status", o.status, as::status);
  io.written("pruned", m.pruned, "its lower bound alone shows that it cannot win; it was not solved to the end");
  io.written("why", m.why);
  io.written("faults", m.faults, "why it is no problem at all; then nothing below is there");
  io.written_if(there, "params", m.problem.params);
  io.written_if(there, "problem_hash", [&] { return problem_hash(m.problem); });
  io.written_if(there, "ops", m.problem.ops.size()), io.written_if(there, "work", m.work.amount);
  io.written_if(there, "bytes", m.work.bytes), io.written_if(there, "cycles_at_tensor_peak", m.work.at_peak, as::if_known);
  io.written_if(there, "min_ii", m.min_ii, as::finite_ii), io.written_if(there, "ii", ii);
  io.written_if(there, "lower_bound", only_if(finite, o.lower_bound)), io.written_if(there, "reason", o.reason, as::bound_reason);
  io.written_if(there, "explanation", o.explanation), io.written_if(there, "cycles_per_work", ratio(ii, m.work.amount));
  io.written_if(there, "cycles_per_work_at_least", [&] { return ratio(only_if(finite, o.lower_bound), m.work.amount); });
  io.written_if(there, "groups", o.schedule ? std::optional(o.schedule->groups.size()) : std::nullopt);
  io.written_if(
      there, "objectives", [&] { return objectives_json(o.objectives); }, as::described_by(objectives_schema));
  io.written_if(there, "seconds", o.seconds.total, as::seconds), io.written_if(there, "queries", o.queries);
  io.written_if(there, "conflicts", o.conflicts);
}

template <class Io>
void visit(Io& io, const as::InContext<KernelSetBest, KernelSetAnswer>& in) {
  io.written("objective", in.part.objective), io.written("member", in.part.member);
  io.written("label", [&] { return in.context.members[in.part.member].label; });
  io.written("value", in.part.value, as::any_integer), io.written("proved", in.part.proved);
}

template <class Io>
void visit(Io& io, const KernelSetAnswer& family) {
  io.written("machine", family.machine);
  io.written("work_unit", family.work, as::word("work", WorkKind::Iterations));
  io.written("best", family.best, as::list(as::part_in(family))), io.written("ties_settled", family.ties_settled);
  io.written("complete", family.complete), io.written("cancelled", family.cancelled), io.written("timed_out", family.timed_out);
  io.written("members", family.members);
  io.written(
      "solution",
      [&] {
        if (family.best.empty()) return Json();
        const KernelSetMember& winner = family.members[family.best.front().member];
        return outcome_json(winner.problem, winner.outcome);
      },
      as::or_null(as::described_by(outcome_schema)));
  io.written("seconds", family.seconds, as::seconds), io.written("solver", family.solver), io.written("seed", family.seed, as::seed);
}

Json kernel_set_json(const KernelSetAnswer& family) { return as::part.write(family); }

Json kernel_set_schema() { return nameless_schema<KernelSetAnswer>("heddle.family/1", "What heddle family answers"); }

}  // namespace heddle
