// heddle validate: every row of a file of measurements that names what stands for it, simulated and compared.
#include <fmt/format.h>

#include "app/cli/kernel_run_options.h"
#include "app/cli/validator.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"

namespace heddle::app {

int run_validate(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json"), markdown = arguments.has("--markdown");
  if (json && markdown) return refuse(terminal, "--json and --markdown both want standard output; give one of them", json);
  if (const auto options = kernel_run_options(arguments, {}); !options) return report(terminal, options.error(), json);
  std::vector<Fault> warnings;
  Result<RowsAndGround> given = read_rows_and_ground(arguments.all("FILES"), arguments.text("--ground"), warnings);
  print_warnings(terminal, warnings);
  if (!given) return report(terminal, given.error(), json);
  const InterruptScope interrupt(arguments.deadline());
  ProgressLine line(terminal);
  ValidatorOptions options{arguments.text("--clock"), arguments.deadline(), !arguments.has("--no-store"), {}, interrupt.token()};
  options.progress = [&](std::size_t done, std::size_t all, const std::string& row) {
    line.show({fmt::format("row {} of {}", done, all), row});
  };
  const Result<Validation> validation = Validator(given->ground, options).run(std::move(given->rows));
  if (!validation) return report(terminal, validation.error(), json);
  if (json)
    terminal.out << validation_json(*validation).pretty();
  else if (markdown)
    terminal.out << validation_markdown(*validation);
  else if (terminal.quiet)
    terminal.out << validation_headline(*validation) << "\n";
  else
    terminal.out << validation_text(*validation, terminal.style);
  if (interrupt.interrupted()) return kInterrupted;
  if (interrupt.timed_out()) return kNoProof;
  return validation->holds() ? kDone : kNegative;
}

}  // namespace heddle::app
