// heddle tune: which configuration of a kernel is best.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/inputs.h"
#include "app/cli/kernel_run_options.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/option_words.h"
#include "app/command/progress_line.h"
#include "app/jobs/solve_store.h"
#include "app/tune/history_file.h"
#include "app/tune/kernel_evaluator.h"
#include "codegen/compile/compile.h"
#include "codegen/run/driver.h"
#include "core/answers/tuning_summary.h"
#include "core/base/words.h"
#include "core/formats/choices_json.h"
#include "core/formats/space_json.h"
#include "core/formats/tuning_json.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

constexpr std::int64_t kUsualBudget = 40;

template <class E>
E chosen(const Arguments& arguments, const char* flag, E last, E usual) {
  const auto text = arguments.text(flag);
  return text ? parse_word(*text, last).value_or(usual) : usual;
}

struct TuneQuestion {
  InstanceSpec subject;
  SearchSpace space;
  EvaluatorOptions options;
};

/// Everything that the words of the command line name, all faults at once.
Result<TuneQuestion> read_tune_question(const Arguments& arguments, const Terminal& terminal) {
  TuneQuestion question;
  Error error;
  std::vector<Fault> warnings;
  const auto take = [&](const Error& e) {
    error.faults.insert(error.faults.end(), e.faults.begin(), e.faults.end());
    if (e.kind == ErrorKind::Environment) error.kind = e.kind;
  };
  question.options.kernel_name = *arguments.text("KERNEL");
  question.options.machine_name = *arguments.text("MACHINE");
  Result<Kernel> kernel = load_kernel(question.options.kernel_name, &warnings);
  if (!kernel) take(kernel.error());
  Result<Machine> machine = load_machine(question.options.machine_name, &warnings);
  if (!machine) take(machine.error());
  const Result<Scope> params = parse_params(arguments);
  if (!params) take(params.error());
  if (error.faults.empty()) {
    question.subject = spec_of(*std::move(kernel), *std::move(machine));
    question.subject.params = *params;
    for (const auto& [name, value] : *params)
      if (!question.subject.kernel->find_param(name)) {
        const auto known = names_of(question.subject.kernel->params);
        const std::string hint = did_you_mean(name, known);
        take(Error::input(fmt::format("kernel '{}' has no parameter '{}'", question.subject.kernel->name, name),
                          hint.empty() && !known.empty() ? "there is " + list_of(known) : hint));
      }
    std::vector<Fault> unread;
    for (const std::string& text : arguments.all("--layout")) {
      add_layout(text, question.subject.choices, unread);
      question.options.more_words += " --layout '" + text + "'";
    }
    for (const std::string& text : arguments.all("--instruction")) {
      add_instruction(text, question.subject.choices, unread);
      question.options.more_words += " --instruction " + text;
    }
    if (!unread.empty()) take(in_options({ErrorKind::Input, unread}));
    for (const std::string& text : arguments.all("--set")) {
      if (const Result<Change> change = parse_change(text, *question.subject.kernel, *question.subject.machine)) {
        question.subject.changes.push_back(*change);
        question.options.more_words += " --set " + text;
      } else {
        take(change.error());
      }
    }
  }
  EvaluatorOptions& options = question.options;
  options.fidelity = chosen(arguments, "--fidelity", Fidelity::Gpu, Fidelity::Solver);
  const bool gpu = options.fidelity == Fidelity::Gpu;
  options.objective =
      chosen(arguments, "--objective", TuneObjective::Microseconds, gpu ? TuneObjective::Microseconds : TuneObjective::Cycles);
  if (gpu != (options.objective == TuneObjective::Microseconds))
    take(Error::input("microseconds are what a GPU measures, and all that it measures",
                      "--fidelity gpu --objective microseconds, or neither"));
  const std::string demand = arguments.text("--require").value_or(gpu ? "compiled" : "nothing");
  options.demand = demand == "compiled" ? Demand::Compiled : demand == "written" ? Demand::Written : Demand::Nothing;
  if (options.demand != Demand::Nothing && options.fidelity < Fidelity::Solver)
    take(Error::input("--require needs --fidelity solver or gpu: only these two ask again"));
  options.arbitration = arbitration_of(arguments);
  options.solve_seconds = arguments.seconds("--solve-timeout").value_or(options.solve_seconds);
  options.seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(0));
  if (error.faults.empty()) {
    if (const auto path = arguments.text("--space")) {
      Result<SearchSpace> space = read_space(*path, &warnings);
      if (!space)
        take(space.error());
      else {
        question.space = *std::move(space);
        const std::vector<Fault> faults = check_binding(question.space, question.subject, *path);
        error.faults.insert(error.faults.end(), faults.begin(), faults.end());
      }
    } else {
      question.space = space_of(question.subject, {options.demand != Demand::Nothing});
      if (question.space.parameters.empty())
        take(Error::input(fmt::format("kernel '{}' names nothing that could be tuned", question.subject.kernel->name),
                          "give a space: --space FILE"));
    }
  }
  print_warnings(terminal, warnings);
  if (!error.faults.empty()) return error;
  return question;
}

