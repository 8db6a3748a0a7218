#include "core/answers/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/analysis/channels.h"
#include "core/analysis/signature.h"
#include "core/answers/answer_members.h"
#include "core/answers/simulation.h"
#include "core/answers/summary.h"
#include "core/base/integer_division.h"
#include "core/base/text_style.h"
#include "core/chart/chart_layout.h"
#include "core/formats/schedule_json.h"
#include "core/schedule/question.h"

namespace heddle {

namespace {

std::string more_or_less(std::int64_t a, std::int64_t b, NumberText number) {
  if (a == b) return {};
  const std::int64_t distance = std::abs(b - a);
  std::string text = fmt::format("{} {}", number(distance), b > a ? "more" : "less");
  if (a > 0 && distance * 200 >= a) text += fmt::format(" ({:.0f} %)", 100.0 * static_cast<double>(distance) / static_cast<double>(a));
  return text;
}

/// A number that is better when it is smaller; `judged` false where it is only different.
MetricRow number_row(NumberText number, std::string name, std::int64_t a, std::int64_t b, bool judged = true) {
  const int direction = a == b ? 0 : b > a ? 1 : -1;
  return {std::move(name), number(a), number(b), more_or_less(a, b, number), direction, judged ? -direction : 0};
}

std::string period_text(const Period& period, NumberText number) { return period.deadlock ? "deadlock" : number(period.cycles()); }

MetricRow period_row(const Period& a, const Period& b, NumberText number) {
  if (!a.deadlock && !b.deadlock) return number_row(number, "sustainable period", a.cycles(), b.cycles());
  MetricRow row{"sustainable period", period_text(a, number), period_text(b, number), {}, 0, 0};
  if (a.deadlock != b.deadlock) {
    row.change = a.deadlock ? "only A deadlocks" : "only B deadlocks";
    row.better = a.deadlock ? 1 : -1;
  }
  return row;
}

std::string verdict_text_of(const Verdict& verdict) {
  return verdict.valid() ? "valid" : count_of(static_cast<std::int64_t>(verdict.violations.size()), "violation");
}

/// "proved", "not proved", or what the file says.
std::string certainty(const ComparedSchedule& one) {
  if (one.status == Status::Optimal) return "proved";
  return one.lower_bound ? "not proved" : claim_text(*one.schedule, "not proved");
}

std::string status_of(const ComparedSchedule& one) { return one.verdict.valid() ? certainty(one) : "invalid"; }

void add_units(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, std::vector<MetricRow>& rows) {
  const auto percent = [](const ComparedSchedule& one, std::size_t unit) {
    return 100.0 * static_cast<double>(one.usage.busy[unit]) / static_cast<double>(one.schedule->ii);
  };
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    if (a.usage.busy[u] == 0 && b.usage.busy[u] == 0) continue;
    const double in_a = percent(a, u), in_b = percent(b, u);
    MetricRow row{problem.units[u].name + " busy", fmt::format("{:.1f} %", in_a), fmt::format("{:.1f} %", in_b), {}, 0, 0};
    if (row.differs()) {
      row.direction = in_b > in_a ? 1 : -1;
      row.change = fmt::format("{:.1f} points {}", std::abs(in_b - in_a), in_b > in_a ? "more" : "less");
    }
    rows.push_back(std::move(row));
  }
}

/// Per group of A with its partner in B, then the groups that only B has.
void add_groups(const ComparedSchedule& a, const ComparedSchedule& b, const Difference& difference, NumberText number,
                std::vector<MetricRow>& rows) {
  const auto warps = [](const ComparedSchedule& one, std::size_t g) { return one.schedule->groups[g].warps; };
  const auto registers = [](const ComparedSchedule& one, std::size_t g) {
    return fmt::format("{} of {}", one.usage.register_peak[g], std::max(one.usage.register_budget[g], one.schedule->groups[g].registers));
  };
  const auto add = [&](const std::string& name, std::optional<std::size_t> in_a, std::optional<std::size_t> in_b) {
    if (in_a && in_b) {
      rows.push_back(number_row(number, name + " warps", warps(a, *in_a), warps(b, *in_b)));
      MetricRow row = number_row(number, name + " registers", a.usage.register_peak[*in_a], b.usage.register_peak[*in_b]);
      row.a = registers(a, *in_a);
      row.b = registers(b, *in_b);
      rows.push_back(std::move(row));
      return;
    }
    const ComparedSchedule& one = in_a ? a : b;
    const std::size_t g = in_a ? *in_a : *in_b;
    const std::string has = fmt::format("{}, {} regs", count_of(warps(one, g), "warp"), registers(one, g));
    rows.push_back({name, in_a ? has : "-", in_a ? "-" : has, in_a ? "only in A" : "only in B", 0, 0});
  };
  for (std::size_t g = 0; g < a.schedule->groups.size(); ++g) {
    const auto partner = std::find(difference.groups.begin(), difference.groups.end(), GroupId(g));
    const bool met = partner != difference.groups.end();
    std::string name = group_name(*a.schedule, GroupId(g));
    if (met)
      if (const std::string other = group_name(*b.schedule, GroupId(static_cast<std::size_t>(partner - difference.groups.begin())));
          other != name)
        name += " / " + other;
    add(name, g, met ? std::optional(static_cast<std::size_t>(partner - difference.groups.begin())) : std::nullopt);
  }
  for (std::size_t g = 0; g < difference.groups.size(); ++g)
    if (!difference.groups[g].valid()) add(group_name(*b.schedule, GroupId(g)), std::nullopt, g);
}

void add_rings(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, NumberText number,
               std::vector<MetricRow>& rows) {
  rows.push_back(
      number_row(number, "barriers of rings between groups", ring_barriers(problem, *a.schedule), ring_barriers(problem, *b.schedule)));
  const auto depth = [&](const ComparedSchedule& one, std::size_t c) {
    return channel_exists(problem.channels[c], *one.schedule) ? one.schedule->depths[c] : 0;
  };
  for (std::size_t c = 0; c < problem.channels.size(); ++c) {
    const int in_a = depth(a, c), in_b = depth(b, c);
    if (in_a == 0 && in_b == 0) continue;
    MetricRow row = number_row(number, fmt::format("ring {} depth", problem.channels[c].name), in_a, in_b, false);
    if (in_a == 0) row.a = "-", row.change = "only in B";
    if (in_b == 0) row.b = "-", row.change = "only in A";
    rows.push_back(std::move(row));
  }
}

/// A number, and how it reads.
struct ReadNumber {
  double value;
  std::string text;
};

/// "0.12 ms less (8 %)"; nothing where both read the same.
MetricRow predicted_row(const char* name, const ReadNumber& of_a, const ReadNumber& of_b, bool more_is_better, const std::string& apart) {
  const double a = of_a.value, b = of_b.value;
  MetricRow row{name, a > 0 ? of_a.text : "-", b > 0 ? of_b.text : "-", {}, 0, 0};
  if (a <= 0 || b <= 0 || !row.differs()) return row;
  row.direction = b > a ? 1 : -1;
  row.better = (b > a) == more_is_better ? 1 : -1;
  row.change = fmt::format("{} {} ({:.1f} %)", apart, b > a ? "more" : "less", 100 * std::abs(b - a) / a);
  return row;
}

/// None where nothing is predicted of either.
void add_predicted(const ComparedSchedule& a, const ComparedSchedule& b, NumberText number, std::vector<MetricRow>& rows) {
  const auto& [cycles_a, time_a, speed_a, unit_a] = a.predicted;
  const auto& [cycles_b, time_b, speed_b, unit_b] = b.predicted;
  if (cycles_a == 0 && cycles_b == 0) return;
  if (time_a > 0 || time_b > 0)
    rows.push_back(predicted_row("time, predicted", {time_a, time_text(time_a)}, {time_b, time_text(time_b)}, false,
                                 time_text(std::abs(time_b - time_a))));
  else
    rows.push_back(predicted_row("cycles, predicted", {static_cast<double>(cycles_a), number(cycles_a)},
                                 {static_cast<double>(cycles_b), number(cycles_b)}, false, number(std::abs(cycles_b - cycles_a))));
  if (speed_a <= 0 && speed_b <= 0) return;
  const auto text = [unit = speed_a > 0 ? unit_a : unit_b](double speed) {
    return fmt::format("{:.{}f} {}", speed, speed < 10 ? 1 : 0, unit);
  };
  rows.push_back(
      predicted_row("speed, predicted", {speed_a, text(speed_a)}, {speed_b, text(speed_b)}, true, text(std::abs(speed_b - speed_a))));
}

}  // namespace

