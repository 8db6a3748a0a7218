// A schedule given back to a Triton text, refused where its rules say so, and the rotated loop in Python; with what that is worth.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/compiler_export.h"
#include "app/cli/inputs.h"
#include "app/cli/solving.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/jobs/triton_return.h"
#include "core/check/checker.h"
#include "core/library/library.h"
#include "core/library/project_file.h"
#include "core/library/triton_text.h"
#include "core/triton/back/rotated.h"
#ifdef HEDDLE_HAS_SOLVER
#include "solver/questions/triton.h"
#endif

namespace heddle::app {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostChanges = 12;
constexpr double kPriceSeconds = 5;  ///< for what a note says

/// The text that is meant, and on which machine.
struct Target {
  std::shared_ptr<const Source> source;  ///< a Triton text
  std::optional<triton::LoweredLoop> loop;
  std::string machine_name;  ///< empty: of the text's target
  Result<Machine> machine = Error::input("no machine");

  const TritonText& text() const { return *source->triton(); }
  const triton::TritonProgram& program() const { return loop->program(); }
  const std::string& path() const { return text().address()->path; }
};

Result<Target> find_target(const std::string& format, const Arguments& arguments, const Terminal& terminal) {
  const std::string kernel = *arguments.text("KERNEL"), machine = *arguments.text("MACHINE");
  Target target;
  target.source = arguments.source();
  if (const ProjectFile* file = target.source->project()) {
    const Result<Project>& project = file->read();
    if (!project) return project.error();
    target.source = find_source(project->spec.kernel->source);
  }
  if (!target.source->triton())
    return Error::input(fmt::format("--format {} is of a Triton text, and {} is none", format, kernel),
                        "give KERNEL the text that the schedule is of: a .ttgir file, a log of MLIR_ENABLE_DUMP=1, a folder of Triton's");
  const TritonText::SharedProgram program = target.text().program();
  if (!program) return program.error();
  const Result<triton::LoweredLoop> loop = target.text().loop();
  // A final text is no schedule problem, but says where its loop stands in Python.
  const triton::LoopSite* anyway =
      !loop && format == "python" && !target.text().address()->loop ? triton::loop_to_rotate(**program) : nullptr;
  if (!loop && !anyway) return loop.error();
  target.loop = loop ? *loop : target.text().loop(*anyway);
  if (machine == kernel) {
    target.machine = target.text().machine(nullptr);
  } else {
    target.machine_name = machine;
    std::vector<Fault> warnings;
    target.machine = load_machine(machine, &warnings);
    print_warnings(terminal, warnings);
    if (!target.machine) return target.machine.error();
  }
  return target;
}

/// The three schedules, where they are known soon; null else.
std::optional<triton::Comparison> compare_soon(const Target& target, const Arguments& arguments) {
#ifdef HEDDLE_HAS_SOLVER
  if (!target.machine) return std::nullopt;
  solver::TritonRequest request{*target.loop, *target.machine};
  request.timeout_seconds = std::min(arguments.deadline(kPriceSeconds).left(), kPriceSeconds);
  request.options = false;
  const InterruptScope interrupt;
  Result<triton::Comparison> found = solver::compare_triton(request, interrupt.token());
  if (found && !found->cancelled) return *std::move(found);
#else
  (void)target, (void)arguments;
#endif
  return std::nullopt;
}

/// "Give it back to Triton: heddle solve ..."
std::string line_of(triton::NextStep step, const Target& target) {
  triton::TextAddress address = *target.text().address();
  address.reading.reset();
  const std::string machine = target.machine_name.empty() ? "" : shell_word(target.machine_name);
  return fmt::format("{}: {}", title(step), command_of(step, shell_word(triton::to_string(address)), machine));
}

/// What staying within Triton's passes costs; empty where it costs nothing, or that is not known.
std::string price_of(const triton::Comparison& comparison) {
  const triton::Side &passes = comparison.of(triton::Whose::BestOfTriton), &machine = comparison.of(triton::Whose::BestOfMachine);
  if (!passes.schedule || !machine.schedule || passes.period <= machine.period || machine.period <= 0) return {};
  return fmt::format(
      "the best of the machine takes {} cycles per iteration, {:.0f} % less than the {} of the best that Triton's passes can build",
      machine.period, 100.0 * static_cast<double>(passes.period - machine.period) / static_cast<double>(passes.period), passes.period);
}

const char* beyond(const triton::TritonProgram& program) {
  return program.target < 100 ? "On Hopper Triton's passes keep all that computes in one stage and one group: nothing overlaps an mma"
                              : "Triton's passes neither cut tiles nor choose rings and hand-offs freely";
}

/// What the machine could do beyond Triton's passes, what that is worth, and how to have it.
void say_price(const Target& target, const Arguments& arguments, const Terminal& terminal) {
  if (terminal.quiet) return;
  const std::optional<triton::Comparison> comparison = compare_soon(target, arguments);
  const std::string price = comparison ? price_of(*comparison) : std::string();
  if (price.empty()) return;
  terminal.note(fmt::format("{}: {} (by the model)", beyond(target.program()), price));
  for (const triton::NextStep way : ways_out(*comparison))
    if (way != triton::NextStep::GivenBack) terminal.note("  " + line_of(way, target));
}

int refuse_free(const Target& target, const Arguments& arguments, const Terminal& terminal) {
  terminal.complain(fmt::format(
      "{}: a schedule of the free reading cannot be given to Triton, whose passes take stages, clusters and partitions of whole tiles",
      target.text().name()));
  const std::optional<triton::Comparison> comparison = compare_soon(target, arguments);
  const std::string price = comparison ? price_of(*comparison) : std::string();
  if (!price.empty()) terminal.note(price + " (by the model)");
  const std::vector<triton::NextStep> ways = comparison ? ways_out(*comparison) : std::vector<triton::NextStep>{};
  for (const triton::NextStep way : ways) terminal.complain(line_of(way, target));
  if (ways.empty()) terminal.complain("Its kernel as Heddle's own CUDA: heddle emit " + shell_word(target.text().name()));
  return kInvalidInput;
}

bool replaces_source(const Target& target, const std::string& path) {
  std::error_code code;
  return path != "-" && fs::equivalent(path, target.path(), code) && !code;
}

/// Whether SCHEDULE is the text itself, which means Triton's own.
bool is_own(const Target& target, const std::string& schedule) {
  const std::shared_ptr<const Source> file = compilers_file(schedule, target.source.get());
  return file && file->triton() && file->triton()->address() && file->triton()->address()->path == target.path();
}

/// Every fault as a line, and that nothing was written.
int refuse_schedule(const Terminal& terminal, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) terminal.complain(to_string(fault));
  terminal.complain("nothing is written: Triton verifies none of this and would compile it");
  return kNegative;
}

