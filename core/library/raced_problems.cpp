// Problems are made anew for each machine: what arithmetic takes depends on some of these numbers, too.
#include "core/library/raced_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/motion/motion.h"

namespace heddle {

Result<Ok> RacedProblems::add(const Race& race, const std::string& file, const Machine& machine) {
  const Result<Kernel> kernel = load_kernel(race.kernel);
  if (!kernel) {
    Error error = kernel.error();
    for (Fault& fault : error.faults) fault.message = fmt::format("{}, /kernel: {}", file, fault.message);
    return error;
  }
  InstanceSpec spec{std::make_shared<const Kernel>(*kernel), std::make_shared<const Machine>(machine)};
  spec.params = own_params(*kernel, race.params);
  Error error;
  for (const RacedProgram& program : raced_programs(race, file)) {
    const Racer& racer = race.racers[program.racer];
    const auto refuse = [&](const Error& why) {
      for (Fault fault : why.faults) {
        fault.file = file, fault.pointer = fmt::format("/racers/{}/schedule_file{}", program.racer, fault.pointer);
        error.faults.push_back(std::move(fault));
      }
    };
    const Result<ScheduleHead> head = parse_schedule_head(racer.schedule_text, file);
    if (!head) {
      refuse(head.error());
      continue;
    }
    spec.choices = head->layouts;
    const Result<Problem> problem = make_problem(spec);
    if (!problem) {
      refuse(problem.error());
      continue;
    }
    Result<Schedule> schedule = parse_schedule(racer.schedule_text, file, *problem);
    if (!schedule) {
      refuse(schedule.error());
      continue;
    }
    Asked asked{spec, *std::move(schedule)};
    if (period(asked, machine.contention, {}) > 0)
      programs_.push_back(program), asked_.push_back(std::move(asked));
    else
      ++stuck_;
  }
  if (!error.faults.empty()) return error;
  return Ok{};
}

double RacedProblems::period(const Asked& asked, const Contention& contention, const std::stop_token& stop) {
  InstanceSpec spec = asked.spec;
  Machine machine = *spec.machine;
  machine.contention = contention;
  spec.machine = std::make_shared<const Machine>(std::move(machine));
  const Result<Problem> problem = make_problem(spec);
  if (!problem) return 0;
  return motion::motion_of(*problem, asked.schedule, {.stop = stop}).period.cycles();
}

std::optional<std::vector<double>> RacedProblems::periods(const Contention& contention, const std::stop_token& stop) const {
  std::vector<double> all(asked_.size());
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < asked_.size() && !stop.stop_requested(); i = next++) all[i] = period(asked_[i], contention, stop);
  };
  {
    std::vector<std::jthread> threads;
    for (unsigned t = 1; t < std::max(1U, std::thread::hardware_concurrency()); ++t) threads.emplace_back(work);
    work();
  }
  if (stop.stop_requested()) return std::nullopt;
  return all;
}

}  // namespace heddle
