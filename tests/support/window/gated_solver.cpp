// Gates, and the memory of what the real solver answered.
#include "tests/support/window/gated_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>

#include "app/session/question_state.h"
#include "core/formats/schedule_json.h"

namespace heddle::test {

using namespace heddle::app;

namespace {

/// Under a sanitizer everything takes ten times as long; the test must end all the same.
constexpr double kMostSeconds = 5;

std::string key_of(const Problem& problem, const Constraints& constraints) {
  std::string key = problem_hash(problem);
  for (const UserConstraint& c : constraints)
    if (c.enabled) key += fmt::format("|{} {} {} {} {}", static_cast<int>(c.kind), fmt::join(c.ops, ","), c.channel, c.low, c.high);
  return key;
}

std::string key_of(const Question& q) {
  const AskOptions& o = q.options;
  std::string key = fmt::format("{} {} {} {} {} {} {} {} {} {} {}", to_string(q.topic), o.explain.ii.value_or(-1), o.slack.exact,
                                o.latency.op.valid() ? static_cast<int>(o.latency.op.index()) : -1, o.latency.from.value_or(-1),
                                o.latency.to.value_or(-1), o.sensitivity.percent, o.alternatives.count,
                                static_cast<int>(o.alternatives.aspect), o.alternatives.ii_only, o.pareto.against.size());
  for (const Resource r : o.pareto.against) key += fmt::format(" {}", static_cast<int>(r));
  const Problem& problem = q.subject->problem();
  key += key_of(problem, q.subject->constraints);
  return q.subject->schedule ? key + schedule_text(problem, *q.subject->schedule) : key;
}

}  // namespace

GatedSolver::GatedSolver(int most_calls) : calls_left_(most_calls), seconds_(kMostSeconds) {}

void GatedSolver::allow(double seconds) {
  const std::lock_guard lock(mutex_);
  seconds_ = std::min(seconds, kMostSeconds);
}

void GatedSolver::add(Gate& gate) {
  const std::lock_guard lock(mutex_);
  if (gate.waiting > 0 && gate.tickets == 0) ++gate.tickets;
  changed_.notify_all();
}

void GatedSolver::fail_next() {
  const std::lock_guard lock(mutex_);
  fail_ = true;
}

bool GatedSolver::pass(Gate& gate, std::stop_token stop) {
  std::unique_lock lock(mutex_);
  ++gate.waiting;
  const bool may = changed_.wait(lock, stop, [&] { return gate.tickets > 0; }) && !stop.stop_requested();
  --gate.waiting;
  if (!may) return false;
  --gate.tickets;
  if (std::exchange(fail_, false)) throw std::runtime_error("the test said so");
  return true;
}

template <class T, class Work>
T GatedSolver::remembered(std::map<std::string, T>& memory, const std::string& key, Work work) {
  double seconds = 0;
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = memory.find(key); known != memory.end()) return known->second;
    if (calls_left_ <= 0) return {};
    --calls_left_;
    seconds = seconds_;
  }
  T answer = work(seconds);
  const std::lock_guard lock(mutex_);
  return memory[key] = std::move(answer);
}

SolveFunction GatedSolver::solve() {
  return [this](const solver::SolveRequest& request, std::stop_token stop, const solver::SolveListener& listener) {
    SolveOutcome stopped;
    stopped.cancelled = true;
    if (!pass(solves_, stop)) return stopped;
    SolveOutcome outcome = remembered(outcomes_, key_of(request.problem, request.constraints), [&](double seconds) {
      solver::SolveRequest limited = request;
      limited.timeout_seconds = seconds;
      return built_in_solver()(limited, {}, [](const solver::SolveEvent&) {});
    });
    listener(solver::Started{outcome.res_mii, outcome.rec_mii, outcome.issue_mii, outcome.explanation});
    if (outcome.schedule) listener(solver::Incumbent{*outcome.schedule});
    return pass(solves_, stop) ? outcome : stopped;
  };
}

AskFunction GatedSolver::ask() {
  return [this](const Question& question, std::stop_token stop, const AskListener& tell) -> AnyAnswer {
    if (!pass(questions_, stop)) return {};
    std::vector<AnswerSoFar> parts;
    AnyAnswer answer = remembered(answers_, key_of(question), [&](double seconds) {
      Question limited = question;
      limited.options.timeout_seconds = seconds;
      return built_in_answers()(limited, {}, [&](AnswerSoFar part) { parts.push_back(std::move(part)); });
    });
    for (AnswerSoFar& part : parts) tell(std::move(part));
    return pass(questions_, stop) ? answer : AnyAnswer{};
  };
}

bool GatedSolver::settled(const Session& session) {
  const std::lock_guard lock(mutex_);
  const auto at_gate = [](const Gate& gate) { return gate.waiting > 0 && gate.tickets == 0; };
  if (session.live().phase == LiveSolve::Phase::Stopping) return false;
  if (session.live().phase == LiveSolve::Phase::Running && !at_gate(solves_)) return false;
  for (const Topic topic : kTopics) {
    const QuestionState::Phase phase = session.question(topic).phase;
    if (phase == QuestionState::Phase::Stopping) return false;
    if (phase == QuestionState::Phase::Running && !at_gate(questions_)) return false;
  }
  return true;
}

void GatedSolver::settle(Session& session) {
  session.pump();
  while (!settled(session)) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    session.pump();
  }
  session.pump();
}

}  // namespace heddle::test
