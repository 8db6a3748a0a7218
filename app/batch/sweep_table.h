// A sweep as the window has it: points with their coordinates, gathered line by line while the file grows. Nothing here reads
// a file or draws. 100 000 points are 30 MB and no trouble.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "app/batch/sweep_line.h"

namespace heddle::app {

/// What a status word comes to.
enum class SweepStanding {
  Proved,  ///< a schedule, and nothing better for this configuration
  Found,   ///< a schedule or an answer, not proved best
  Open,    ///< stopped or out of time: at most a bound is known
  Failed   ///< there is none, it cannot be built, or something broke
};
SweepStanding standing_of(std::string_view status);

struct SweepAxis {
  std::string name;
  bool words = false;  ///< coordinates are indices of `values`
  bool log = false;
  std::vector<SweepValue> values;  ///< what occurs, or may occur, in the order of the axis; empty: too many to list
  double low = 0, high = 0;        ///< of the numbers seen and announced
  bool any = false;
  /// Where a coordinate lies on the axis: 0 to 1.
  double position(double coordinate) const;
  /// The text of a coordinate.
  std::string text(double coordinate) const;
  bool listed() const { return !values.empty(); }
};

struct SweepPoint {
  std::int64_t number = 0;
  std::uint32_t status = 0, by = 0, fidelity = 0;  ///< of SweepTable::words
  SweepStanding standing = SweepStanding::Open;
  bool cached = false, schedule = false;
  double value = kNone, bound = kNone;
  double seconds = kNone, tflops = kNone;
  std::int64_t ii = -1, stages = -1, groups = -1, warps = -1, smem = -1, registers = -1;
  std::vector<float> at;  ///< per axis; kNone where it has none
  std::string why;
  std::uint64_t offset = 0;  ///< of its line in the file
  std::uint32_t length = 0;
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  bool has_value() const { return value == value; }
  bool has_bound() const { return bound == bound; }
  double coordinate(std::size_t axis) const { return axis < at.size() ? static_cast<double>(at[axis]) : kNone; }
};

/// A line and where it is.
struct PlacedLine {
  SweepLine line;
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
};

struct SweepTable {
  SweepKind kind = SweepKind::Tuning;
  SweepHead head;               ///< of the latest run
  std::optional<SweepEnd> end;  ///< of the latest run
  std::vector<SweepAxis> axes;
  std::vector<SweepPoint> points;              ///< in the order of the file; of a batch by job
  std::vector<std::string> words;              ///< statuses, proposers, fidelities
  std::map<std::string, std::int64_t> counts;  ///< by status
  std::optional<std::size_t> best;             ///< of the points
  std::string batch;
  std::int64_t of = 0;                         ///< jobs in all; 0: not said
  std::optional<std::int64_t> open, excluded;  ///< configurations, as the newest evaluation says
  double seconds = 0;                          ///< of all evaluations
  std::uint64_t revision = 0;                  ///< grows with every change

  void take(const PlacedLine& line);
  /// Nothing left of an earlier state of the file.
  void clear();

  const std::string& word(std::uint32_t index) const { return words[index]; }
  /// What all values are measured against: the least proved bound of the sweep.
  std::optional<double> lower_bound() const { return head.lower_bound; }
  /// Value by bound: of the whole sweep where that is known, else the point's own.
  double ratio(const SweepPoint& point) const;
  /// "TILE_N=256 stages=3"
  std::string label(const SweepPoint& point) const;
  const char* unit() const;

 private:
  std::uint32_t intern(const std::string& word);
  std::size_t axis_of(const std::string& name, const SweepValue& value);
  void place(const SweepRow& row, SweepPoint& point);
  void count(const SweepPoint& point, int step);
  void find_best();

  std::unordered_map<std::string, std::uint32_t> interned_;
  std::unordered_map<std::string, std::size_t> axis_index_;
  std::unordered_map<std::int64_t, std::size_t> job_index_;
};

}  // namespace heddle::app
