// heddle price: what each user constraint costs.
#include "app/ask/price.h"
#include "app/cli/questions/asking.h"
#include "app/command/commands.h"

namespace heddle::app {

int run_price(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (arguments.has("--ii")) return refuse(terminal, "--ii fixes what a constraint may cost; leave it out", json);
  const Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  if (!has_price(inputs->constraints, inputs->choices()))
    return report(terminal,
                  Error::input("no constraint is enabled, so there is nothing to price",
                               "give some with --demand, --constraints, --layout, --max-stages or --groups"),
                  json);
  const Subject subject = subject_of(*inputs, arguments);
  const auto answer = asked<Prices>(terminal, [&](auto stop, const auto& listener) { return ask_price(subject, stop, listener); });
  return tell(terminal, json, told(subject, answer, telling(terminal, json)), ended(answer));
}

}  // namespace heddle::app
