// heddle emit, compile and interpret: from a schedule to a kernel.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "app/cli/lowering.h"
#include "app/cli/package_command.h"
#include "app/cli/schemas.h"
#include "app/command/called.h"
#include "app/command/commands.h"
#include "app/command/exit_code.h"
#include "app/command/interrupt.h"
#include "app/command/progress_line.h"
#include "codegen/compile/compile.h"
#include "codegen/interpret/interpret.h"
#include "codegen/interpret/verify.h"
#include "codegen/program/kernel_numbers.h"
#include "codegen/program/text.h"
#include "codegen/program/timing.h"
#include "codegen/run/ptx_launch.h"
#include "core/chart/chart_layout.h"
#include "core/formats/schedule_json.h"
#include "core/formats/schema.h"
#include "ptx/launch/launch_json.h"

namespace heddle::app {
namespace {

std::string compiled_text(const codegen::BuiltKernel& kernel, const std::string& arch) {
  const codegen::Compiled& compiled = kernel.compiled;
  const codegen::PtxasReport& report = compiled.report;
  return fmt::format("{}: {} bytes of cubin for {} by {}{}\n{} registers at launch, {} bytes of spills, {} barriers\n{}\n",
                     printable(kernel.program.kernel), compiled.cubin.size(), arch, compiled.compiler,
                     compiled.from_cache ? ", from the cache" : fmt::format(" in {:.2f} s", compiled.seconds), report.registers,
                     report.spill_stores + report.spill_loads, report.barriers, codegen::census_text(compiled.census));
}

std::string compiled_json(const MadeKernel& made, const std::string& arch, const std::vector<codegen::KernelNumber>& both) {
  const codegen::BuiltKernel& kernel = made.built;
  const codegen::Compiled& compiled = kernel.compiled;
  const codegen::PtxasReport& report = compiled.report;
  Json remarks = Json::array();
  for (const std::string& remark : report.remarks) remarks.push(remark);
  Json numbers = Json::array();
  for (const codegen::KernelNumber& number : both)
    numbers.push(Json::object()
                     .set("name", number.name)
                     .set("scheduled", number.scheduled)
                     .set("written", number.written)
                     .set("because", number.because));
  Json cuts = Json::array();
  for (const int cut : kernel.build.cuts) cuts.push(cut);
  const auto iteration = kernel.audit.iteration();
  return Json(Json::Object{{"kernel", kernel.program.kernel},
                           {"arch", arch},
                           {"compiler", compiled.compiler},
                           {"from_cache", compiled.from_cache},
                           {"seconds", compiled.seconds},
                           {"cubin_bytes", compiled.cubin.size()},
                           {"registers", report.registers},
                           {"barriers", report.barriers},
                           {"spill_bytes", report.spill_stores + report.spill_loads},
                           {"stack_bytes", report.stack},
                           {"instructions", compiled.census.instructions},
                           {"wgmma", compiled.census.products()},
                           {"wgmma_waits", compiled.census.product_waits()},
                           {"tcgen05_mma", compiled.census.tensor_products()},
                           {"cuts", std::move(cuts)},
                           {"numbers", std::move(numbers)},
                           {"remarks", std::move(remarks)},
                           {"refusals", refusals_json(kernel.faults)},
                           {"findings", refusals_json(kernel.findings)},
                           {"as_compiled", iteration ? Json(*iteration) : Json()},
                           {"judged", made.judged ? judgement_json(*made.judged) : Json()},
                           {"machine_code", codegen::audit_json(kernel.audit, made.instance.kernel(), kernel.program, kernel.emission)}})
      .pretty();
}

/// With an empty line behind it; empty where no others were looked at.
std::string judged_text(const MadeKernel& made, const TextStyle& style) {
  const std::string text = made.judged ? judgement_text(*made.judged, style) : "";
  return text.empty() ? text : text + "\n";
}

Json refusals_schema(Json& definitions) {
  const Json text = schema::type("string");
  schema::Object refusal(definitions);
  refusal.required("rule", text)
      .required("ops", schema::list(text))
      .required("sentence", text)
      .required("demand", schema::or_null(text), "that avoids it")
      .required("no_demand", schema::or_null(text), "why none does");
  return schema::list(refusal.called("refusal").finish());
}

/// Orders of events that were tried, and what went wrong in the last of them.
struct Tried {
  std::int64_t done = 0;
  std::string found;
};

/// With real data at the kernel's evaluation sizes.
Result<Tried> run_data(const MadeKernel& made, const Arguments& arguments, std::int64_t times, const std::stop_token& stop,
                       ProgressLine& progress) {
  auto given = parse_params(arguments);
  if (!given.ok()) return given.error();
  const auto seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(1));
  const codegen::DataRequest request{made.instance, *given, made.schedule, build_options(arguments), seed, times};
  progress.show({"computing what every element is"});
  const auto check = codegen::verify_with_data(
      request, stop, [&](std::int64_t done) { progress.show({fmt::format("{} of {} interleavings", done, times)}); });
  if (!check.ok()) return check.error();
  return Tried{check->done, check->sentence()};
}

std::int64_t tiles_of(const Arguments& arguments) { return arguments.integer("--tiles").value_or(2); }

/// With names instead of data.
Tried run_names(const MadeKernel& made, const Arguments& arguments, std::int64_t times, const std::stop_token& stop,
                ProgressLine& progress) {
  const auto seed = static_cast<std::uint64_t>(arguments.integer("--seed").value_or(0));
  Tried tried;
  while (tried.done < times && tried.found.empty()) {
    if (tried.done % 16 == 0) progress.show({fmt::format("{} of {} interleavings", tried.done, times)});
    const auto fault = codegen::run_symbolic(made.instance.kernel(), made.built.program,
                                             {seed + static_cast<std::uint64_t>(tried.done), tiles_of(arguments), stop});
    if (fault) tried.found = fmt::format("interleaving {}: {}", tried.done, codegen::to_string(*fault));
    if (!fault && stop.stop_requested()) break;
    ++tried.done;
  }
  return tried;
}

}  // namespace

