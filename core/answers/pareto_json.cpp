// heddle.pareto/1, field by field.
#include "core/answers/pareto_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/atomic_file.h"
#include "core/base/json_reader.h"
#include "core/base/words.h"
#include "core/check/checker.h"
#include "core/formats/constraints_json.h"
#include "core/formats/schedule_json.h"

namespace heddle {
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

Json amounts_json(const std::vector<Resource>& against, const std::vector<std::int64_t>& amounts) {
  Json object = Json::object();
  for (std::size_t i = 0; i < amounts.size(); ++i)
    if (amounts[i] != kNoCap) object.set(to_string(against[i]), amounts[i]);
  return object;
}

Json step_json(const Problem& problem, const Pareto& front, const ParetoStep& step) {
  Json item = Json::object();
  item.set("caps", amounts_json(front.against, step.caps)).set("status", to_string(step.status));
  item.set("ii", step.schedule ? Json(step.schedule->ii) : Json()).set("lower_bound", step.lower_bound);
  item.set("explanation", step.explanation).set("values", amounts_json(front.against, step.values));
  // The text of a schedule file is what its reader reads, here too.
  item.set("schedule", step.schedule ? *parse_json(schedule_text(problem, *step.schedule), {}) : Json());
  return item;
}

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
  if (schedule->ii < step.lower_bound) at.fault(fmt::format("II {} is below the lower bound {} of its step", schedule->ii, step.lower_bound));
}

void read_step(const Cursor& at, const Problem& problem, const Constraints& constraints, const Pareto& front, ParetoStep& step) {
  ObjectReader object(at);
  step.caps.assign(front.against.size(), kNoCap);
  if (const auto caps = object.require("caps")) read_caps(*caps, front.against, step);
  if (const auto status = object.require("status"))
    step.status = status->word("status", words_up_to(Status::Unknown), [](std::string_view word) { return parse_word(word, Status::Unknown); })
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
      at.fault(fmt::format("step {} says that there is no schedule as good as the one at II {} that another step has", i, other.schedule->ii));
      return;
    }
}

void read_front(ObjectReader& root, const Problem& problem, const Constraints& constraints, Pareto& front) {
  root.label("kernel");
  root.label("machine");
  for (const char* derived : {"params", "points", "from_file", "complete", "cancelled", "timed_out", "queries", "seconds", "solver", "seed", "fault"}) root.find(derived);
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
    const auto resource = item.word("resource", words_up_to(Resource::Tmem), [](std::string_view word) { return parse_word(word, Resource::Tmem); });
    if (!resource) continue;
    if (!front.against.empty() && front.against.back() >= *resource) item.fault("resources stand in the order warps, registers, smem, stages, tmem, each once");
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

}  // namespace

Json pareto_json(const Problem& problem, const Constraints& constraints, const Pareto& front) {
  Json root = Json::object();
  root.set("schema", kParetoSchema).set("kernel", problem.kernel).set("machine", problem.machine).set("params", params_json(problem.params));
  root.set("problem_hash", problem_hash(problem));
  Json demands = Json::array();
  for (const std::string& sentence : sentences_of(constraints)) demands.push(sentence);
  root.set("constraints", std::move(demands));
  Json against = Json::array();
  for (const Resource r : front.against) against.push(to_string(r));
  root.set("against", std::move(against)).set("max_ii_factor", front.max_ii_factor).set("from_file", front.from_file).set("complete", front.complete);
  root.set("cancelled", front.cancelled).set("timed_out", front.timed_out).set("fault", front.fault);
  Json points = Json::array();
  for (const std::size_t i : front_points(front)) {
    const ParetoStep& step = front.steps[i];
    Json point = Json::object();
    point.set("ii", step.schedule->ii).set("values", amounts_json(front.against, step.values));
    points.push(point.set("proved", step.status == Status::Optimal).set("lower_bound", step.lower_bound).set("step", i));
  }
  root.set("points", std::move(points));
  Json steps = Json::array();
  for (const ParetoStep& step : front.steps) steps.push(step_json(problem, front, step));
  root.set("steps", std::move(steps)).set("queries", front.queries).set("seconds", front.seconds);
  return root.set("solver", front.solver).set("seed", front.seed);
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