ComparedSchedule::Predicted predicted_of(const KernelRun& run) {
  if (!run.fault.empty()) return {};
  const bool products = run.tflops > 0;
  return {run.cycles, run.microseconds, products ? run.tflops : run.gbytes, products ? "TFLOP/s" : "GB/s"};
}

ComparedSchedule measure(const Problem& problem, const Schedule& schedule, const Constraints& constraints, std::string name) {
  ComparedSchedule one;
  one.name = std::move(name);
  one.schedule = &schedule;
  one.verdict = check(problem, schedule, constraints);
  one.period = sustainable_period(problem, schedule);
  one.usage = compute_usage(problem, schedule);
  one.status = one.verdict.valid() ? Status::Feasible : Status::Invalid;
  if (one.verdict.valid() && schedule.certificate && schedule.certificate->problem_hash == question_hash(problem, constraints)) {
    one.status = schedule.certificate->status;
    one.lower_bound = schedule.certificate->lower_bound;
  }
  return one;
}

std::string ungrouped(std::int64_t number) { return std::to_string(number); }

std::string standing(const ComparedSchedule& one, NumberText number) {
  std::string text = fmt::format("II {}", number(one.schedule->ii));
  text += one.period.deadlock ? " · deadlocks" : fmt::format(" · period {}", number(one.period.cycles()));
  if (!one.verdict.valid()) return text + " · invalid: " + verdict_text_of(one.verdict);
  if (one.lower_bound) text += fmt::format(" · bound {}", number(*one.lower_bound));
  return text + " · " + certainty(one);
}

