#include "app/jobs/time_choice.h"

#include <utility>

#include "core/base/hash.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/contenders.h"
#include "core/simulate/uncertain.h"

namespace heddle::app {

std::shared_ptr<solver::TimeChoice> time_choice(std::shared_ptr<const Kernel> kernel, std::shared_ptr<const Machine> machine,
                                                const Changes& changes, const Problem& problem) {
  auto choice = std::make_shared<solver::TimeChoice>();
  Hash inputs;
  inputs.add(kernel_text(*kernel)).add(machine_text(*machine));
  for (Contender& contender : shelf_contenders(problem)) {
    if (!contender.schedule) continue;
    inputs.add(contender.name).add(schedule_text(problem, *contender.schedule));
    choice->orders.push_back({std::move(contender.name), *std::move(contender.schedule)});
  }
  choice->inputs = inputs.hex();
  choice->uncertain = std::make_shared<UncertainNumbers>(uncertain_numbers(problem, *machine));
  choice->predict = [kernel = std::move(kernel), machine = std::move(machine), changes](const Problem& of, const Schedule& schedule,
                                                                                        const std::stop_token& stop) {
    return forecast(*kernel, *machine, changes, of, schedule, stop);
  };
  return choice;
}

}  // namespace heddle::app