void say_given(const Target& target, const triton::GivenBack& given, bool own, const Machine& machine, const Terminal& terminal) {
  if (given.changes.empty()) {
    terminal.note(own ? "the text as it is, with the text's own schedule" : "the text as it is: the schedule changes nothing in it");
  } else {
    const auto changed = static_cast<std::int64_t>(given.changed);
    terminal.note(count_of(changed, "op") + (changed == 1 ? " changes:" : " change:"));
    for (const std::string& line : first_changes(given, terminal.verbose ? given.changes.size() : kMostChanges)) terminal.note("  " + line);
  }
  for (const std::string& note : given.notes) terminal.note("note: " + note);
  terminal.note(predicted(triton::memory_of(target.program()), given.memory, machine, ungrouped));
}

int export_ttgir(const Target& target, Arguments arguments, const Terminal& terminal) {
  const std::string path = arguments.text("--out").value_or("-");
  if (target.text().said() == triton::TextReading::Free) return refuse_free(target, arguments, terminal);
  if (replaces_source(target, path))
    return refuse(terminal, fmt::format("--out {} would replace the text that the schedule is of; give it another name", path), false);
  const auto named = arguments.text("SCHEDULE");
  std::optional<triton::GivenBack> given;
  Machine machine = target.machine ? *target.machine : limits_of_target(target.program());
  // Without a schedule nothing is to be changed, whether or not Triton has scheduled the loop.
  const triton::TextForm form = target.program().form;
  const bool own_meant = (!named || is_own(target, *named)) &&
                         (target.loop->site().scheduled || form == triton::TextForm::Input || form == triton::TextForm::Scheduled);
  if (own_meant) {
    if (const int failed = expect_writable(terminal, path, false)) return failed;
    Result<triton::GivenBack> own = own_given_back(target.program(), target.loop->site(), machine);
    if (!own) return refuse_schedule(terminal, own.error().faults);
    given = *std::move(own);
  } else {
    if (!target.text().said() && !arguments.source()->project())
      arguments.set("--reading", {triton::to_string(triton::TextReading::Triton)});
    Result<CommandInputs> inputs = proved_inputs(arguments, terminal);
    if (!inputs) return report(terminal, inputs.error(), false);
    if (const int failed = expect_writable(terminal, path, false)) return failed;
    const auto& native = target.loop->by(triton::TextReading::Triton);
    if (!native) return report(terminal, native.error(), false);
    int code = kDone;
    const auto schedule = schedule_to_show(*inputs, arguments, terminal, code);
    if (!schedule) return code;
    std::vector<Fault> faults;
    for (const Violation& v : check(inputs->problem(), *schedule, inputs->constraints).violations)
      faults.push_back({inputs->schedule_file, "", std::string(v.family) + ": " + v.message, ""});
    if (!faults.empty()) return refuse_schedule(terminal, faults);
    machine = inputs->machine();
    Result<triton::GivenBack> back =
        triton::give_back(target.program(), target.loop->site(), **native, inputs->problem(), *schedule, machine);
    if (!back) return refuse_schedule(terminal, back.error().faults);
    given = *std::move(back);
  }
  if (const int failed = write_text(terminal, path, given->text)) return failed;
  say_given(target, *given, own_meant, machine, terminal);
  if (path != "-") terminal.note("ttgir written to " + path);
  terminal.note("next: " + finish_command(path == "-" ? "OUT.ttgir" : path, target.program().target));
  say_price(target, arguments, terminal);
  return kDone;
}

