// The background solve job: events in order, cancel, failure, wake-ups, and leaving while it runs.
#include "app/jobs/solve_job.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <stdexcept>

#include "tests/support/wait.h"

using namespace heddle;
using namespace heddle::app;
using namespace std::chrono_literals;

namespace {

SolveOutcome finished(Cycle bound) {
  SolveOutcome outcome;
  outcome.status = Status::Unknown;
  outcome.lower_bound = bound;
  return outcome;
}

/// Works until it is told to stop.
SolveOutcome patient(const solver::SolveRequest&, std::stop_token stop, const solver::SolveListener& listener) {
  for (int i = 0; !stop.stop_requested(); ++i) {
    listener(solver::Progress{"searching", 5, i, 0, 0});
    std::this_thread::sleep_for(1ms);
  }
  SolveOutcome outcome = finished(3);
  outcome.cancelled = true;
  return outcome;
}

std::vector<JobEvent> run_to_end(SolveJob& job) {
  std::vector<JobEvent> all;
  while (true) {
    const bool done = job.wait(20ms);
    for (JobEvent& event : job.drain()) all.push_back(std::move(event));
    if (done) return all;
  }
}

}  // namespace

TEST_CASE("a solve job hands over its events in order and the outcome last", "[app]") {
  std::atomic<int> wakes = 0;
  const auto job = start_solve(
      [](const solver::SolveRequest& request, std::stop_token, const solver::SolveListener& listener) {
        listener(solver::Started{1, 2, 3, "why"});
        for (Cycle bound = 1; bound <= 100; ++bound) listener(solver::BoundRaised{bound, ""});
        return finished(static_cast<Cycle>(request.seed));
      },
      [] {
        solver::SolveRequest r;
        r.seed = 7;
        return r;
      }(),
      [&] { ++wakes; });
  const auto events = run_to_end(*job);
  REQUIRE(events.size() == 102);
  CHECK(std::holds_alternative<solver::Started>(std::get<solver::SolveEvent>(events.front())));
  for (std::size_t i = 1; i <= 100; ++i)
    CHECK(std::get<solver::BoundRaised>(std::get<solver::SolveEvent>(events[i])).lower_bound == static_cast<Cycle>(i));
  CHECK(std::get<SolveOutcome>(events.back()).lower_bound == 7);
  CHECK(job->state() == WorkState::Finished);
}

TEST_CASE("cancelling a solve job stops it, at any moment", "[app]") {
  for (const auto delay : {0ms, 1ms, 5ms, 20ms}) {
    const auto job = start_solve(patient, {}, {});
    std::this_thread::sleep_for(delay);
    CHECK(job->state() == WorkState::Running);
    job->cancel();
    job->cancel();
    CHECK(job->state() != WorkState::Running);
    const auto events = run_to_end(*job);
    REQUIRE(!events.empty());
    CHECK(std::get<SolveOutcome>(events.back()).cancelled);
    CHECK(job->state() == WorkState::Finished);
  }
}

TEST_CASE("an exception in the worker becomes a failure and does not end the program", "[app]") {
  const auto job = start_solve([](const solver::SolveRequest&, std::stop_token,
                                  const solver::SolveListener&) -> SolveOutcome { throw std::runtime_error("out of luck"); },
                               {}, {});
  const auto events = run_to_end(*job);
  REQUIRE(events.size() == 1);
  CHECK(std::get<JobFailure>(events[0]).message == "out of luck");
}

TEST_CASE("destroying a running solve job stops and joins it", "[app]") {
  std::atomic<int> wakes = 0;
  {
    const auto job = start_solve(patient, {}, [&] { ++wakes; });
  }
  const int after = wakes;
  std::this_thread::sleep_for(5ms);
  CHECK(wakes == after);
}

TEST_CASE("the wake-up happens at least once per batch of events", "[app]") {
  std::atomic<int> wakes = 0;
  {
    const auto job = start_solve(patient, {}, [&] { ++wakes; });
    std::this_thread::sleep_for(5ms);
    job->cancel();
    CHECK(job->wait(test::kPatience));
  }  // joined: the worker tells who waits first, and wakes the window after that
  CHECK(wakes >= 1);
}