Json compile_schema() {
  return schema::line("heddle.compile/1", "What heddle compile answers", [](schema::Object& root) {
    Json& definitions = root.definitions();
    const Json text = schema::type("string"), count = schema::count();
    schema::Object number(definitions);
    number.required("name", text).required("scheduled", text).required("written", text).required("because", text);
    root.required("kernel", text)
        .required("arch", text)
        .required("compiler", text)
        .required("from_cache", schema::type("boolean"))
        .required("seconds", schema::real())
        .required("cubin_bytes", count)
        .required("registers", count, "per thread at launch")
        .required("barriers", count)
        .required("spill_bytes", count)
        .required("stack_bytes", count)
        .required("instructions", count)
        .required("wgmma", count)
        .required("wgmma_waits", count)
        .required("tcgen05_mma", count)
        .required("cuts", schema::list(count), "of the roles' loops")
        .required("numbers", schema::list(number.finish()), "that the text has otherwise than the schedule")
        .required("remarks", schema::list(text), "of ptxas")
        .required("refusals", refusals_schema(definitions), "what ptxas has against it")
        .required("findings", refusals_schema(definitions), "what the audit has against it")
        .required("as_compiled", schema::or_null(count), "cycles of an iteration by the machine code; predicted")
        .required("judged", schema::or_null(judgement_schema(definitions)), "beside others, where it is the program that chooses")
        .required("machine_code", codegen::machine_code_schema(definitions))
        .open();
  });
}

/// How the text is launched, as a file. Its PTX is taken to lie beside the text: nvcc makes x.ptx of x.cu.
static int write_launch(const std::string& path, const std::string& text_path, const MadeKernel& made, const Terminal& terminal) {
  namespace fs = std::filesystem;
  Result<ptx::Launch> launch =
      codegen::ptx_launch(made.instance.kernel(), made.built.program.params, made.built.emission, made.instance.machine().sm_count);
  if (!launch) return report(terminal, launch.error(), false);
  if (text_path != "-")
    launch->ptx = fs::path(text_path).replace_extension(".ptx").lexically_proximate(fs::path(path).parent_path()).string();
  return write_text(terminal, path, ptx::launch_text(*launch));
}

int run_emit(const Arguments& arguments, const Terminal& terminal) {
  const std::string launch = arguments.text("--launch").value_or("");
  if (!launch.empty() && (package_format(arguments) || arguments.has("--program")))
    return refuse(terminal, "a launch is of the text: leave --launch, or --format and --program, out", false);
  if (const auto format = package_format(arguments)) return emit_package(*format, arguments, terminal);
  const std::string path = arguments.text("--out").value_or("-"), schedule = arguments.text("--schedule").value_or("");
  for (const std::string* file : {&path, &schedule, &launch})
    if (!file->empty())
      if (const int failed = expect_writable(terminal, *file, false)) return failed;
  int code = kDone;
  const bool steps = arguments.has("--program");
  const bool compiled = !steps && !arguments.has("--no-compile") && !arguments.has("--cut") && codegen::find_compiler().ok();
  const auto made = make_kernel(arguments, terminal,
                                steps      ? KernelGoal::Program
                                : compiled ? KernelGoal::Compiled
                                           : KernelGoal::Text,
                                {codegen::Compiler::Auto, codegen::default_cache()}, code);
  if (!made) return code;
  for (const auto* against : {&made->built.faults, &made->built.findings})
    for (const codegen::Refusal& refusal : *against) terminal.note(fmt::format("{}: {}", refusal.rule, printable(refusal.sentence)));
  if (!schedule.empty())
    if (const int failed = write_text(terminal, schedule, schedule_text(made->instance.problem(), made->schedule))) return failed;
  if (!launch.empty())
    if (const int failed = write_launch(launch, path, *made, terminal)) return failed;
  TextStyle style = terminal.style;
  if (path != "-") style.color = false;
  const int failed = write_text(
      terminal, path, steps ? codegen::program_page(made->instance.kernel(), made->built.program, style) : made->built.emission.source);
  return failed ? failed : steps ? kDone : code;
}

