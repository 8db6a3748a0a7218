// How well a schedule's order stands what the model does not know: latencies that vary, machine numbers that are wrong, rings as deep
// as they are. The program stays as it is - order, groups, depths - and only its timing moves, as it would on the GPU.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/problem/changes.h"
#include "core/problem/problem.h"
#include "core/schedule/schedule.h"
#include "core/simulate/simulate.h"

namespace heddle {

struct StudyOptions {
  std::vector<int> percents{0, 10, 25, 50, 100};  ///< of jitter
  JitterShape shape = JitterShape::Uniform;
  bool every_op = false;
  Arbitration arbitration = Arbitration::Scheduled;
  std::uint64_t seed = 1;     ///< the first; each run has one of its own
  int runs = 5;               ///< per point of jitter
  std::int64_t trips = 2000;  ///< of a run
  std::stop_token stop{};     ///< asked to stop, points that are not done have the fault kStopped
};

/// Cycles per iteration over the runs of one point.
struct JitterPoint {
  int percent = 0;
  double mean = 0, worst = 0;
  std::string fault;  ///< a deadlock: the same at every point
};

std::vector<JitterPoint> jitter_study(const Problem& problem, const Schedule& schedule, const StudyOptions& options = {});

struct NumberSide {
  std::string fault;  ///< such a number cannot be, or the order deadlocks with it
  bool same = false;  ///< the percentage rounds to nothing, or the loop's timing does not depend on the number
  double period = 0;  ///< cycles per iteration
};

struct NumberRow {
  std::string number;                ///< as --set takes it: "mma.ss.TC.duration"
  std::vector<std::int64_t> values;  ///< at present
  NumberSide less, more;
  double swing = 0;  ///< by how much the period moves at most
};

struct NumberStudy {
  int percent = 10;
  double period = 0;            ///< with the numbers as they are
  std::vector<NumberRow> rows;  ///< greatest swing first
};

/// How numbers are tried.
struct NumberTrial {
  int percent = 10;  ///< less, and more
  /// Resolves the same kernel with one more change; the problem it gives has the same ops, edges and rings.
  std::function<Result<Problem>(const Change&)> problem_at;
  SimulateOptions run{};
};

NumberStudy number_study(const Problem& problem, const Schedule& schedule, const Changes& numbers, const NumberTrial& trial);

struct DepthRow {
  std::string ring;         ///< empty: all rings that loads fill, each so many slots deeper
  int depth = 0, more = 0;  ///< of the ring; than in the schedule
  std::int64_t bytes = 0;   ///< shared memory of the CTA
  bool fits = true;
  std::vector<double> periods;  ///< mean, per percentage; empty: deadlock
};

struct DepthStudy {
  std::vector<int> percents;
  std::vector<DepthRow> rows;
};

/// The rings that ops of variable latency fill: one slot less, as they are, and up to three more, together and each for itself.
DepthStudy depth_study(const Problem& problem, const Schedule& schedule, const StudyOptions& options = {});

}  // namespace heddle
