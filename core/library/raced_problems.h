// Programs of races as problems again, on machines that differ in numbers of contention: what heddle fit needs to know of them.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/answers/fit_races.h"
#include "core/base/result.h"
#include "core/instance/instance.h"
#include "core/machine/machine.h"
#include "core/records/race.h"
#include "core/schedule/schedule.h"

namespace heddle {

class RacedProblems {
 public:
  /// The programs of a race that have times and can run on this machine; `file` is its name. Faults: a kernel that is not found by its
  /// name, schedules that are not of it.
  Result<Ok> add(const Race& race, const std::string& file, const Machine& machine);

  const std::vector<RacedProgram>& programs() const { return programs_; }
  std::size_t stuck() const { return stuck_; }  ///< programs that were left out because the rule says that they cannot run

  /// As of RacedPeriods, on all threads of the machine.
  std::optional<std::vector<double>> periods(const Contention& contention, const std::stop_token& stop) const;

 private:
  struct Asked {
    InstanceSpec spec;
    Schedule schedule;
  };
  static double period(const Asked& asked, const Contention& contention, const std::stop_token& stop);

  std::vector<RacedProgram> programs_;
  std::vector<Asked> asked_;  ///< a program's each
  std::size_t stuck_ = 0;
};

}  // namespace heddle
