#include "core/answers/pareto.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/analysis/channels.h"
#include "core/analysis/registers.h"
#include "core/answers/answer_members.h"
#include "core/answers/summary.h"
#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/saturate.h"
#include "core/base/text_style.h"
#include "core/base/words.h"
#include "core/check/checker.h"
#include "core/formats/constraints_json.h"
#include "core/formats/schedule_json.h"
#include "core/formats/schema.h"
#include "core/simulate/forecast.h"

namespace heddle {

namespace {

int width_of(const Op& op) { return op.aligned ? (op.warps + 3) / 4 * 4 : op.warps; }

/// One slot of every ring that is always there.
std::int64_t one_slot_each(const Problem& problem, Space space) {
  std::int64_t total = space == Space::Tmem ? problem.resident_columns : problem.resident_smem;
  for (const Channel& c : problem.channels)
    if (c.space == space && !c.only_if_crossing) total += c.size;
  return total;
}

/// As good in everything, and not the same.
bool beats(const ParetoStep& a, const ParetoStep& b) {
  return a.schedule->ii <= b.schedule->ii && within(a.values, b.values) && (a.schedule->ii < b.schedule->ii || a.values != b.values);
}

}  // namespace

bool within(const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& caps) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] > caps[i]) return false;
  return true;
}

const char* to_string(Resource resource) {
  switch (resource) {
    case Resource::Warps: return "warps";
    case Resource::Registers: return "registers";
    case Resource::Smem: return "smem";
    case Resource::Stages: return "stages";
    case Resource::Tmem: return "tmem";
  }
  return "";
}

std::string amount_text(std::int64_t amount, Resource resource) {
  const char* plural = amount == 1 ? "" : "s";
  switch (resource) {
    case Resource::Warps: return fmt::format("{} warp{}", amount, plural);
    case Resource::Registers: return fmt::format("{} register{} per thread", amount, plural);
    case Resource::Smem: return fmt::format("{} byte{} of shared memory", amount, plural);
    case Resource::Stages: return fmt::format("{} stage{}", amount, plural);
    case Resource::Tmem: return fmt::format("{} column{} of tensor memory", amount, plural);
  }
  return "";
}

std::int64_t resource_value(const Problem& problem, const Schedule& schedule, Resource resource) {
  switch (resource) {
    case Resource::Stages: return stage_count(schedule);
    case Resource::Smem: return allocated(problem, schedule, Space::Smem);
    case Resource::Tmem: return rounded_columns(allocated(problem, schedule, Space::Tmem));
    case Resource::Warps:
    case Resource::Registers: break;
  }
  std::int64_t warps = 0, registers = 0;
  const std::vector<RegisterUse> use = register_use(problem, schedule);
  for (std::size_t g = 0; g < schedule.groups.size(); ++g) {
    if (schedule.groups[g].warps == 0) continue;
    warps += schedule.groups[g].warps;
    registers = std::max(registers, register_budget(problem.limits, use[g].peak));
  }
  return resource == Resource::Warps ? warps : registers;
}

std::int64_t least_possible(const Problem& problem, Resource resource) {
  switch (resource) {
    case Resource::Stages: return 1;
    case Resource::Smem: return one_slot_each(problem, Space::Smem);
    case Resource::Tmem: return rounded_columns(one_slot_each(problem, Space::Tmem));
    case Resource::Warps: {
      int producer = 0, consumer = 0;
      for (const Op& op : problem.ops)
        (op.variable_latency ? producer : consumer) = std::max(op.variable_latency ? producer : consumer, width_of(op));
      return producer + consumer;
    }
    case Resource::Registers: {
      std::vector<std::int64_t> defined(problem.ops.size(), 0);
      for (const Value& v : problem.values) defined[v.producer.index()] += v.registers;
      const std::int64_t most = defined.empty() ? 0 : *std::max_element(defined.begin(), defined.end());
      return most > 0 ? register_budget(problem.limits, most + problem.resident_registers + problem.limits.register_overhead) : 0;
    }
  }
  return 0;
}

std::int64_t next_below(const Problem& problem, std::int64_t amount, Resource resource) {
  constexpr std::int64_t kFewestColumns = 32;
  if (amount <= 0) return -1;
  if (resource == Resource::Registers)
    return std::max<std::int64_t>(0, amount - std::max<std::int64_t>(1, problem.limits.register_granule));
  if (resource == Resource::Tmem) return amount > kFewestColumns ? amount / 2 : 0;
  return amount - 1;
}