/// What the machine must have for the rung, asked before hours of work.
std::optional<Error> missing_tools(const EvaluatorOptions& options) {
  if (options.demand == Demand::Compiled)
    if (const auto compiler = codegen::find_compiler(); !compiler.ok()) return compiler.error();
  if (options.fidelity == Fidelity::Gpu)
    if (const auto driver = codegen::cuda::open_driver(); !driver.ok()) return driver.error();
  return std::nullopt;
}

int tune_exit_code(const TuneHistory& history) {
  const bool cancelled = history.end && history.end->reason == "cancelled";
  if (cancelled) return kInterrupted;
  const bool in_time = !history.end || history.end->reason != "time";
  return history.best() ? kDone : in_time ? kNegative : kNoProof;
}

void print_history(const TuneHistory& history, const Arguments& arguments, const Terminal& terminal, std::ostream& out) {
  if (arguments.has("--json"))
    out << tuning_json(history).pretty();
  else if (terminal.quiet)
    out << tuning_headline(history, terminal.style) << "\n";
  else {
    out << tuning_summary(history, terminal.style);
    if (const TuneEvaluation* best = history.best(); best && !best->solve.empty())
      out << "again: " << as_called(printable(best->solve)) << "\n";
  }
}

int show_history(const std::string& path, const Arguments& arguments, const Terminal& terminal) {
  std::vector<Fault> warnings;
  const Result<ReadTuning> read = read_tuning(path, &warnings);
  print_warnings(terminal, warnings);
  if (!read) return report(terminal, read.error(), arguments.has("--json"));
  print_history(read->history, arguments, terminal, terminal.out);
  return kDone;
}

/// What a file says is looked at before it is built upon: what this process can refute goes, with a warning each; the best is simulated
/// again, until one takes what the file says; bounds are this process's own. The rest stays what the file says.
std::vector<Fault> doubt_earlier(const KernelEvaluator& evaluator, const std::string& path, TuneObjective objective, TuneHistory& history,
                                 const std::stop_token& stop) {
  std::vector<Fault> taken;
  const auto take = [&](const TuneEvaluation& e, const std::string& why) {
    taken.push_back({path, {}, fmt::format("line {}: evaluation {} is set aside: {}", e.line, e.number, why), {}});
  };
  std::erase_if(history.evaluations, [&](TuneEvaluation& e) {
    const std::string why = stop.stop_requested() ? std::string() : evaluator.doubt(e);
    if (!why.empty()) take(e, why);
    if (objective != TuneObjective::Steady) e.bound = evaluator.known(e.config).bound;
    return !why.empty();
  });
  while (!stop.stop_requested()) {
    const TuneEvaluation* best = history.best();
    const auto again = best ? evaluator.replayed(*best) : std::nullopt;
    if (!again || std::abs(*again - *best->value) <= 1e-6 * *again) break;
    take(*best, fmt::format("its schedule takes {:.15g}, not {:.15g}", *again, *best->value));
    history.evaluations.erase(history.evaluations.begin() + (best - history.evaluations.data()));
  }
  if (!taken.empty()) restate_best(history);
  return taken;
}

}  // namespace

