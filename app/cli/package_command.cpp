#include "app/cli/package_command.h"

#include <fmt/format.h>

#include "app/cli/inputs.h"
#include "app/cli/lowering.h"
#include "app/command/called.h"
#include "app/command/exit_code.h"
#include "app/jobs/package_job.h"
#include "codegen/compile/compile.h"
#include "core/base/text_style.h"
#include "core/formats/schedule_json.h"
#include "core/library/library.h"
#include "core/library/source.h"

namespace heddle::app {
namespace {

/// "nvcc 13.0.88: clean, 168 registers at launch". Where it is found does not matter to who reads it elsewhere.
std::string compiler_sentence(const std::string& found, const Result<codegen::Compiled>& compiled, const codegen::Program& program) {
  const std::string name = found.substr(0, found.find(" at "));
  if (!compiled.ok()) return fmt::format("{}: does not compile it", name);
  const codegen::PtxasReport& report = compiled->report;
  const auto faults = codegen::judge(report, program);
  std::string text = fmt::format("{}: {}, {} registers at launch, {} bytes of spills", name, faults.empty() ? "clean" : "not clean",
                                 report.registers, report.spill_stores + report.spill_loads);
  for (const codegen::Refusal& fault : faults) text += "; " + fault.sentence;
  return text;
}

/// What each compiler that is here makes of the text.
std::vector<std::string> compiler_sentences(const MadeKernel& made) {
  std::vector<std::string> sentences;
  for (const codegen::Compiler compiler : {codegen::Compiler::Nvcc, codegen::Compiler::Nvrtc}) {
    const auto found = codegen::find_compiler(compiler);
    if (!found.ok()) continue;
    codegen::CompileOptions options{compiler, codegen::default_cache()};
    options.arch = made.built.program.arch;
    sentences.push_back(compiler_sentence(*found, codegen::compile_cuda(made.built.emission.source, options), made.built.program));
  }
  return sentences;
}

/// What is asked for and makes no package; empty: nothing.
std::string why_no_package(const Arguments& arguments) {
  if (arguments.has("--program")) return "a package has no steps in words: leave --program or --format out";
  if (arguments.text("--records").value_or("none") != "none") return "a package's kernel reads no clocks: leave --records or --format out";
  if (arguments.has("--trips")) return "a package's kernel computes all that its sizes say: leave --trips or --format out";
  return arguments.text("--out").value_or("-") == "-" ? "a package needs a folder: --out DIR" : "";
}

/// A package asked for without sizes is written for sizes that need every op of the kernel (general_sizes()), so that it serves all sizes.
struct Question {
  Arguments arguments;
  std::vector<std::string> chosen;  ///< a sentence for each size that was chosen here
};

/// Where the kernel or its parameters cannot be read, the question stays as it is: make_kernel() reads them again and reports the fault.
Question with_general_sizes(const Arguments& arguments) {
  Question question{arguments, {}};
  if (arguments.has("--sizes") || arguments.has("SCHEDULE") || is_project(arguments.source()->name())) return question;
  const Result<Kernel> kernel = arguments.source()->kernel();
  const Result<Scope> given = parse_params(arguments);
  if (!kernel || !given) return question;
  const Result<Scope> sizes = general_sizes(*kernel, *given);
  if (!sizes) return question;
  std::vector<std::string> words = arguments.all("--param");
  for (const auto& [name, value] : *sizes) {
    words.push_back(fmt::format("{}={}", name, value));
    question.chosen.push_back(
        fmt::format("written with {0}={1}, so that it serves every {0}; with --param {0}={2} it serves whole steps only", name, value,
                    kernel->find_param(name)->value));
  }
  if (!sizes->empty()) question.arguments.set("--param", std::move(words));
  return question;
}

/// With what the command line may do about it.
int refuse_folder(const Terminal& terminal, Error error, const std::string& folder, bool force) {
  if (!force && codegen::check_package_folder(folder, true).ok())
    for (Fault& fault : error.faults)
      if (!fault.hint.empty()) fault.hint += ", or write over them with --force";
  return report(terminal, error, false);
}

}  // namespace

std::optional<codegen::PackageFormat> package_format(const Arguments& arguments) {
  const std::string format = arguments.text("--format").value_or("text");
  if (format == "package") return codegen::PackageFormat::Cuda;
  if (format == "torch") return codegen::PackageFormat::Torch;
  return std::nullopt;  // --format of other commands, too
}

int emit_package(codegen::PackageFormat format, const Arguments& words, const Terminal& terminal) {
  Question question = with_general_sizes(words);
  const Arguments& arguments = question.arguments;
  if (const std::string reason = why_no_package(arguments); !reason.empty()) return refuse(terminal, reason, false);
  const std::string folder = *arguments.text("--out"), schedule = arguments.text("--schedule").value_or("");
  const bool force = arguments.has("--force");
  if (const auto fits = codegen::check_package_folder(folder, force); !fits.ok())
    return refuse_folder(terminal, fits.error(), folder, force);
  if (!schedule.empty())
    if (const int failed = expect_writable(terminal, schedule, false)) return failed;
  // Packages are built by nvcc: loops are cut as suits it, where it is here.
  const codegen::Compiler compiler =
      codegen::find_compiler(codegen::Compiler::Nvcc).ok() ? codegen::Compiler::Nvcc : codegen::Compiler::Auto;
  const bool compiles = !arguments.has("--no-compile") && codegen::find_compiler(compiler).ok();
  int code = kDone;
  const auto make = [&] {
    code = kDone;
    return make_kernel(arguments, terminal, compiles && !arguments.has("--cut") ? KernelGoal::Compiled : KernelGoal::Text,
                       {compiler, codegen::default_cache()}, code);
  };
  auto made = make();
  // The text has one size after all: then it is the user's, not one that was chosen here.
  if (made && !made->built.emission.launch.sizes && !question.chosen.empty()) {
    question = {words, {}};
    made = make();
  }
  if (!made) return code;
  for (const std::string& sentence : question.chosen) terminal.note(sentence);
  for (const auto* against : {&made->built.faults, &made->built.findings})
    for (const codegen::Refusal& refusal : *against) terminal.note(fmt::format("{}: {}", refusal.rule, printable(refusal.sentence)));
  codegen::PackageSubject subject{made->instance.kernel(), made->instance.problem(), made->schedule,
                                  made->built.program,     made->built.emission,     arguments.command_line};
  if (compiles) subject.compilers = compiler_sentences(*made);
  if (const auto predicted = prediction_of_run(arguments, *made)) subject.predicted_us = predicted->microseconds;
  if (!made->built.emission.launch.sizes && !arguments.has("--sizes")) {
    subject.why_fixed_sizes =
        written_for_most_sizes({made->instance.kernel(), made->instance.problem(), made->schedule}, made->built.build).why_fixed_sizes;
    if (!subject.why_fixed_sizes.empty()) terminal.note("all sizes are fixed: " + printable(subject.why_fixed_sizes));
  }
  const std::vector<codegen::PackageFile> files = codegen::package_files(format, subject);
  if (const auto written = codegen::write_package(files, folder, force); !written.ok())
    return refuse_folder(terminal, written.error(), folder, force);
  if (!schedule.empty())
    if (const int failed = write_text(terminal, schedule, schedule_text(made->instance.problem(), made->schedule))) return failed;
  if (!terminal.quiet)
    terminal.out << fmt::format("{} in {}: heddle_{}_run(); README.md says how it is built and called\n",
                                count_of(static_cast<std::int64_t>(files.size()), "file"), printable(folder),
                                codegen::package_name(subject));
  return code;
}

}  // namespace heddle::app
