#include "app/jobs/solve_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/jobs/answer_digest.h"
#include "core/analysis/bounds.h"
#include "core/base/json_reader.h"
#include "core/base/version.h"
#include "core/base/words.h"
#include "core/check/checker.h"
#include "core/check/claim.h"
#include "core/formats/schedule_json.h"
#include "core/problem/problem.h"
#include "core/schedule/question.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/questions/fastest.h"
#endif

namespace heddle::app {
namespace {

constexpr const char* kAnswerSchema = "heddle.answer/1";

/// Nothing in it depends on how fast the machine was.
bool is_settled(const solver::SolveRequest& request, const SolveOutcome& outcome) {
  if (outcome.cancelled || outcome.timed_out || outcome.cut_off) return false;
  if (outcome.status == Status::Infeasible) return !outcome.schedule;
  if (!outcome.schedule || outcome.objectives.size() != request.objectives.size() + 1) return false;
  // Whoever fixes II asks for no proof that it is the least.
  const auto first = outcome.objectives.begin() + (request.ii ? 1 : 0);
  const bool proved = std::all_of(first, outcome.objectives.end(), [](const ObjectiveValue& o) { return o.proved; });
  return proved && (outcome.status == Status::Optimal || (request.ii && outcome.status == Status::Feasible));
}

/// What names the question, whatever its caller knows.
std::string question_text(const char* kept, const solver::SolveRequest& r, const std::string& solver_name) {
  // The first line is what `heddle store list` shows.
  std::string key =
      fmt::format("solve {} on {}{}\nheddle {} answer {} solver {}\nii {} seed {} stages {} explain {} objectives", r.problem.kernel,
                  r.problem.machine, kept, version(), answer_digest(), solver_name, r.ii.value_or(0), r.seed, r.max_stages, r.explain);
  for (const solver::Objective objective : r.objectives) key += fmt::format(" {}", static_cast<int>(objective));
  return key + demands_text(r.constraints) + problem_text(r.problem);
}

/// One fixed II is decided or not: there is nothing to go on from. Robust orders and cutoffs are other searches.
bool can_go_on(const solver::SolveRequest& r) { return !r.ii && !r.cutoff && !r.uncertain; }
std::string so_far_key(const solver::SolveRequest& r, const std::string& solver_name) {
  return question_text(", as far as it came", r, solver_name);
}

std::string answer_text(const Problem& problem, const SolveOutcome& o) {
  Json root = Json::object();
  root.set("schema", kAnswerSchema).set("status", to_string(o.status)).set("lower_bound", o.lower_bound);
  if (o.bound_stages) root.set("bound_stages", *o.bound_stages);
  root.set("res_mii", o.res_mii).set("rec_mii", o.rec_mii).set("issue_mii", o.issue_mii);
  root.set("reason", to_string(o.reason)).set("explanation", o.explanation).set("objectives", objectives_json(o.objectives));
  root.set("encode", o.seconds.encode).set("first", o.seconds.first).set("proof", o.seconds.proof).set("total", o.seconds.total);
  root.set("solver", o.solver).set("seed", o.seed).set("queries", o.queries).set("conflicts", o.conflicts);
  if (o.schedule) root.set("schedule", schedule_json(problem, *o.schedule));
  if (const auto& f = o.fastest)
    root.set("fastest", Json::object()
                            .set("orders", f->orders)
                            .set("from", f->from)
                            .set("microseconds", f->microseconds)
                            .set("first_microseconds", f->first_microseconds)
                            .set("cycles", f->cycles)
                            .set("period", f->period)
                            .set("tflops", f->tflops)
                            .set("least_ii", f->least_ii)
                            .set("least_proved", f->least_proved));
  return root.line();
}

template <class E>
std::optional<E> word_of(ObjectReader& root, const char* key, E last) {
  const auto at = root.require(key);
  return at ? at->word(key, words_up_to(last), [&](std::string_view word) { return parse_word(word, last); }) : std::nullopt;
}

double real_of(ObjectReader& root, const char* key) {
  const auto at = root.require(key);
  return at ? at->real().value_or(0) : 0;
}

void read_fastest(const Cursor& at, FastestChoice& f) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  ObjectReader object(at);
  f.complete = true;
  f.orders = static_cast<int>(object.integer("orders", 1, 1 << 20, 1));
  f.from = object.string("from");
  f.microseconds = real_of(object, "microseconds");
  f.first_microseconds = real_of(object, "first_microseconds");
  f.cycles = object.integer("cycles", 0, most);
  f.period = real_of(object, "period");
  f.tflops = real_of(object, "tflops");
  f.least_ii = object.integer("least_ii", 0, most);
  f.least_proved = object.boolean("least_proved", false);
}

Result<SolveOutcome> parse_answer(const std::string& text, const Problem& problem) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  return read_document<SolveOutcome>(text, "answer", kAnswerSchema, nullptr, [&](ObjectReader& root, SolveOutcome& o) {
    o.status = word_of(root, "status", Status::Invalid).value_or(Status::Invalid);
    o.reason = word_of(root, "reason", BoundReason::Requested).value_or(BoundReason::None);
    o.lower_bound = root.integer("lower_bound", 0, most);
    if (root.find("bound_stages")) o.bound_stages = static_cast<int>(root.integer("bound_stages", 1, 1 << 20, 1));
    o.res_mii = root.integer("res_mii", 0, most);
    o.rec_mii = root.integer("rec_mii", 0, most);
    o.issue_mii = root.integer("issue_mii", 0, most);
    o.explanation = root.string("explanation");
    o.objectives = read_objectives_from(root);
    o.seconds = {real_of(root, "encode"), real_of(root, "first"), real_of(root, "proof"), real_of(root, "total")};
    o.solver = root.string("solver");
    if (const auto seed = root.require("seed")) o.seed = seed->natural64().value_or(0);
    o.queries = root.integer("queries", 0, most);
    o.conflicts = root.integer("conflicts", 0, most);
    if (const auto at = root.find("schedule")) read_schedule_from(*at, problem, o.schedule.emplace());
    if (const auto at = root.find("fastest")) read_fastest(*at, o.fastest.emplace());
  });
}

}  // namespace