int run_compile(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json");
  const std::string path = arguments.text("--out").value_or(""), cuda = arguments.text("--cuda").value_or(""),
                    schedule = arguments.text("--schedule").value_or("");
  for (const std::string* file : {&path, &cuda, &schedule})
    if (!file->empty())
      if (const int failed = expect_writable(terminal, *file, json)) return failed;
  codegen::CompileOptions options;
  options.compiler = compiler_of(arguments);
  if (!arguments.has("--no-cache")) options.cache = codegen::default_cache();
  if (const auto compiler = codegen::find_compiler(options.compiler); !compiler.ok()) return report(terminal, compiler.error(), json);
  int code = kDone;
  const auto made = make_kernel(arguments, terminal, KernelGoal::Compiled, options, code);
  if (!made) return code;
  const codegen::BuiltKernel& kernel = made->built;
  const std::string arch = arch_of(kernel.program.arch, arguments);
  const auto numbers = codegen::kernel_numbers(made->instance.problem(), made->schedule, kernel.program, kernel.emission.launch.smem_bytes);
  if (json)
    terminal.out << compiled_json(*made, arch, numbers);
  else if (!terminal.quiet)
    terminal.out << compiled_text(kernel, arch) << "\n"
                 << codegen::kernel_numbers_text(numbers, terminal.style.width) << "\n"
                 << judged_text(*made, terminal.style)
                 << codegen::audit_text(kernel.audit, made->instance.kernel(), kernel.program, kernel.emission);
  for (const std::string& remark : kernel.compiled.report.remarks) terminal.note(printable(remark));
  complain_of(kernel.faults, terminal);
  complain_of(kernel.findings, terminal);
  for (const auto& [file, text] : {std::pair{&path, kernel.compiled.cubin},
                                   {&cuda, kernel.emission.source},
                                   {&schedule, schedule_text(made->instance.problem(), made->schedule)}})
    if (!file->empty())
      if (const int written = write_text(terminal, *file, text)) return written;
  return arguments.has("--allow") || (kernel.faults.empty() && kernel.findings.empty()) ? code : kKernelFailed;
}

/// What the program's steps take in sequence, beside what the schedule says. Programs with turns on the tensor core are not timed.
std::string period_text(const codegen::ProgramPeriod& period, Cycle ii) {
  if (period.iterations == 0) return "";
  return fmt::format("period of the program with the machine's costs: {} cycles per iteration, II {}\n",
                     grouped(static_cast<Cycle>(period.period() + 0.5)), grouped(ii));
}

int run_interpret(const Arguments& arguments, const Terminal& terminal) {
  const bool json = arguments.has("--json"), data = arguments.has("--data");
  int code = kDone;
  const auto made = make_kernel(arguments, terminal, KernelGoal::Program, {}, code);
  if (!made) return code;
  const codegen::Program& program = made->built.program;
  const std::int64_t times = arguments.integer("--interleavings").value_or(data ? 3 : 1000);
  const InterruptScope interrupt(arguments.deadline());
  const auto tried = [&]() -> Result<Tried> {
    ProgressLine progress(terminal);
    if (data) return run_data(*made, arguments, times, interrupt.token(), progress);
    return run_names(*made, arguments, times, interrupt.token(), progress);
  }();
  if (!tried.ok()) return report(terminal, tried.error(), json);
  const auto& [done, found] = *tried;
  const codegen::ProgramPeriod period =
      program.turns ? codegen::ProgramPeriod()
                    : codegen::program_period(made->instance.kernel(), made->instance.problem(), made->schedule, program);
  const bool all = done == times || !found.empty();
  if (!all) {
    terminal.complain(
        fmt::format("{}: {} of {} interleavings, no fault in them", interrupt.timed_out() ? "time is up" : "interrupted", done, times));
    code = interrupt.timed_out() ? kNoProof : kInterrupted;
  }
  if (json)
    terminal.out << Json(Json::Object{{"kernel", program.kernel},
                                      {"roles", program.roles.size()},
                                      {"trips", program.trips},
                                      {"interleavings", done},
                                      {"asked", times},
                                      {"data", data},
                                      {"period", period.iterations > 0 ? Json(period.period()) : Json()},
                                      {"ii", made->schedule.ii},
                                      {"fault", found.empty() ? Json() : Json(found)}})
                        .pretty();
  else if (!found.empty())
    terminal.out << as_called(found) << "\n";
  else if (all && !terminal.quiet)
    terminal.out << (data ? fmt::format("{}: {} with data, every element as {} eval computes it\n", printable(program.kernel),
                                        count_of(times, "interleaving"), program_called())
                          : fmt::format("{}: {} of {} roles over {}, {} trips each: no deadlock, no race\n", printable(program.kernel),
                                        count_of(times, "interleaving"), program.roles.size(), count_of(tiles_of(arguments), "tile"),
                                        program.trips))
                 << period_text(period, made->schedule.ii);
  return found.empty() ? code : kNegative;
}

}  // namespace heddle::app