int run_tune(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  if (const auto path = arguments.text("--show")) {
    if (arguments.has("KERNEL")) return refuse(terminal, "--show shows what a file says; leave out KERNEL and MACHINE", json);
    return show_history(*path, arguments, terminal);
  }
  if (!arguments.has("KERNEL") || !arguments.has("MACHINE")) return refuse(terminal, "tune needs KERNEL and MACHINE, or --show FILE", json);
  const auto file = arguments.text("--out");
  if (json && file == "-") return refuse(terminal, "--json and --out - both want standard output; give --out a file", json);
  Result<TuneQuestion> question = read_tune_question(arguments, terminal);
  if (!question) return report(terminal, question.error(), json);
  if (arguments.has("--print-space")) {
    terminal.out << space_json(question->space).pretty();
    return kDone;
  }
  if (const auto missing = missing_tools(question->options)) return report(terminal, *missing, json);
  if (file)
    if (const int failed = expect_writable(terminal, *file, json)) return failed;

  const Deadline deadline = arguments.deadline();
  const InterruptScope interrupt(deadline);
  const Result<ChainOfTrees> tree = ChainOfTrees::build(question->space, interrupt.token());
  if (!tree) {
    Error located = tree.error();
    if (const auto path = arguments.text("--space"))
      for (Fault& fault : located.faults) fault.file = *path;
    return report(terminal, located, json);
  }
  const ContentStore store(arguments.has("--no-store") ? StorePlace{} : store_place());
  question->options.solve = [&store](const solver::SolveRequest& request, const std::stop_token& stop, bool& cached) {
    Recalled recalled;
    SolveOutcome outcome = solve_or_recall(store, request, stop, {}, &recalled);
    cached = recalled.whole;
    return outcome;
  };
  const KernelEvaluator evaluator(question->subject, question->space, question->options);
  TuneSession session;
  session.kernel = question->options.kernel_name;
  session.machine = question->options.machine_name;
  session.machine_changed = !question->subject.changes.empty();
  session.params = question->subject.params;
  session.objective = question->options.objective;
  session.fidelity = question->options.fidelity;
  session.method = chosen(arguments, "--method", TuneMethod::Exhaustive, TuneMethod::Baco);
  session.seed = question->options.seed;
  session.budget = arguments.integer("--budget").value_or(session.method == TuneMethod::Exhaustive ? std::int64_t{1} << 40 : kUsualBudget);
  session.space = question->space;
  session.subject = evaluator.subject_digest();
  session.solver = solver::solver_version();
  session.command = arguments.command_line;

  std::optional<HistoryFile> history_file;
  if (const auto path = arguments.text("--history")) {
    Result<HistoryFile> opened = HistoryFile::open(*path, session);
    if (!opened) return report(terminal, opened.error(), json);
    history_file.emplace(std::move(opened.value()));
  }
  TuneHistory history;
  std::int64_t numbered = 0;
  if (history_file) {
    history = history_file->earlier();
    print_warnings(terminal, history_file->warnings());
    if (!history.evaluations.empty()) numbered = history.evaluations.back().number;
    print_warnings(terminal, doubt_earlier(evaluator, *arguments.text("--history"), session.objective, history, interrupt.token()));
  }
  if (!history.evaluations.empty())
    terminal.note(fmt::format("going on after {}", count_of(static_cast<std::int64_t>(history.evaluations.size()), "evaluation")));
  history.end.reset();

  solver::TuneRequest request;
  request.space = &*tree;
  request.known = [&](const Config& config) { return evaluator.known(config); };
  request.evaluate = [&](const Config& config, std::optional<double> beat, const std::stop_token& stop) {
    return evaluator.evaluate(config, beat, stop);
  };
  if (session.fidelity >= Fidelity::Solver && session.objective != TuneObjective::Steady && !arguments.has("--no-ladder"))
    request.screen = [&](const Config& config) { return evaluator.screen(config, interrupt.token()); };
  request.same = [&](const TuneEvaluation& e) { return evaluator.same_answer(e); };
  if (arguments.has("--no-prune")) request.same = {};
  request.method = session.method;
  request.seed = session.seed;
  request.budget = session.budget;
  request.deadline = deadline;
  request.prune = !arguments.has("--no-prune");
  request.done = history.evaluations;
  request.numbered = numbered;
  std::optional<Error> write_error;
  const auto keep = [&](const auto&... parts) {
    if (!history_file || write_error) return;
    if (const Result<Ok> written = history_file->append(parts...); !written) write_error = written.error();
  };
  {
    ProgressLine line(terminal);
    line.show({"looking at what is possible"});
    const auto began = [&](const solver::TuneStart& start) {
      session.configurations = start.configurations;
      session.known_feasible = start.known_feasible;
      session.lower_bound = start.lower_bound;
      history.sessions.push_back(session);
      keep(session);
      if (start.configurations && start.known_feasible && *start.known_feasible < *start.configurations)
        line.say(fmt::format("{} of {} configurations are possible", *start.known_feasible, *start.configurations));
    };
    const auto listener = [&](const TuneEvaluation& e) {
      history.evaluations.push_back(e);
      keep(question->space, e);
      std::vector<std::string> facts{fmt::format("{} evaluated", e.number)};
      if (e.best) facts.push_back(fmt::format("best {:.0f} {}", *e.best, unit_of(session.objective)));
      if (e.excluded) facts.push_back(fmt::format("{} excluded", *e.excluded));
      if (e.open) facts.push_back(fmt::format("{} open", *e.open));
      line.show(facts);
      const std::string news =
          fmt::format("{}: {}: {}", e.number, printable(e.label), evaluation_facts(e, session.objective, terminal.style));
      e.best_number == e.number ? line.announce(news) : line.say(news);
    };
    history.end = solver::tune(request, interrupt.token(), listener, began);
    history.end->rests_on_file = !request.done.empty();
    keep(*history.end);
  }
  if (history.sessions.empty()) history.sessions.push_back(session);
  print_history(history, arguments, terminal, file == "-" ? terminal.err : terminal.out);
  if (history.evaluations.empty() && history.end && history.end->reason == "nothing feasible")
    terminal.complain("no configuration is possible; the default one: " +
                      printable(evaluator.evaluate(default_config(question->space), {}, {}).why));
  int code = tune_exit_code(history);
  if (const TuneEvaluation* best = history.best(); file && best && !best->schedule.empty()) {
    const Result<Json> schedule = parse_json(best->schedule, {});
    if (const int failed = write_text(terminal, *file, schedule ? schedule->pretty() : best->schedule))
      code = failed;
    else if (*file != "-")
      terminal.note("schedule of the best configuration saved as " + *file);
  }
  if (write_error) return report(terminal, *write_error, false);
  return code;
}

}  // namespace heddle::app
