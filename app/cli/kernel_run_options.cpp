#include "app/cli/kernel_run_options.h"

#include "core/base/scanner.h"
#include "core/base/words.h"
#include "core/simulate/forecast.h"

namespace heddle::app {

Result<ClockChoice> clock_choice(const Arguments& arguments, const Machine& machine) {
  ClockChoice choice;
  const std::string clock = arguments.text("--clock").value_or("sustained");
  if (clock == "max") {
    choice.kind = ClockChoice::Kind::Max;
  } else if (clock != "sustained") {
    choice.mhz = read_number<std::int64_t>(clock).value_or(0);
    if (choice.mhz < 1 || choice.mhz > 100'000)
      return Error::input("--clock: expected max, sustained or MHz from 1 to 100000, found '" + clock + "'");
    choice.kind = ClockChoice::Kind::Fixed;
  }
  choice.power_w = arguments.integer("--power");
  choice.zeros = arguments.text("--data") == "zeros";
  if (const auto measured = arguments.text("--measured")) {
    const Result<double> speed = speed_of(machine, *measured);
    if (!speed) return speed.error();
    choice.speed = *speed;
  }
  return choice;
}

Arbitration arbitration_of(const Arguments& arguments) {
  return parse_word(arguments.text("--arbitration").value_or("interleaved"), Arbitration::Contended).value_or(Arbitration::Interleaved);
}

Result<KernelRunOptions> kernel_run_options(const Arguments& arguments, const Machine& machine) {
  KernelRunOptions options;
  options.trips = arguments.integer("--trips");
  options.causal = arguments.has("--causal");
  options.persistent = arguments.has("--persistent");
  options.longest_first = arguments.has("--longest-first");
  options.split = arguments.integer("--split").value_or(0);
  options.second_pass = arguments.has("--second-pass");
  if (options.second_pass && options.split == 0)
    return Error::input("--second-pass puts cut tiles together, and none is cut", "give --split N, too");
  if (const auto ctas = arguments.integer("--ctas")) options.ctas = static_cast<int>(*ctas);
  options.cluster = static_cast<int>(arguments.integer("--cluster").value_or(1));
  const Result<ClockChoice> clock = clock_choice(arguments, machine);
  if (!clock) return clock.error();
  options.clock = *clock;
  SimulateOptions& loop = options.loop;
  loop.arbitration = arbitration_of(arguments);
  options.contention = !arguments.has("--arbitration");
  options.around = arguments.has("--around");
  loop.turns = !arguments.has("--no-turns");
  loop.jitter.percent = static_cast<int>(arguments.integer("--jitter").value_or(0));
  loop.jitter.every_op = arguments.has("--jitter-all");
  const std::string shape = arguments.text("--jitter-shape").value_or("uniform");
  loop.jitter.shape = shape == "normal" ? JitterShape::Normal : shape == "tail" ? JitterShape::Tail : JitterShape::Uniform;
  loop.jitter.seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(1));
  return options;
}

}  // namespace heddle::app
