#include "core/library/triton_text.h"

#include <fmt/format.h>

#include <filesystem>

#include "core/kernel/subtile.h"
#include "core/library/library.h"

namespace heddle {
namespace {

namespace fs = std::filesystem;

/// What metadata and text say differently.
std::vector<std::string> contradictions(const triton::Program& program) {
  std::vector<std::string> notes;
  const triton::Metadata& data = program.metadata;
  const auto differs = [&](const char* what, std::optional<std::int64_t> said, std::int64_t is) {
    if (said && *said != is)
      notes.push_back(fmt::format("{} says {} {}, the text {}: they do not belong together", data.file, what, *said, is));
  };
  differs("target", data.target, program.target);
  differs("num_warps", program.form == triton::Form::Final ? std::nullopt : data.num_warps, program.num_warps);
  return notes;
}

/// Bytes of shared memory that a block may have, by compute capability (CUDA C++ programming guide, technical specifications).
std::int64_t shared_limit(int target) {
  switch (target) {
    case 70:
    case 72: return 98'304;
    case 75: return 65'536;
    case 80:
    case 87: return 166'912;
    case 86:
    case 89:
    case 120:
    case 121: return 101'376;
    default: return target >= 90 && target < 120 ? 232'448 : 0;
  }
}

}  // namespace

bool names_triton(const std::string& name) {
  std::error_code code;
  const std::string path = fs::exists(name, code) ? name : name.substr(0, name.rfind('#'));
  if (path.empty() || !fs::exists(path, code)) return false;
  return triton::is_triton(name) || path.ends_with(".ttgir") || fs::is_directory(path, code);
}

std::optional<triton::Reading> reading_in(const std::string& name) {
  const Result<triton::Address> address = triton::parse_address(name);
  return address ? address->reading : std::nullopt;
}

std::string with_reading(const std::string& name, triton::Reading reading) {
  const Result<triton::Address> address = triton::parse_address(name);
  if (!address) return name;
  triton::Address with = *address;
  with.reading = reading;
  return triton::to_string(with);
}

Result<triton::Program> read_triton_program(const std::string& name) {
  const Result<triton::Address> address = triton::parse_address(name);
  return address ? triton::read_program(*address) : address.error();
}

Result<TritonText> read_triton(const std::string& name, triton::Reading otherwise) {
  const Result<triton::Address> address = triton::parse_address(name);
  if (!address) return address.error();
  Result<triton::Program> program = triton::read_program(*address);
  if (!program) return program.error();
  const Result<const triton::LoopSite*> loop = triton::find_loop(*program, *address);
  if (!loop) return loop.error();
  TritonText text;
  text.name = name;
  text.reading = address->reading.value_or(otherwise);
  text.loop = static_cast<std::size_t>(*loop - program->loops.data());
  Result<triton::Native> native = triton::to_native(*program, **loop, text.reading);
  if (!native) return native.error();
  text.notes = contradictions(*program);
  text.notes.insert(text.notes.end(), native->notes.begin(), native->notes.end());
  text.kernel = native->kernel;
  if (text.reading == triton::Reading::Free && native->cut.factor > 1) {
    if (Result<Kernel> cut = subtile(text.kernel, native->cut))
      text.kernel = *std::move(cut);
    else
      text.notes.push_back(fmt::format("its tiles are not cut by {}, one part for each warp group: {}", native->cut.factor,
                                       cut.error().faults.empty() ? "they cannot be" : cut.error().faults.front().message));
  }
  text.kernel.source = name;  // with what of the file is meant
  text.native = *std::move(native);
  text.program = *std::move(program);
  return text;
}

Result<Machine> read_triton_machine(const std::string& name) {
  const Result<triton::Program> program = read_triton_program(name);
  if (!program) return program.error();
  const Result<std::string> machine = triton::machine_for(*program);
  return machine ? load_machine(*machine) : machine.error();
}

Machine limits_of_target(const triton::Program& program) {
  if (const Result<std::string> name = triton::machine_for(program))
    if (Result<Machine> machine = load_machine(*name)) return *std::move(machine);
  Machine machine;
  machine.name = fmt::format("sm_{}", program.target);
  machine.arch = machine.name;
  machine.limits.smem_bytes = shared_limit(program.target);
  return machine;
}

}  // namespace heddle