std::string solve_key(const solver::SolveRequest& r, const std::string& solver_name) {
  if (r.known_bound != 0 || r.incumbent || r.cutoff || r.uncertain) return {};
  return question_text("", r, solver_name);
}

namespace {

/// The schedule of an answer that was read becomes one that is proved; false: it does not go with the question.
bool take_over(const solver::SolveRequest& request, SolveOutcome& outcome) {
  Schedule& schedule = *outcome.schedule;
  // The entry is this user's own (app/jobs/content_store.h); what costs nothing is tried against it all the same.
  if (!schedule.claim || why_claim_is_void(request.problem, request.constraints, schedule)) return false;
  schedule.certificate = std::exchange(schedule.claim, std::nullopt);
  const bool optimal = outcome.status == Status::Optimal;
  if (schedule.ii < outcome.lower_bound || (optimal && schedule.ii != outcome.lower_bound)) return false;
  return check(request.problem, schedule, request.constraints).valid();
}

/// What the store has under this key, if it answers the request.
std::optional<SolveOutcome> found_under(const ContentStore& store, const std::string& key, const solver::SolveRequest& request,
                                        const std::string& solver_name) {
  if (key.empty()) return std::nullopt;
  const std::optional<std::string> text = store.find(key);
  if (!text) return std::nullopt;
  Result<SolveOutcome> outcome = parse_answer(*text, request.problem);
  if (!outcome || outcome->solver != solver_name) return std::nullopt;
  if (outcome->schedule && (!take_over(request, *outcome) || (request.ii && outcome->schedule->ii != *request.ii))) return std::nullopt;
  return *std::move(outcome);
}

}  // namespace