void say_periods(const Problem& problem, Pareto& front) {
  for (ParetoStep& step : front.steps)
    if (step.schedule) step.contended_period = deciding_period(problem, *step.schedule);
}

Cycle ii_limit(const Pareto& front) {
  if (front.steps.empty() || !front.steps[0].schedule) return 0;
  return sat_mul(front.steps[0].schedule->ii, front.max_ii_factor);
}

bool settled(const Pareto& front, const ParetoStep& step) {
  if (step.status == Status::Optimal || step.status == Status::Infeasible) return true;
  return ii_limit(front) > 0 && step.lower_bound > ii_limit(front);
}

std::vector<std::size_t> front_points(const Pareto& front) {
  const std::vector<ParetoStep>& steps = front.steps;
  std::vector<std::size_t> points;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].schedule) continue;
    bool on_front = true;
    for (std::size_t j = 0; j < steps.size() && on_front; ++j) {
      if (i == j || !steps[j].schedule) continue;
      const bool same = steps[i].schedule->ii == steps[j].schedule->ii && steps[i].values == steps[j].values;
      on_front = !beats(steps[j], steps[i]) && !(same && j < i);
    }
    if (on_front) points.push_back(i);
  }
  std::sort(points.begin(), points.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(steps[a].schedule->ii, steps[a].values) < std::pair(steps[b].schedule->ii, steps[b].values);
  });
  return points;
}

namespace {

constexpr Resource kAll[] = {Resource::Warps, Resource::Registers, Resource::Smem, Resource::Tmem, Resource::Stages};

bool is_against(const Pareto& front, Resource resource) {
  return std::find(front.against.begin(), front.against.end(), resource) != front.against.end();
}

std::string amounts(const Pareto& front, const std::vector<std::int64_t>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != kNoCap) text += (text.empty() ? "" : " and ") + amount_text(values[i], front.against[i]);
  return text;
}

const char* proved(const Pareto& front) { return front.from_file ? "the file says proved" : "proved"; }

std::string standing(const Pareto& front, const ParetoStep& step) {
  if (step.status == Status::Optimal) return proved(front);
  if (step.schedule->ii == step.lower_bound) return "II proved, least resources not";
  return fmt::format("not proved, II at least {}", step.lower_bound);
}

/// What the steps without a point say.
std::string endings(const Pareto& front) {
  std::string text;
  for (const ParetoStep& step : front.steps) {
    if (std::find(step.caps.begin(), step.caps.end(), 0) != step.caps.end()) continue;  // a cap of 0 leaves nothing below it
    const std::string caps = amounts(front, step.caps);
    const std::string within = caps.empty() ? "without caps" : "at most " + caps;
    if (step.status == Status::Infeasible)
      text += fmt::format("  {}: impossible, {}: {}\n", within, proved(front), printable(step.explanation));
    else if (!step.schedule && settled(front, step))
      text +=
          fmt::format("  {}: II above {}, beyond {} times the least; not gone into\n", within, step.lower_bound - 1, front.max_ii_factor);
    else if (!step.schedule)
      text += fmt::format("  {}: nothing found in time, II at least {}\n", within, step.lower_bound);
  }
  return text;
}

/// The same against the period.
std::string period_front_text(const Pareto& front) {
  if (front.by_period.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const PeriodPoint& point : front.by_period)
    rows.push_back({fmt::format("{:.1f}", point.period.cycles()), std::to_string(point.amount), standing_text(point.period.proof),
                    std::to_string(point.schedule.ii), printable(point.period.from)});
  const char* name = to_string(front.against.front());
  return fmt::format("\nthe least period against {}, where warp groups take time from each other\n", name) +
         text_table({{"period", true}, {name, true}, {"among programs within that"}, {"II", true}, {"the order of"}}, rows) +
         (front.by_period_cut ? "  the time was over before less was tried\n" : "  no order is known that takes less\n");
}

}  // namespace

