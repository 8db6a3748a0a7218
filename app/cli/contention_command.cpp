// heddle calibrate --contention: what warp groups take from each other, beside the numbers of the machine file.
#include <cstring>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "app/cli/micro_run.h"
#include "app/command/exit_code.h"
#include "codegen/calibrate/contention.h"
#include "core/answers/contention_table.h"
#include "core/base/version.h"
#include "core/formats/contention_readings_json.h"

namespace heddle::app {
namespace {

using codegen::ContentionKernel;

std::vector<std::uint64_t> words_of(const std::vector<std::uint8_t>& bytes) {
  std::vector<std::uint64_t> words(bytes.size() / 8);
  std::memcpy(words.data(), bytes.data(), 8 * words.size());
  return words;
}

}  // namespace

int run_contention(const Machine& machine, const Arguments& arguments, const Terminal& terminal) {
  if (arguments.has("--on")) return refuse(terminal, "micro-kernels of contention run here: leave --on out, or run heddle there", false);
  if (!machine.arch.starts_with("sm_90"))
    return refuse(terminal, fmt::format("the micro-kernels of contention are wgmma's, and {} has none", printable(machine.name)), false);
  const std::string what = *arguments.text("--contention");
  const std::vector<ContentionKernel> kernels = codegen::contention_kernels(what == "all" ? std::string() : what);
  std::vector<codegen::MicroKernel> micros;
  for (const ContentionKernel& kernel : kernels) micros.push_back(kernel.micro);
  if (const auto folder = arguments.text("--emit-only")) return emit_micros(micros, machine, arguments, *folder, terminal);

  int code = kDone;
  const std::optional<MicroRun> run = run_micros(micros, machine, arguments, terminal, code);
  if (!run) return code;
  std::vector<codegen::ContentionTimes> times;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const std::vector<std::uint8_t>* bytes = run->words(k);
    times.push_back(
        {&kernels[k], bytes ? words_of(*bytes) : std::vector<std::uint64_t>{}, codegen::counted_work(kernels[k], run->compiled[k].cubin)});
  }
  ContentionReadings found;
  found.machine = machine.name;
  found.device = run->where();
  found.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  found.heddle = version();
  found.command = arguments.command_line;
  found.readings = codegen::read_contention(times, machine.contention);
  if (found.readings.empty()) {
    terminal.complain("the micro-kernels of contention wrote no times");
    return kKernelFailed;
  }
  const std::string path = arguments.text("--out").value_or("-");
  if (const int failed = write_text(terminal, path, contention_text(found))) return failed;
  if (!terminal.quiet)
    (path == "-" ? terminal.err : terminal.out)
        << contention_headline(found.readings) << "\nmeasured on " << printable(found.device) << "\n"
        << contention_table(found.readings);
  return kDone;
}

}  // namespace heddle::app