std::optional<SolveOutcome> find_answer(const ContentStore& store, const solver::SolveRequest& request, const std::string& solver_name) {
  std::optional<SolveOutcome> outcome =
      found_under(store, store.on() ? solve_key(request, solver_name) : std::string(), request, solver_name);
  return outcome && is_settled(request, *outcome) ? outcome : std::nullopt;
}

bool keep_answer(const ContentStore& store, const solver::SolveRequest& request, const SolveOutcome& outcome) {
  if (!store.on() || !is_settled(request, outcome)) return false;
  const std::string key = solve_key(request, outcome.solver);
  return !key.empty() && store.put(key, answer_text(request.problem, outcome));
}

std::optional<SolveOutcome> find_so_far(const ContentStore& store, const solver::SolveRequest& request, const std::string& solver_name) {
  if (!store.on() || !can_go_on(request)) return std::nullopt;
  std::optional<SolveOutcome> outcome = found_under(store, so_far_key(request, solver_name), request, solver_name);
  if (!outcome || outcome->lower_bound < 1 || (!outcome->schedule && outcome->status != Status::Unknown)) return std::nullopt;
  return outcome;
}

bool keep_so_far(const ContentStore& store, const solver::SolveRequest& request, const SolveOutcome& outcome) {
  constexpr double kLong = 1;  // seconds
  if (!store.on() || !can_go_on(request) || outcome.solver.empty() || outcome.lower_bound < 1) return false;
  const bool found = outcome.status == Status::Optimal || outcome.status == Status::Feasible;
  if (!found && outcome.status != Status::Unknown) return false;
  const bool settled_by_help = outcome.status == Status::Optimal && !outcome.cancelled && !outcome.timed_out;
  if (!settled_by_help && !outcome.timed_out && outcome.seconds.total < kLong) return false;
  SolveOutcome kept = outcome;
  if (kept.serial || !found) {  // one op after the other needs no search
    kept.schedule.reset();
    kept.status = Status::Unknown;
    kept.objectives.clear();
  }
  if (const auto before = find_so_far(store, request, outcome.solver)) {
    const auto ii_of = [](const SolveOutcome& o) { return o.schedule ? o.schedule->ii : kNoFiniteII; };
    const auto proved = [](const SolveOutcome& o) {
      return std::count_if(o.objectives.begin(), o.objectives.end(), [](const ObjectiveValue& v) { return v.proved; });
    };
    if (ii_of(kept) > ii_of(*before) || kept.lower_bound < before->lower_bound) return false;
    if (ii_of(kept) == ii_of(*before) && kept.lower_bound == before->lower_bound && proved(kept) <= proved(*before)) return false;
  }
  return store.put(so_far_key(request, outcome.solver), answer_text(request.problem, kept));
}

std::string so_far_text(const SolveOutcome& so_far) {
  return fmt::format("goes on from an earlier search: {}, no II below {}",
                     so_far.schedule ? fmt::format("II {}", so_far.schedule->ii) : "no schedule yet", so_far.lower_bound);
}

std::optional<SolveOutcome> find_proof(const ContentStore& store, solver::SolveRequest request, const std::string& solver_name) {
  std::optional<SolveOutcome> best;
  for (const bool explain : {true, false}) {
    request.explain = explain;
    if (auto answer = find_answer(store, request, solver_name)) return answer;
    if (auto so_far = find_so_far(store, request, solver_name); so_far && (!best || so_far->lower_bound > best->lower_bound))
      best = std::move(so_far);
  }
  return best;
}