std::vector<MetricRow> metric_rows(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b,
                                   const Difference& difference, NumberText number) {
  std::vector<MetricRow> rows;
  add_predicted(a, b, number, rows);
  rows.push_back(number_row(number, "II", a.schedule->ii, b.schedule->ii));
  const auto bound = [&](const ComparedSchedule& one) { return one.lower_bound ? number(*one.lower_bound) : std::string("-"); };
  rows.push_back({"bound", bound(a), bound(b), {}, 0, 0});
  rows.push_back({"status", status_of(a), status_of(b), {}, 0, 0});
  rows.push_back(period_row(a.period, b.period, number));
  MetricRow verdict{"checker", verdict_text_of(a.verdict), verdict_text_of(b.verdict), {}, 0, 0};
  if (a.verdict.valid() != b.verdict.valid()) {
    verdict.change = a.verdict.valid() ? "only A is valid" : "only B is valid";
    verdict.better = a.verdict.valid() ? -1 : 1;
  }
  rows.push_back(std::move(verdict));
  rows.push_back(number_row(number, "stages", stage_count(*a.schedule), stage_count(*b.schedule)));
  rows.push_back(
      number_row(number, "length of one iteration", schedule_length(problem, *a.schedule), schedule_length(problem, *b.schedule)));
  rows.push_back(number_row(number, "warps", a.usage.warps, b.usage.warps));
  add_units(problem, a, b, rows);
  add_groups(a, b, difference, number, rows);
  rows.push_back(number_row(number, "SMEM bytes", a.usage.smem_bytes, b.usage.smem_bytes));
  if (problem.limits.tmem_columns > 0) rows.push_back(number_row(number, "TMEM columns", a.usage.tmem_columns, b.usage.tmem_columns));
  add_rings(problem, a, b, number, rows);
  return rows;
}

std::vector<OpDifferenceRow> op_difference_rows(const Problem& problem, const Schedule& a, const Schedule& b, const Difference& difference,
                                                NumberText number) {
  std::vector<OpDifferenceRow> rows;
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId op{v};
    const OpDifference& d = difference.ops[v];
    OpDifferenceRow row{op,
                        d,
                        modulo(d.a_start, a.ii),
                        modulo(d.b_start, b.ii),
                        static_cast<int>(floor_div(d.a_start, a.ii)),
                        static_cast<int>(floor_div(d.b_start, b.ii)),
                        group_name(a, a.group(op)),
                        group_name(b, b.group(op)),
                        {}};
    if (d.delta != 0) row.change = fmt::format("{} {}", number(std::abs(d.delta)), d.delta > 0 ? "later" : "earlier");
    if (d.delta != 0 && !d.slot) row.change += ", same slot";
    if (d.group) row.change += row.change.empty() ? "other group" : ", other group";
    rows.push_back(std::move(row));
  }
  return rows;
}