int export_python(const Target& target, const Arguments& arguments, const Terminal& terminal) {
  const std::string path = arguments.text("--out").value_or("-");
  const Result<triton::PythonSource> source =
      triton::read_python(target.program(), target.loop->site(), arguments.text("--source").value_or(""));
  if (!source) return report(terminal, source.error(), false);
  std::error_code code;
  if (path != "-" && fs::equivalent(path, source->path, code) && !code)
    return refuse(terminal, fmt::format("--out {} would replace the program that the loop is of; give it another name", path), false);
  if (const int failed = expect_writable(terminal, path, false)) return failed;
  const std::optional<triton::Comparison> comparison = compare_soon(target, arguments);
  const std::string price = comparison ? price_of(*comparison) : std::string();
  const Result<triton::RotatedLoop> loop =
      triton::rotated_loop(target.program(), target.loop->site(), *source,
                           price.empty() ? "" : "The rotated loop gets a part of what there is to get: by the model " + price + ".");
  if (!loop) return report(terminal, loop.error(), false);
  if (const int failed = write_text(terminal, path, loop->text)) return failed;
  if (path != "-") terminal.note("python written to " + path);
  terminal.note(fmt::format("it takes the place of lines {} to {} of {}", loop->first_line, loop->last_line, source->path));
  return kDone;
}

}  // namespace

bool is_triton_format(const std::string& format) { return format == "ttgir" || format == "python"; }

int export_for_triton(const std::string& format, const Arguments& arguments, const Terminal& terminal) {
  const Result<Target> target = find_target(format, arguments, terminal);
  if (!target) return report(terminal, target.error(), false);
  return format == "ttgir" ? export_ttgir(*target, arguments, terminal) : export_python(*target, arguments, terminal);
}

}  // namespace heddle::app