#ifdef HEDDLE_HAS_SOLVER
namespace {

std::string known_text(const SolveOutcome& outcome) {
  return fmt::format("known from an earlier search of {:.3f} s", outcome.seconds.total);
}

void retell(const SolveOutcome& outcome, const solver::SolveListener& listener) {
  if (!listener) return;
  listener(solver::Started{outcome.res_mii, outcome.rec_mii, outcome.issue_mii, outcome.explanation});
  listener(solver::LogLine{known_text(outcome) + "; the checker has judged it again"});
  listener(solver::BoundRaised{outcome.lower_bound, outcome.explanation});
  if (outcome.schedule) listener(solver::Incumbent{*outcome.schedule});
  for (const ObjectiveValue& value : outcome.objectives) listener(solver::ObjectiveSettled{value});
}

}  // namespace

SolveOutcome solve_or_recall(const ContentStore& store, const solver::SolveRequest& request, std::stop_token stop,
                             const solver::SolveListener& listener, Recalled* recalled) {
  if (std::optional<SolveOutcome> answer = find_answer(store, request, solver::solver_version())) {
    if (recalled) *recalled = {true, known_text(*answer)};
    retell(*answer, listener);
    if (request.by_time) choose_or_recall(store, request, *answer, stop, listener);
    return *std::move(answer);
  }
  solver::SolveRequest proof = request;
  proof.by_time.reset();
  if (request.by_time) proof.timeout_seconds = request.timeout_seconds - solver::seconds_for_choice(request);
  if (std::optional<SolveOutcome> so_far = find_so_far(store, request, solver::solver_version()); so_far && request.known_bound == 0) {
    if (recalled) recalled->sentence = so_far_text(*so_far);
    if (listener) listener(solver::LogLine{so_far_text(*so_far)});
    proof.known_bound = so_far->lower_bound;
    proof.known_bound_why = so_far->explanation;
    proof.known_bound_stages = so_far->bound_stages;
    if (so_far->schedule && !(request.incumbent && request.incumbent->ii <= so_far->schedule->ii)) proof.incumbent = so_far->schedule;
  }
  SolveOutcome outcome = solver::solve(proof, stop, listener);
  if (!keep_answer(store, request, outcome)) keep_so_far(store, request, outcome);
  if (request.by_time) choose_or_recall(store, request, outcome, stop, listener);
  return outcome;
}

namespace {

/// What the choice depends on beside the problem.
std::string name_of(const solver::TimeChoice& choice) { return (choice.sources ? choice.sources().inputs : std::string()) + choice.inputs; }

}  // namespace

void choose_or_recall(const ContentStore& store, const solver::SolveRequest& request, SolveOutcome& outcome, const std::stop_token& stop,
                      const solver::SolveListener& listener) {
  const std::string proof = store.on() && is_settled(request, outcome) ? solve_key(request, outcome.solver) : std::string();
  const std::string key = proof.empty() ? proof
                                        : fmt::format("order for {} on {}\nby {}\n{}", request.problem.kernel, request.problem.machine,
                                                      name_of(*request.by_time), proof);
  if (key.empty()) return solver::choose_by_time(request, outcome, stop, listener);
  solver::SolveRequest any = request;  // what is kept is the fastest, whether it can be written or not
  auto choice = std::make_shared<solver::TimeChoice>(*request.by_time);
  choice->can_be_written = {};
  any.by_time = std::move(choice);
  SolveOutcome fastest = outcome;
  if (auto known = found_under(store, key, request, outcome.solver); known && known->fastest) {
    if (listener && known->schedule) listener(solver::Incumbent{*known->schedule});
    fastest = *std::move(known);
  } else {
    solver::choose_by_time(any, fastest, stop, listener);
    if (fastest.fastest && fastest.fastest->complete) store.put(key, answer_text(request.problem, fastest));
  }
  const auto& writable = request.by_time->can_be_written;
  if (!writable || !fastest.fastest || writable(request.problem, *fastest.schedule))
    outcome = std::move(fastest);
  else
    solver::choose_by_time(request, outcome, stop, listener);
}
#endif

}  // namespace heddle::app