const char* relation(const Difference& difference, const Schedule& a, const Schedule& b) {
  if (difference.turns && !difference.first)
    return a.turns ? "the same but for named barriers: only A keeps the order on the tensor cores by them"
                   : "the same but for named barriers: only B keeps the order on the tensor cores by them";
  if (!difference.same_program()) return "different programs";
  return difference.same_times() && a.ii == b.ii ? "the same schedule" : "the same program with other idle times";
}

std::string describe(const Alignment& alignment, const Problem& problem, Cycle shift, NumberText number) {
  std::string text = alignment.at == Alignment::At::Op && alignment.op.valid() ? "aligned at " + problem.op(alignment.op).name
                     : alignment.at == Alignment::At::Most                     ? "aligned where most ops agree"
                                                                               : "aligned at II start";
  if (shift != 0) text += fmt::format(": B shown {} cycles {}", number(std::abs(shift)), shift > 0 ? "later" : "earlier");
  return text;
}

namespace {

const char* arrow(const MetricRow& row, const TextStyle& style) {
  if (row.direction == 0) return "";
  if (style.utf8) return row.direction > 0 ? "▲ " : "▼ ";
  return row.direction > 0 ? "+ " : "- ";
}

const char* judgement(const MetricRow& row) { return row.better > 0 ? "B better" : row.better < 0 ? "A better" : ""; }

std::string side_text(char letter, const ComparedSchedule& one, const TextStyle& style) {
  std::string text = styled(fmt::format("{}  {}: {}", letter, one.name, standing(one, ungrouped)), style) + "\n";
  if (!one.period.sentence.empty()) text += "   " + styled(one.period.sentence, style) + "\n";
  if (!one.verdict.valid()) text += "   " + styled("first violation: " + one.verdict.violations.front().message, style) + "\n";
  return text;
}

}  // namespace

std::string difference_headline(const Difference& difference, const ComparedSchedule& a, const ComparedSchedule& b,
                                const TextStyle& style) {
  std::string text = relation(difference, *a.schedule, *b.schedule);
  if (difference.first) text += "; " + difference.first->sentence;
  return styled(text, style);
}

std::string difference_summary(const ComparedPair& pair, bool all, const TextStyle& style) {
  const Problem& problem = pair.problem;
  const ComparedSchedule &a = pair.a, &b = pair.b;
  const Difference& difference = pair.difference;
  std::string text = problem_title(problem) + "\n";
  text += side_text('A', a, style) + side_text('B', b, style);
  text += std::string(relation(difference, *a.schedule, *b.schedule)) + "\n";
  if (difference.first)
    text += styled(fmt::format("first divergence, cycle {}: {}", difference.first->at, difference.first->sentence), style) + "\n";

  std::vector<std::vector<std::string>> rows;
  for (const MetricRow& row : metric_rows(problem, a, b, difference, ungrouped))
    rows.push_back({styled(row.name, style), styled(row.a, style), styled(row.b, style),
                    row.change.empty() ? "" : arrow(row, style) + styled(row.change, style), judgement(row)});
  text += "\nnumbers\n" + text_table({{""}, {"A", true}, {"B", true}, {"B against A"}, {""}}, rows);

  rows.clear();
  for (const OpDifferenceRow& row : op_difference_rows(problem, *a.schedule, *b.schedule, difference, ungrouped)) {
    if (!all && !row.difference.differs()) continue;
    rows.push_back({printable(problem.op(row.op).name), std::to_string(row.difference.a_start), std::to_string(row.a_slot),
                    std::to_string(row.a_stage), printable(row.a_group), std::to_string(row.difference.b_start), std::to_string(row.b_slot),
                    std::to_string(row.b_stage), printable(row.b_group),
                    row.difference.delta == 0 ? "0" : fmt::format("{:+}", row.difference.delta), styled(row.change, style)});
  }
  const std::string aligned = styled(describe(pair.alignment, problem, difference.shift, ungrouped), style);
  if (rows.empty()) return text + "\nops, " + aligned + ": none starts at another time or in another group\n";
  const std::size_t differing = static_cast<std::size_t>(
      std::count_if(difference.ops.begin(), difference.ops.end(), [](const OpDifference& op) { return op.differs(); }));
  text += fmt::format("\nops, {}: {} of {} differ\n", aligned, differing, difference.ops.size());
  return text + text_table({{"op"},
                            {"A start", true},
                            {"slot", true},
                            {"stage", true},
                            {"group"},
                            {"B start", true},
                            {"slot", true},
                            {"stage", true},
                            {"group"},
                            {"delta", true},
                            {""}},
                           rows);
}

