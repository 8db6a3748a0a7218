// Solve and ask functions for tests that must come out the same every time: the real solver's answers, remembered, which
// wait at a gate until the test lets them through. Whatever a job tells, it tells between two frames of the test's choice.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <string>

#include "app/jobs/question.h"
#include "app/jobs/solve_job.h"
#include "app/session/session.h"

namespace heddle::test {

class GatedSolver {
 public:
  /// At most so many real solves and questions; after them solves are "unknown" and questions stay without an answer.
  explicit GatedSolver(int most_calls);

  app::SolveFunction solve();
  app::AskFunction ask();
  /// Lets the solve (or the question) go on by one step: first it shows what it found, then it ends.
  void let_solve() { add(solves_); }
  void let_question() { add(questions_); }
  /// The next step ends with an exception.
  void fail_next();
  /// So long may every real solve and question take from now on: what a busy machine leaves of an answer. At most five seconds.
  void allow(double seconds);
  /// Takes in what was let through; returns when every job waits at its gate or has ended.
  void settle(app::Session& session);

 private:
  struct Gate {
    int tickets = 0, waiting = 0;
  };
  void add(Gate& gate);
  /// False when the job was told to stop.
  bool pass(Gate& gate, std::stop_token stop);
  bool settled(const app::Session& session);
  template <class T, class Work>
  T remembered(std::map<std::string, T>& memory, const std::string& key, Work work);

  std::mutex mutex_;
  std::condition_variable_any changed_;
  Gate solves_, questions_;
  int calls_left_;
  bool fail_ = false;
  double seconds_;
  std::map<std::string, SolveOutcome> outcomes_;
  std::map<std::string, app::AnyAnswer> answers_;
};

}  // namespace heddle::test
