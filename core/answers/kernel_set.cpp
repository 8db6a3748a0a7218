// Rates are for reading only; members were compared by exact ratios before.
#include "core/answers/kernel_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/analysis/bounds.h"
#include "core/answers/summary.h"
#include "core/base/saturate.h"
#include "core/formats/schedule_json.h"

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
  std::string text = fmt::format("{} on {}: {} member{}\n{}\n", printable(title),
                                 printable(family.members.empty() ? family.machine : machine_title(family.members.front().problem)),
                                 family.members.size(), family.members.size() == 1 ? "" : "s", kernel_set_headline(family, style));
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

Json ratio_json(Cycle cycles, std::int64_t work) {
  const std::int64_t common = std::gcd(cycles, work);
  return Json::object().set("cycles", cycles / common).set("work", work / common);
}

Json member_json(const KernelSetMember& m) {
  Json choices = Json::object(), cuts = Json::array();
  for (const auto& [name, value] : m.choices) choices.set(name, value);
  for (const Subtile& s : m.subtiles) cuts.push(Json::object().set("param", s.param).set("factor", s.factor));
  Json root = Json::object();
  root.set("label", m.label).set("kernel", m.kernel).set("choices", std::move(choices)).set("subtiles", std::move(cuts));
  root.set("max_groups", m.groups).set("status", to_string(m.outcome.status)).set("pruned", m.pruned).set("why", m.why);
  root.set("faults", faults_json(m.faults));
  if (m.invalid()) return root;
  const SolveOutcome& o = m.outcome;
  const Schedule* schedule = o.schedule ? &*o.schedule : nullptr;
  root.set("params", params_json(m.problem.params)).set("problem_hash", problem_hash(m.problem)).set("ops", m.problem.ops.size());
  root.set("work", m.work.amount)
      .set("bytes", m.work.bytes)
      .set("cycles_at_tensor_peak", m.work.at_peak > 0 ? Json(m.work.at_peak) : Json());
  const bool finite = m.min_ii < kNoFiniteII;
  root.set("min_ii", finite ? Json(m.min_ii) : Json())
      .set("ii", schedule ? Json(schedule->ii) : Json())
      .set("lower_bound", finite ? Json(o.lower_bound) : Json());
  root.set("reason", to_string(o.reason)).set("explanation", o.explanation);
  root.set("cycles_per_work", schedule ? ratio_json(schedule->ii, m.work.amount) : Json());
  root.set("cycles_per_work_at_least", finite ? ratio_json(o.lower_bound, m.work.amount) : Json());
  root.set("groups", schedule ? Json(schedule->groups.size()) : Json());
  root.set("objectives", objectives_json(o.objectives)).set("seconds", seconds_json(o.seconds.total));
  root.set("queries", o.queries).set("conflicts", o.conflicts);
  return root;
}

}  // namespace

Json kernel_set_json(const KernelSetAnswer& family) {
  Json root = Json::object(), members = Json::array(), best = Json::array();
  for (const KernelSetMember& m : family.members) members.push(member_json(m));
  for (const KernelSetBest& b : family.best)
    best.push(Json::object()
                  .set("objective", b.objective)
                  .set("member", b.member)
                  .set("label", family.members[b.member].label)
                  .set("value", b.value)
                  .set("proved", b.proved));
  root.set("machine", family.machine).set("work_unit", to_string(family.work));
  root.set("best", std::move(best)).set("ties_settled", family.ties_settled);
  root.set("complete", family.complete).set("cancelled", family.cancelled).set("timed_out", family.timed_out);
  root.set("members", std::move(members));
  if (family.best.empty()) {
    root.set("solution", Json());
  } else {
    const KernelSetMember& winner = family.members[family.best.front().member];
    root.set("solution", outcome_json(winner.problem, winner.outcome));
  }
  root.set("seconds", seconds_json(family.seconds)).set("solver", family.solver).set("seed", family.seed);
  return root;
}

}  // namespace heddle