std::vector<PartitionRow> partition_rows(const Problem& problem, const Schedule& a, const Schedule& b, const Difference& difference) {
  std::vector<PartitionRow> rows(a.groups.size());
  std::vector<std::size_t> row_of_b(b.groups.size());
  for (std::size_t g = 0; g < a.groups.size(); ++g) rows[g].group = group_name(a, GroupId(g));
  for (std::size_t g = 0; g < b.groups.size(); ++g) {
    const std::string name = group_name(b, GroupId(g));
    const GroupId partner = difference.groups[g];
    row_of_b[g] = partner.valid() ? partner.index() : rows.size();
    if (!partner.valid())
      rows.push_back({name, {}, {}, {}});
    else if (rows[partner.index()].group != name)
      rows[partner.index()].group += " / " + name;
  }
  for (std::size_t v = 0; v < problem.ops.size(); ++v) {
    const OpId op{v};
    const std::size_t in_a = a.group(op).index(), in_b = row_of_b[b.group(op).index()];
    if (in_a == in_b) {
      rows[in_a].both.push_back(op);
    } else {
      rows[in_a].only_a.push_back(op);
      rows[in_b].only_b.push_back(op);
    }
  }
  std::erase_if(rows, [](const PartitionRow& r) { return r.both.empty() && r.only_a.empty() && r.only_b.empty(); });
  return rows;
}

std::string op_names(const Problem& problem, const std::vector<OpId>& ops) {
  if (ops.empty()) return "-";
  std::string text;
  for (const OpId op : ops) text += (text.empty() ? "" : ", ") + printable(problem.op(op).name);
  return text;
}

namespace {

struct DifferenceAnswer {
  const Problem& problem = blank<Problem>;
  const ComparedSchedule& a = blank<ComparedSchedule>;
  const ComparedSchedule& b = blank<ComparedSchedule>;
  const Difference& difference = blank<Difference>;
  const Alignment& alignment = blank<Alignment>;
};

struct UnitBusy {
  std::string unit;
  Cycle busy = 0;
};

struct MatchLine {
  std::size_t b = 0;
  GroupId a;
};

struct PlaceLine {
  Cycle start = 0, slot = 0;
  int stage = 0;
  GroupId group;
};

struct OpPairLine {
  std::string id;
  PlaceLine a, b;
  OpDifference difference;
};

std::vector<UnitBusy> busy_units(const Problem& problem, const ComparedSchedule& one) {
  std::vector<UnitBusy> units;
  for (std::size_t u = 0; u < problem.units.size(); ++u)
    if (one.usage.busy[u] > 0) units.push_back({problem.units[u].name, one.usage.busy[u]});
  return units;
}

std::vector<MatchLine> match_lines(const Difference& difference) {
  std::vector<MatchLine> lines;
  for (const GroupId a : difference.groups) lines.push_back({lines.size(), a});
  return lines;
}

std::vector<OpPairLine> op_pair_lines(const DifferenceAnswer& of) {
  std::vector<OpPairLine> lines;
  const Schedule &a = *of.a.schedule, &b = *of.b.schedule;
  for (const OpDifferenceRow& row : op_difference_rows(of.problem, a, b, of.difference))
    lines.push_back({of.problem.op(row.op).name,
                     {row.difference.a_start, row.a_slot, row.a_stage, a.group(row.op)},
                     {row.difference.b_start, row.b_slot, row.b_stage, b.group(row.op)},
                     row.difference});
  return lines;
}

std::string alignment_word(const Problem& problem, const Alignment& alignment) {
  if (alignment.at == Alignment::At::Op && alignment.op.valid()) return problem.op(alignment.op).name;
  return alignment.at == Alignment::At::Most ? "most" : "start";
}

template <class Io>
void visit(Io& io, const UnitBusy& line) {
  io.written("unit", line.unit), io.written("busy", line.busy);
}

template <class Io>
void visit(Io& io, const MatchLine& line) {
  io.written("b", line.b), io.written("a", line.a, as::or_null(as::group_index));
}

template <class Io>
void visit(Io& io, const PlaceLine& line) {
  io.written("start", line.start, as::any_integer), io.written("stage", line.stage, as::any_integer);
  io.written("slot", line.slot, as::any_integer), io.written("group", line.group, as::group_index);
}

template <class Io>
void visit(Io& io, const OpPairLine& line) {
  io.written("id", line.id), io.written("a", line.a), io.written("b", line.b);
  io.written("delta", line.difference.delta, as::any_integer, "how many cycles later it starts in B, as the two are aligned");
  io.written("other_group", line.difference.group), io.written("differs", line.difference.differs());
}

}  // namespace

