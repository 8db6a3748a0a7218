#include "solver/paper/search.h"

#include <fmt/format.h>

#include <algorithm>

#include "solver/paper/modulo.h"

namespace heddle::solver::paper {
namespace {

class Stopwatch {
 public:
  explicit Stopwatch(double& total) : total_(total) {}
  ~Stopwatch() { total_ += seconds(); }
  double seconds() const { return seconds_since(begin_); }

 private:
  double& total_;
  Clock::time_point begin_ = Clock::now();
};

class Search {
 public:
  Search(const PaperGraph& graph, const Options& options, const SearchRun& run)
      : graph_(graph), options_(options), seed_(run.seed), limits_(run.limits), listener_(run.listener) {}

  SearchResult one_window(Cycle ii) {
    if (ii == 0) return run(true);
    const PaperModuloSchedule m = modulo(ii);
    if (m.answer == Answer::Unknown) return unknown(fmt::format("the modulo schedule at I = {}", ii));
    if (m.answer == Answer::No) return infeasible(fmt::format("no modulo schedule at I = {}", ii));
    const Answer answer = window(ii, m.length);
    if (answer == Answer::Unknown && result_.ii == 0) return unknown(fmt::format("the joint schedule at I = {}", ii));
    if (answer == Answer::No) return infeasible(fmt::format("refuted at I = {} for every L of the window", ii));
    result_.status = Status::Optimal;
    return std::move(result_);
  }

  SearchResult run(bool only_first) {
    const Cycle serial = serial_cycles(graph_), limit = options_.limit > 0 ? options_.limit : serial;
    Cycle first = 1;
    if (options_.accelerate || only_first) {
      first = arithmetic_min_ii(graph_);
      if (first == 0) return infeasible("a recurrence or a unit fits no I");
    }
    for (Cycle ii = first; ii <= limit; ++ii) {
      const PaperModuloSchedule m = modulo(ii);
      if (m.answer == Answer::Unknown) return unknown(fmt::format("the modulo schedule at I = {}", ii));
      if (m.answer == Answer::No) continue;
      if (result_.modulo_ii == 0) {
        result_.modulo_ii = ii;
        result_.modulo_length = m.length;
      }
      const Answer answer = window(ii, m.length);
      if (answer == Answer::Unknown && result_.ii == ii) {
        result_.status = Status::Feasible;
        result_.why = fmt::format("a shorter L at I = {} was not decided in time", ii);
        return std::move(result_);
      }
      if (answer == Answer::Unknown) return unknown(fmt::format("the joint schedule at I = {}", ii));
      if (answer == Answer::Yes) {
        result_.status = Status::Optimal;
        fewest_groups();
        return std::move(result_);
      }
      if (only_first) return infeasible(fmt::format("refuted at I = {} for every L of the window", ii));
      if (options_.accelerate && !probed_ && ii < serial) {
        probed_ = true;
        if (joint(serial, serial, 0).answer == Answer::No)
          return infeasible(fmt::format("refuted at I = L = {}, where one iteration follows the other, and so at every I", serial));
      }
    }
    if (limit >= serial) return infeasible(fmt::format("refuted at every I up to {}, where nothing overlaps any more", serial));
    result_.why = fmt::format("no schedule up to the limit I = {}; larger I were not tried", limit);
    return std::move(result_);
  }

 private:
  PaperModuloSchedule modulo(Cycle ii) {
    if (listener_) listener_({"modulo schedule", ii, 0});
    const Stopwatch watch(result_.modulo_seconds);
    return optimal_modulo_schedule(graph_, ii, seed_, limits_);
  }

  JointAnswer joint(Cycle ii, Cycle length, int pool) {
    if (listener_) listener_({"joint schedule", ii, length});
    const Stopwatch watch(result_.joint_seconds);
    return swp_and_ws(graph_, options_, {ii, length, pool, {}, seed_}, limits_);
  }

  /// All L >= `length` with as many copies.
  Answer window(Cycle ii, Cycle length) {
    double seconds = 0;
    const Cycle last = copies_of(ii, length) * ii;
    PaperWindow window{ii, length, last, static_cast<int>(copies_of(ii, length)), Status::Unknown, 0};
    Answer answer = Answer::No;
    {
      const Stopwatch watch(seconds);
      answer = options_.accelerate ? bisect(ii, length, last) : walk(ii, length, last);
    }
    window.seconds = seconds;
    window.status = answer == Answer::Yes ? Status::Feasible : answer == Answer::No ? Status::Infeasible : Status::Unknown;
    result_.windows.push_back(window);
    return answer;
  }

  Answer walk(Cycle ii, Cycle length, Cycle last) {
    for (; length <= last; ++length) {
      JointAnswer answer = joint(ii, length, 0);
      if (answer.answer == Answer::Yes) take(ii, length, std::move(answer));
      if (answer.answer != Answer::No) return answer.answer;
    }
    return Answer::No;
  }

  Answer bisect(Cycle ii, Cycle length, Cycle last) {
    JointAnswer answer = joint(ii, last, 0);
    if (answer.answer != Answer::Yes) return answer.answer;
    Cycle low = length, high = last;  // high works
    take(ii, high, std::move(answer));
    while (low < high) {
      const Cycle middle = (low + high) / 2;
      answer = joint(ii, middle, 0);
      if (answer.answer == Answer::Unknown) return Answer::Unknown;
      if (answer.answer == Answer::No) {
        low = middle + 1;
        continue;
      }
      high = middle;
      take(ii, high, std::move(answer));
    }
    return Answer::Yes;
  }

  void take(Cycle ii, Cycle length, JointAnswer answer) {
    result_.ii = ii;
    result_.length = length;
    result_.schedule = std::move(answer.schedule);
  }

  void fewest_groups() {
    if (options_.secondary != Secondary::FewestGroups) return;
    for (int pool = graph_.has_variable_latency ? 2 : 1; pool < graph_.pool; ++pool) {
      JointAnswer answer = joint(result_.ii, result_.length, pool);
      if (answer.answer == Answer::No) continue;
      if (answer.answer == Answer::Yes)
        result_.schedule = std::move(answer.schedule);
      else
        result_.why = "the fewest groups were not decided in time";
      return;
    }
  }

  SearchResult infeasible(std::string why) {
    result_.status = Status::Infeasible;
    result_.why = std::move(why);
    return std::move(result_);
  }

  SearchResult unknown(std::string what) {
    result_.why = limits_.stop.stop_requested()      ? "interrupted"
                  : Clock::now() >= limits_.deadline ? fmt::format("{} was not decided in time", what)
                                                     : fmt::format("{} takes more formulas than are attempted", what);
    return std::move(result_);
  }

  const PaperGraph& graph_;
  const Options& options_;
  std::uint64_t seed_;
  const QueryLimits& limits_;
  const SearchListener& listener_;
  SearchResult result_;
  bool probed_ = false;
};

}  // namespace

SearchResult algorithm1(const PaperGraph& graph, const Options& options, const SearchRun& run) {
  return Search(graph, options, run).run(false);
}

SearchResult one_window(const PaperGraph& graph, const Options& options, Cycle ii, const SearchRun& run) {
  return Search(graph, options, run).one_window(ii);
}

}  // namespace heddle::solver::paper
