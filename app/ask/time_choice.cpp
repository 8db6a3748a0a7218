#include "app/ask/time_choice.h"

#include <mutex>
#include <utility>

#include "core/base/hash.h"
#include "core/formats/kernel_json.h"
#include "core/formats/machine_json.h"
#include "core/formats/schedule_json.h"
#include "core/library/contenders.h"
#include "core/simulate/uncertain.h"

namespace heddle::app {
namespace {

solver::OrderSources order_sources(const Kernel& kernel, const Machine& machine, const Problem& problem) {
  solver::OrderSources sources;
  Hash inputs;
  inputs.add(kernel_text(kernel)).add(machine_text(machine));
  for (Contender& contender : shelf_contenders(problem)) {
    if (!contender.schedule) continue;
    inputs.add(contender.name).add(schedule_text(problem, *contender.schedule));
    sources.orders.push_back({std::move(contender.name), *std::move(contender.schedule)});
  }
  sources.inputs = inputs.hex();
  sources.uncertain = std::make_shared<UncertainNumbers>(uncertain_numbers(problem, machine));
  return sources;
}

/// Asked for once to name what is kept and once to compare.
template <class Make>
auto once(Make make) {
  struct Kept {
    std::once_flag flag;
    decltype(make()) value;
  };
  return [make = std::move(make), kept = std::make_shared<Kept>()] {
    std::call_once(kept->flag, [&] { kept->value = make(); });
    return kept->value;
  };
}

}  // namespace

std::shared_ptr<solver::TimeChoice> time_choice(const Instance& instance) {
  auto choice = std::make_shared<solver::TimeChoice>();
  choice->sources = once([instance] { return order_sources(instance.kernel(), instance.machine(), instance.problem()); });
  choice->predict = [instance](const Problem& of, const Schedule& schedule, const std::stop_token& stop) {
    return forecast(with(instance, of), schedule, stop);
  };
  return choice;
}

}  // namespace heddle::app