template <class Io>
void visit(Io& io, const ComparedSchedule::Predicted& predicted) {
  io.written("cycles", predicted.cycles), io.written("microseconds", predicted.microseconds, as::if_known);
  io.written("speed", predicted.speed, as::if_known);
  io.written("unit", predicted.unit, "of the speed");
}

template <class Io>
void visit(Io& io, const as::InContext<ComparedSchedule, Problem>& in) {
  const ComparedSchedule& one = in.part;
  const Problem& problem = in.context;
  io.part("side");
  io.written("name", one.name);
  io.written("ii", [&] { return one.schedule->ii; });
  io.written("status", one.status, as::status), io.written("lower_bound", one.lower_bound);
  io.written("certificate", [&] { return standing_of(*one.schedule); });
  io.written("predicted", only_if(one.predicted.cycles != 0, one.predicted), "the whole kernel on the whole machine");
  io.written("deadlock", one.period.deadlock), io.written("period", only_if(!one.period.deadlock, one.period.cycles()));
  io.written("limited_by", one.period.sentence);
  io.written("stages", [&] { return stage_count(*one.schedule); });
  io.written("length", [&] { return schedule_length(problem, *one.schedule); });
  io.written("warps", one.usage.warps), io.written("smem_bytes", one.usage.smem_bytes), io.written("tmem_columns", one.usage.tmem_columns);
  io.written("units", busy_units(problem, one), "cycles of an iteration that each unit is busy");
  io.written("register_peaks", one.usage.register_peak);
  io.written(
      "groups", [&] { return groups_json(problem, *one.schedule); }, as::described_by(groups_schema));
  io.written(
      "channels", [&] { return channels_json(problem, *one.schedule); }, as::described_by(channels_schema));
  io.written("checker", one.verdict, as::part_in(problem));
}

template <class Io>
void visit(Io& io, const as::InContext<Divergence, DifferenceAnswer>& in) {
  const Divergence& d = in.part;
  const as::OrNull<as::NameIn> name{{in.context.problem}};
  io.written("sentence", d.sentence), io.written("at", d.at, as::any_integer);
  io.written("group", d.group.valid() ? std::optional(group_name(*in.context.a.schedule, d.group)) : std::nullopt);
  io.written("after", d.after, name), io.written("a_next", d.a_next, name), io.written("b_next", d.b_next, name);
  io.written("ring", d.channel, name), io.written("ops", d.ops, as::list(as::NameIn{in.context.problem}));
}

namespace {

template <class Io>
void visit(Io& io, const DifferenceAnswer& of) {
  io.written("same_program", of.difference.same_program()), io.written("same_times", of.difference.same_times());
  io.written("relation", [&] { return relation(of.difference, *of.a.schedule, *of.b.schedule); });
  io.written("first_divergence", of.difference.first, as::part_in(of)), io.written("align", alignment_word(of.problem, of.alignment));
  io.written("shift", of.difference.shift, as::any_integer), io.written("a", of.a, as::part_in(of.problem));
  io.written("b", of.b, as::part_in(of.problem));
  io.written("group_matches", match_lines(of.difference), "of each group of B that of A");
  io.written("ops", [&] { return op_pair_lines(of); });
  visit_problem(io, of.problem);
}

}  // namespace

Json difference_json(const Problem& problem, const ComparedSchedule& a, const ComparedSchedule& b, const Difference& difference,
                     const Alignment& alignment) {
  return as::part.write(DifferenceAnswer{problem, a, b, difference, alignment});
}

Json difference_schema() { return nameless_schema<DifferenceAnswer>("heddle.diff/1", "What heddle diff answers"); }

}  // namespace heddle