std::string pareto_headline(const Pareto& front) {
  std::string names;
  for (const Resource r : front.against) names += (names.empty() ? "" : " and ") + std::string(to_string(r));
  const std::vector<std::size_t> points = front_points(front);
  const auto open = std::count_if(points.begin(), points.end(), [&](std::size_t i) { return front.steps[i].status != Status::Optimal; });
  std::string state = front.from_file ? "complete; the file says proved" : "complete and proved";
  if (!front.complete) state = front.cancelled ? "interrupted" : front.timed_out ? "time is up" : "partial";
  if (open > 0) state += fmt::format(", {} not proved", open);
  if (front.complete && points.empty()) state = std::string("no schedule exists, ") + proved(front);
  return fmt::format("front of II against {}: {}, {}", names, count_of(points.size(), "point"), state);
}

std::string point_sentence(const Pareto& front, const ParetoStep& step) {
  return fmt::format("II {} with {}, {}", step.schedule->ii, amounts(front, step.values), standing(front, step));
}

std::string staircase(const Pareto& front, const TextStyle& style) {
  const std::vector<std::size_t> points = front_points(front);
  if (front.against.size() != 1 || points.size() < 2) return {};
  const auto amount = [&](std::size_t p) { return front.steps[points[p]].values[0]; };
  const auto ii = [&](std::size_t p) { return front.steps[points[p]].schedule->ii; };
  const std::size_t last = points.size() - 1;  // the greatest II, the least of the resource
  const int width = std::clamp(style.width - 16, 24, 64), height = 10;
  const auto column = [&](std::int64_t value) {
    return static_cast<std::size_t>((value - amount(last)) * (width - 1) / std::max<std::int64_t>(1, amount(0) - amount(last)));
  };
  const auto row = [&](Cycle value) {
    return static_cast<std::size_t>((ii(last) - value) * (height - 1) / std::max<Cycle>(1, ii(last) - ii(0)));
  };
  const char* glyphs[] = {" ", style.utf8 ? "─" : "-", style.utf8 ? "│" : "|", style.utf8 ? "●" : "o", style.utf8 ? "○" : "?"};
  std::vector<std::vector<int>> grid(static_cast<std::size_t>(height), std::vector<int>(static_cast<std::size_t>(width) + 2, 0));
  for (std::size_t p = 0; p <= last; ++p) {
    const std::size_t from = column(amount(p)), to = p == 0 ? grid[0].size() - 1 : column(amount(p - 1));
    for (std::size_t c = from; c <= to; ++c) grid[row(ii(p))][c] = 1;
    if (p > 0)
      for (std::size_t r = row(ii(p)) + 1; r < row(ii(p - 1)); ++r) grid[r][to] = 2;
  }
  for (std::size_t p = 0; p <= last; ++p) grid[row(ii(p))][column(amount(p))] = front.steps[points[p]].status == Status::Optimal ? 3 : 4;
  std::string text;
  for (std::size_t r = 0; r < grid.size(); ++r) {
    std::string label = r == 0 ? "II" : "";
    for (std::size_t p = 0; p <= last; ++p)
      if (row(ii(p)) == r) label = std::to_string(ii(p));
    text += fmt::format("  {:>10} {}", label, glyphs[2]);
    std::string line;
    for (const int cell : grid[r]) line += glyphs[cell];
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::string low = std::to_string(amount(last)), high = std::to_string(amount(0));
  const int gap = std::max(1, width - static_cast<int>(low.size()) - static_cast<int>(high.size()));
  text += fmt::format("  {:>10}  {}{:{}}{}\n", "", low, "", gap, amount_text(amount(0), front.against[0]));
  return text;
}

std::string pareto_summary(const Problem& problem, const Pareto& front, const TextStyle& style) {
  std::string text = fmt::format("{}\n{}\n", problem_title(problem), pareto_headline(front));
  if (!front.layouts_open.empty())
    text += wrapped(
        fmt::format("over all schedules and {}; every point has {}", styled(front.layouts_open, style), styled(front.layouts, style)), "",
        style.width);
  const std::vector<std::size_t> points = front_points(front);
  if (!points.empty()) {
    std::vector<TextColumn> columns{{"II", true}};
    for (const Resource r : front.against) columns.push_back({to_string(r), true});
    columns.push_back({"proof"});
    const bool periods =
        std::any_of(points.begin(), points.end(), [&](std::size_t i) { return front.steps[i].contended_period.has_value(); });
    if (periods) columns.push_back({"period", true});
    for (const Resource r : kAll)
      if (!is_against(front, r)) columns.push_back({to_string(r), true});
    std::vector<std::vector<std::string>> rows;
    for (const std::size_t i : points) {
      const ParetoStep& step = front.steps[i];
      std::vector<std::string> cells{std::to_string(step.schedule->ii)};
      for (const std::int64_t value : step.values) cells.push_back(std::to_string(value));
      cells.push_back(standing(front, step));
      if (periods) cells.push_back(step.contended_period ? fmt::format("{:.1f}", *step.contended_period) : "-");
      for (const Resource r : kAll)
        if (!is_against(front, r)) cells.push_back(std::to_string(resource_value(problem, *step.schedule, r)));
      rows.push_back(std::move(cells));
    }
    text += "\n" + text_table(columns, rows);
    text += "  right of the proof: what the schedule of that point takes besides; not part of the front\n";
    if (periods) text += "  period: predicted of that schedule's order, where warp groups take time from each other\n";
  }
  text += period_front_text(front);
  if (const std::string ends = endings(front); !ends.empty()) text += "\nwhere it ends\n" + ends;
  if (const std::string picture = staircase(front, style); !picture.empty()) text += "\n" + picture;
  return text;
}

namespace {

constexpr const char* kParetoSchema = "heddle.pareto/1";
constexpr std::int64_t kLargestFactor = 1'000'000;

/// The demands in force, whatever they are called.
std::vector<std::string> sentences_of(const Constraints& constraints) {
  std::vector<std::string> sentences;
  for (const UserConstraint& c : constraints)
    if (c.enabled) sentences.push_back(describe(c));
  std::sort(sentences.begin(), sentences.end());
  return sentences;
}

/// A file may leave out what is here always() there: whoever goes on from it needs none of that.
struct ParetoDocument {
  const Problem& problem = blank<Problem>;
  const Constraints& constraints = blank<Constraints>;
  const Pareto& front = blank<Pareto>;
};

struct ParetoPoint {
  std::size_t step = 0;
};

std::vector<ParetoPoint> points_of(const Pareto& front) {
  std::vector<ParetoPoint> points;
  for (const std::size_t step : front_points(front)) points.push_back({step});
  return points;
}

/// {"warps": 8}
struct Amounts {
  const std::vector<Resource>& against;
  Json write(const std::vector<std::int64_t>& amounts) const {
    Json object = Json::object();
    for (std::size_t i = 0; i < amounts.size(); ++i)
      if (amounts[i] != kNoCap) object.set(to_string(against[i]), amounts[i]);
    return object;
  }
  Json schema(const std::vector<std::int64_t>&, Json& definitions) const {
    schema::Object amounts(definitions);
    amounts.called("amounts");
    for (const Resource r : kAll) amounts.optional(to_string(r), schema::integer(0, kLargestNumber));
    return amounts.finish();
  }
};

void read_caps(const Cursor& at, const std::vector<Resource>& against, ParetoStep& step) {
  step.caps.assign(against.size(), kNoCap);
  ObjectReader object(at);
  for (std::size_t i = 0; i < against.size(); ++i)
    if (const auto cap = object.find(to_string(against[i]))) step.caps[i] = cap->integer(0, kLargestNumber).value_or(kNoCap);
}

void read_schedule_of(const Cursor& at, const Problem& problem, const Constraints& constraints, const Pareto& front, ParetoStep& step) {
  const Result<Schedule> schedule = parse_schedule(at.json().line(), at.log().file, problem);
  if (!schedule) {
    for (const Fault& fault : schedule.error().faults) at.log().fault(at.pointer() + fault.pointer, fault.message, fault.hint);
    return;
  }
  if (const Verdict verdict = check(problem, *schedule, constraints); !verdict.valid()) {
    at.fault("the checker rejects this schedule: " + verdict.violations.front().message);
    return;
  }
  step.schedule = *schedule;
  for (std::size_t i = 0; i < front.against.size(); ++i) {
    step.values.push_back(resource_value(problem, *schedule, front.against[i]));
    if (step.values.back() > step.caps[i])
      at.fault(fmt::format("takes {}, more than the {} of its step", amount_text(step.values.back(), front.against[i]), step.caps[i]));
  }
  if (step.status == Status::Optimal && schedule->ii > step.lower_bound)
    at.fault(fmt::format("II {} is above the lower bound {} of its step, which cannot be optimal then", schedule->ii, step.lower_bound));
  if (schedule->ii < step.lower_bound)
    at.fault(fmt::format("II {} is below the lower bound {} of its step", schedule->ii, step.lower_bound));
}

void read_step(const Cursor& at, const Problem& problem, const Constraints& constraints, const Pareto& front, ParetoStep& step) {
  ObjectReader object(at);
  step.caps.assign(front.against.size(), kNoCap);
  if (const auto caps = object.require("caps")) read_caps(*caps, front.against, step);
  if (const auto status = object.require("status"))
    step.status =
        status->word("status", words_up_to(Status::Unknown), [](std::string_view word) { return parse_word(word, Status::Unknown); })
            .value_or(Status::Unknown);
  step.lower_bound = object.integer("lower_bound", 0, kLargestNumber);
  step.explanation = object.string("explanation");
  for (const char* derived : {"ii", "values"}) object.find(derived);
  const auto schedule = object.find("schedule");
  const bool has_schedule = schedule && !schedule->json().is_null();
  if (has_schedule) read_schedule_of(*schedule, problem, constraints, front, step);
  const bool needs = step.status == Status::Optimal || step.status == Status::Feasible;
  if (needs != has_schedule) at.fault(fmt::format("a step that is {} {} a schedule", to_string(step.status), needs ? "needs" : "has no"));
}

/// A schedule refutes every step that keeps its caps and claims more.
void check_claims(const Cursor& at, const Pareto& front) {
  for (std::size_t i = 0; i < front.steps.size(); ++i)
    for (const ParetoStep& other : front.steps) {
      const ParetoStep& step = front.steps[i];
      if (!other.schedule || !within(other.values, step.caps)) continue;
      if (step.status != Status::Infeasible && other.schedule->ii >= step.lower_bound) continue;
      at.fault(
          fmt::format("step {} says that there is no schedule as good as the one at II {} that another step has", i, other.schedule->ii));
      return;
    }
}

void read_front(ObjectReader& root, const Problem& problem, const Constraints& constraints, Pareto& front) {
  root.label("kernel");
  root.label("machine");
  for (const char* derived : {"params", "points", "by_period", "by_period_cut", "from_file", "complete", "cancelled", "timed_out",
                              "queries", "seconds", "solver", "seed", "fault", "layouts_open"})
    root.find(derived);
  if (const auto hash = root.require("problem_hash")) {
    const auto text = hash->string();
    if (text && *text != problem_hash(problem)) {
      hash->fault("the front is one of another problem: other ops, costs, limits or parameters",
                  "give the kernel, machine and parameters it was begun with, or begin a new file");
      root.abandon();
      return;
    }
  }
  std::vector<std::string> demands;
  for (const Cursor& item : root.list("constraints")) demands.push_back(item.string().value_or(""));
  if (demands != sentences_of(constraints)) {
    root.cursor().fault("the front was begun under other constraints", "give those it was begun with, or begin a new file");
    root.abandon();
    return;
  }
  for (const Cursor& item : root.required_list("against")) {
    const auto resource =
        item.word("resource", words_up_to(Resource::Tmem), [](std::string_view word) { return parse_word(word, Resource::Tmem); });
    if (!resource) continue;
    if (!front.against.empty() && front.against.back() >= *resource)
      item.fault("resources stand in the order warps, registers, smem, stages, tmem, each once");
    front.against.push_back(*resource);
  }
  if (const auto list = root.find("against"); list && front.against.empty()) {
    list->fault("a front is against at least one resource");
    root.abandon();
    return;
  }
  front.max_ii_factor = static_cast<int>(root.integer("max_ii_factor", 1, kLargestFactor, front.max_ii_factor));
  for (const Cursor& item : root.required_list("steps")) {
    ParetoStep step;
    read_step(item, problem, constraints, front, step);
    if (front.steps.empty() && std::any_of(step.caps.begin(), step.caps.end(), [](std::int64_t cap) { return cap != kNoCap; }))
      item.fault("the first step has no caps");
    front.steps.push_back(std::move(step));
  }
  if (root.cursor().log().faults.empty()) check_claims(root.cursor(), front);
}

template <class Io>
void visit(Io& io, const as::InContext<ParetoPoint, Pareto>& in) {
  const auto step = [&]() -> const ParetoStep& { return in.context.steps[in.part.step]; };
  io.written(
      "ii", [&] { return step().schedule->ii; }, as::integer(1, kLargestNumber));
  io.written(
      "values", [&] { return step().values; }, Amounts{in.context.against});
  io.written("proved", [&] { return step().status == Status::Optimal; });
  io.always("lower_bound", [&] { return step().lower_bound; });
  io.written("step", in.part.step);
  const bool known = in.part.step < in.context.steps.size() && in.context.steps[in.part.step].contended_period;
  io.written_if(
      known, "contended_period", [&] { return known ? step().contended_period : std::nullopt; },
      "predicted of this order, where warp groups take time from each other");
}

}  // namespace

template <class Io>
void visit(Io& io, const as::InContext<PeriodPoint, Pareto>& in) {
  io.written("amount", in.part.amount, "of the resource, that its schedule takes");
  io.written("period", in.part.period, "among programs that take no more"), io.written("ii", in.part.schedule.ii);
}

template <class Io>
void visit(Io& io, const as::InContext<ParetoStep, ParetoDocument>& in) {
  const ParetoStep& step = in.part;
  const Amounts amounts{in.context.front.against};
  io.written("caps", step.caps, amounts);
  io.written("status", step.status, as::word("status", Status::Unknown));
  io.written_if(true, "ii", ii_of(step.schedule));
  io.written("lower_bound", step.lower_bound, as::count, "proved, on II under the caps");
  io.always("explanation", step.explanation), io.always("values", step.values, amounts);
  // The text of a schedule file is what its reader reads, here too.
  io.always(
      "schedule", [&] { return step.schedule ? *parse_json(schedule_text(in.context.problem, *step.schedule), {}) : Json(); },
      as::or_null(as::described_by(schedule_schema)));
}

namespace {

template <class Io>
void visit(Io& io, const ParetoDocument& of) {
  const Pareto& front = of.front;
  io.written("kernel", of.problem.kernel), io.written("machine", of.problem.machine), io.always("params", of.problem.params);
  io.written(
      "problem_hash", [&] { return problem_hash(of.problem); },
      "the problem that the front belongs to; a search goes on only from its own");
  io.optional("layouts_open", front.layouts_open, "the front is that of all schedules and all of these");
  io.always("constraints", sentences_of(of.constraints), "the demands in force, as sentences, sorted");
  io.written("against", front.against, as::list(as::word("resource", Resource::Tmem), 1, std::size(kAll), true), "in this order");
  io.always("max_ii_factor", front.max_ii_factor, as::integer(1, kLargestFactor),
            "multiples of the least II beyond which nothing is sought");
  io.always("from_file", front.from_file, "some steps were read from a file: what they say was proved is its word");
  io.always("complete", front.complete, "every step was settled and proved");
  io.always("cancelled", front.cancelled), io.always("timed_out", front.timed_out), io.always("fault", front.fault);
  io.always("points", points_of(front), as::list(as::part_in(front)), "redundant: the front that the steps make, by II");
  io.written_if(!front.by_period.empty(), "by_period", front.by_period, as::list(as::part_in(front)),
                "the least period against the resource, the shortest first");
  io.written_if(!front.by_period.empty(), "by_period_cut", front.by_period_cut, "the time was over before less was tried");
  io.written("steps", front.steps, as::list(as::part_in(of)),
             "least II under caps, then the least of each resource; the first step has no caps");
  io.always("queries", front.queries), io.always("seconds", front.seconds, as::real), io.always("solver", front.solver);
  io.always("seed", front.seed, as::seed);
}

}  // namespace

Json pareto_schema() { return document_schema<ParetoDocument>(kParetoSchema, "Heddle front of II against resources"); }

Json pareto_json(const Problem& problem, const Constraints& constraints, const Pareto& front) {
  return document_json(kParetoSchema, ParetoDocument{problem, constraints, front});
}

Result<Pareto> parse_pareto(std::string_view text, const std::string& file_name, const Problem& problem, const Constraints& constraints,
                            std::vector<Fault>* warnings) {
  return read_document<Pareto>(text, file_name, kParetoSchema, warnings,
                               [&](ObjectReader& root, Pareto& front) { read_front(root, problem, constraints, front); });
}

Result<Pareto> read_pareto(const std::string& path, const Problem& problem, const Constraints& constraints, std::vector<Fault>* warnings) {
  const Result<std::string> text = read_file(path);
  return text ? parse_pareto(*text, path, problem, constraints, warnings) : text.error();
}

}  // namespace heddle
