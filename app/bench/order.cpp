#include "app/bench/order.h"

#include <fmt/format.h>

#include "core/base/atomic_file.h"
#include "core/formats/measurement_json.h"
#include "core/formats/schedule_json.h"
#include "core/instance/instance.h"
#include "core/library/library.h"
#include "core/motion/circle.h"

namespace heddle::app {

Result<std::string> order_on(const std::string& machine, const std::string& file) {
  Result<std::string> text = read_file(file);
  if (!text) return text;
  if (const auto measured = parse_measurement(*text, file); measured.ok() && !measured->schedule_text.empty())
    text = measured->schedule_text;
  const Result<ScheduleHead> head = parse_schedule_head(*text, file);
  if (!head) return head.error();
  const auto kernel = load_kernel(head->kernel);
  const auto device = load_machine(machine);
  if (!kernel) return kernel.error();
  if (!device) return device.error();
  InstanceSpec spec = spec_of(*kernel, *device);
  spec.params = head->params;
  spec.choices = head->layouts;
  const Result<Problem> problem = make_problem(spec);
  if (!problem) return problem.error();
  const Result<Schedule> before = parse_schedule(*text, file, *problem);
  if (!before) return before.error();
  timing::LoopTiming today = timing::earliest_schedule(*problem, motion::program_of(*problem, *before));
  if (today.deadlock) return Error::input(fmt::format("{}: its order cannot run on {}: {}", file, machine, today.limit));
  today.schedule.name = before->name;
  today.schedule.provenance = before->provenance;
  return schedule_text(*problem, today.schedule);
}

}  // namespace heddle::app
