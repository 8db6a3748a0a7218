// heddle paper: the Twill paper's pipeline to the letter, and what its schedule is worth at native cycles.
#include <fmt/format.h>

#include "app/cli/inputs.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "core/answers/paper.h"
#include "core/library/library.h"
#include "solver/paper/ask.h"

namespace heddle::app {
namespace {

namespace paper = solver::paper;

Result<paper::Request> request_from(const Arguments& arguments) {
  paper::Request request;
  Error faults;
  for (const std::string& assignment : arguments.all("--switch"))
    if (const auto set = paper::set_switch(request.options, assignment); !set)
      faults.faults.insert(faults.faults.end(), set.error().faults.begin(), set.error().faults.end());
  if (!faults.faults.empty()) return faults;
  if (const auto u = arguments.integer("--u")) request.options.u = *u;
  for (const std::string& name : arguments.all("--ablation"))
    for (std::size_t i = 0; i < std::size(paper::kAblationNames); ++i)
      if (name == paper::kAblationNames[i]) request.ablations.push_back(static_cast<paper::Ablation>(i));
  request.timeout_seconds = arguments.deadline(request.timeout_seconds).left();
  if (const auto seed = arguments.integer("--seed")) request.seed = static_cast<std::uint64_t>(*seed);
  return request;
}

PaperAnswer ask(const paper::Request& request, std::stop_token stop, ProgressLine& line) {
  return paper::ask(request, std::move(stop), [&](const paper::SearchProgress& progress) {
    std::vector<std::string> facts{request.problem.kernel, progress.phase, fmt::format("I {}", progress.ii)};
    if (progress.length > 0) facts.push_back(fmt::format("L {}", progress.length));
    line.show(std::move(facts));
  });
}

int exit_code_of(const PaperAnswer& answer, bool interrupted) {
  if (interrupted) return kInterrupted;
  if (answer.status == Status::Infeasible) return kNegative;
  return answer.status == Status::Optimal && !answer.timed_out ? kDone : kNoProof;
}

/// Every shipped kernel on every shipped machine that it resolves on, one row each as soon as it is known.
int run_all(paper::Request request, const Arguments& arguments, const Terminal& terminal) {
  const InterruptScope interrupt;
  ProgressLine line(terminal);
  const bool json = arguments.has("--json");
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows;
  int code = kDone;
  std::vector<Problem> problems;
  for (const LibraryEntry& machine_entry : list_library(Shelf::Machines)) {
    const auto machine = load_machine(machine_entry.path);
    for (const LibraryEntry& kernel_entry : list_library(Shelf::Kernels)) {
      const auto kernel = load_kernel(kernel_entry.path);
      if (!machine || !kernel) continue;
      if (const auto problem = make_problem(spec_of(*kernel, *machine)); problem.ok()) problems.push_back(*problem);
    }
  }
  for (std::size_t i = 0; i < problems.size() && !interrupt.interrupted(); ++i) {
    request.problem = problems[i];
    if (arguments.has("--timeout")) request.timeout_seconds = arguments.deadline().left() / static_cast<double>(problems.size() - i);
    const PaperAnswer answer = ask(request, interrupt.token(), line);
    if (const int one = exit_code_of(answer, false); one != kDone && one != kNegative) code = one;
    if (json)
      list.push(paper_json(problems[i], answer));
    else
      rows.push_back(paper_row(problems[i], answer));
  }
  const bool interrupted = interrupt.interrupted();
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
  Result<paper::Request> request = request_from(arguments);
  if (!request) return report(terminal, request.error(), json);
  if (arguments.has("--list-switches")) {
    const std::vector<PaperSetting> settings = paper::settings(request->options);
    terminal.out << (json ? paper_settings_json(settings).pretty() : paper_settings_table(settings, terminal.style));
    return kDone;
  }
  if (arguments.has("--all") && arguments.has("KERNEL"))
    return refuse(terminal, "--all takes every shipped kernel and machine; leave it or KERNEL and MACHINE out", json);
  if (arguments.has("--all")) return run_all(*std::move(request), arguments, terminal);
  if (!arguments.has("KERNEL") || !arguments.has("MACHINE"))
    return refuse(terminal, "'paper' needs KERNEL and MACHINE, or --all, or --list-switches", json);
  const Result<Inputs> inputs = load_inputs(arguments, terminal);
  if (!inputs) return report(terminal, inputs.error(), json);
  request->problem = inputs->problem();
  const InterruptScope interrupt;
  PaperAnswer answer;
  {
    ProgressLine line(terminal);
    answer = ask(*request, interrupt.token(), line);
  }
  if (json)
    terminal.out << paper_json(inputs->problem(), answer).pretty();
  else if (terminal.quiet)
    terminal.out << paper_headline(answer, terminal.style) << "\n";
  else
    terminal.out << paper_summary(inputs->problem(), answer, terminal.style);
  return exit_code_of(answer, answer.cancelled);
}

}  // namespace heddle::app
