// heddle paper: the Twill paper's pipeline to the letter, and what its schedule is worth at native cycles.
#include <fmt/format.h>

#include "app/ask/paper.h"
#include "app/cli/questions/asking.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

PaperOptions paper_options_of(const Arguments& arguments) {
  PaperOptions options;
  options.switches = arguments.all("--switch");
  if (const auto u = arguments.integer("--u")) options.switches.push_back(fmt::format("u={}", *u));  // the last one counts
  options.ablations = arguments.all("--ablation");
  return options;
}

/// Every shipped kernel on every shipped machine that it resolves on, one row each as soon as it is known.
int run_all(const PaperOptions& options, const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  int code = kDone;
  const SearchLimits limits = limits_of(arguments);
  std::vector<Subject> subjects;
  for (const LibraryEntry& machine_entry : list_library(Shelf::Machines)) {
    const auto machine = load_machine(machine_entry.path);
    for (const LibraryEntry& kernel_entry : list_library(Shelf::Kernels)) {
      const auto kernel = load_kernel(kernel_entry.path);
      if (!machine || !kernel) continue;
      if (auto instance = make_instance(spec_of(*kernel, *machine)); instance.ok()) subjects.push_back({*std::move(instance)});
    }
  }
  const bool interrupted = asked<PaperAnswer>(terminal, [&](auto stop, const auto& listener) {
    for (std::size_t i = 0; i < subjects.size() && !stop.stop_requested(); ++i) {
      subjects[i].limits = limits;
      if (arguments.has("--timeout"))
        subjects[i].limits.timeout_seconds = arguments.deadline().left() / static_cast<double>(subjects.size() - i);
      const PaperAnswer answer = ask_paper(subjects[i], options, stop, listener);
      if (const int one = exit_code(ended(answer)); one != kDone && one != kNegative) code = one;
      if (json)
        list.push(paper_json(subjects[i].problem(), answer));
      else
        rows.push_back(paper_row(subjects[i].problem(), answer));
    }
    return stop.stop_requested();
  });
  if (json) {
    terminal.out << Json::object().set("answers", std::move(list)).set("cancelled", interrupted).pretty();
  } else {
    terminal.out << text_table(paper_row_columns(), rows);
    if (interrupted) terminal.out << "interrupted: the table is partial\n";
  }
  return interrupted ? kInterrupted : code;
}

}  // namespace

int run_paper(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const PaperOptions options = paper_options_of(arguments);
  const Result<std::vector<PaperSetting>> settings = paper_settings(options);
  if (!settings) return report(terminal, settings.error(), json);
  if (arguments.has("--list-switches")) {
    terminal.out << (json ? paper_settings_json(*settings).pretty() : paper_settings_table(*settings, terminal.style));
    return kDone;
  }
  if (arguments.has("--all") && arguments.has("KERNEL"))
    return refuse(terminal, "--all takes every shipped kernel and machine; leave it or KERNEL and MACHINE out", json);
  if (arguments.has("--all")) return run_all(options, arguments, terminal);
  if (!arguments.has("KERNEL") || !arguments.has("MACHINE"))
    return refuse(terminal, "'paper' needs KERNEL and MACHINE, or --all, or --list-switches", json);
  const Result<CommandInputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  const Subject subject = subject_of(*inputs, arguments);
  const auto answer =
      asked<PaperAnswer>(terminal, [&](auto stop, const auto& listener) { return ask_paper(subject, options, stop, listener); });
  return tell(terminal, json, told(subject, answer, telling(terminal, json)), ended(answer));
}

}  // namespace heddle::app
