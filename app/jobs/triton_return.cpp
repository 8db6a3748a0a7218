#include "app/jobs/triton_return.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/command/arguments.h"
#include "core/base/text_style.h"
#include "core/library/library.h"

namespace heddle::app {
namespace {

/// As a string of Python.
std::string python_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

}  // namespace

Result<triton::GivenBack> own_given_back(const triton::TritonProgram& program, const triton::LoopSite& loop, const Machine& machine) {
  if (const auto broken = triton::broken_rules(program, loop, machine); !broken.empty()) return triton::refusal(program, broken);
  triton::GivenBack given;
  given.text = program.module->text;
  given.memory = triton::memory_of(program);
  return given;
}

std::vector<std::string> first_changes(const triton::GivenBack& given, std::size_t most) {
  std::vector<std::string> lines;
  for (const std::string& change : given.changes)
    if (lines.size() < most) lines.push_back(printable(change));
  if (given.changes.size() > most) lines.push_back(fmt::format("... and {} more", given.changes.size() - most));
  return lines;
}

std::string predicted(const triton::TritonMemory& before, const triton::TritonMemory& after, const Machine& machine, NumberText number) {
  const char* perhaps = after.unsure.empty() ? "" : "perhaps ";
  const auto from_to = [&](std::int64_t was, std::int64_t is) { return (was == is ? "" : number(was) + " -> ") + perhaps + number(is); };
  std::string text = fmt::format("predicted: shared memory {} of {} bytes", from_to(before.shared_bytes, after.shared_bytes),
                                 number(machine.limits.smem_bytes));
  if (before.tmem_columns > 0 || after.tmem_columns > 0)
    text += fmt::format(", tensor memory {} of {} columns", from_to(before.tmem_columns, after.tmem_columns),
                        number(machine.limits.tmem_columns));
  // How many warps partitions get in the end is Triton's to decide: a change that may not come is not said.
  if (after.warps > 0)
    text += ", " + (after.unsure.empty() ? from_to(before.warps, after.warps) : perhaps + number(after.warps)) +
            (after.warps == 1 ? " warp" : " warps");
  return after.unsure.empty() ? text : text + "; may differ, in bytes and in warps: " + after.unsure;
}

std::string python_folder() {
  const Result<std::string> folder = library_file("scripts");
  return folder.ok() ? *folder : std::string();
}

std::string command_of(triton::NextStep step, const std::string& name, const std::string& machine) {
  const std::string on = machine.empty() ? "" : " " + machine;
  const auto by = [&](const char* reading) { return name + (name.find('#') == std::string::npos ? "#" : ",") + reading + on; };
  switch (step) {
    case triton::NextStep::GivenBack:
      return fmt::format("heddle solve {} --out best.json && heddle export {} best.json -o best.ttgir", by("triton"), name + on);
    case triton::NextStep::Cuda: return "heddle emit " + by("free");
    case triton::NextStep::Python: return fmt::format("heddle export {} --format python", name);
  }
  return {};
}

std::string finish_command(const std::string& ttgir, int target) {
  namespace fs = std::filesystem;
  constexpr const char* kScript = "heddle_triton.py";
  std::error_code code;
  const fs::path there = fs::path(python_folder()) / kScript, from_here = fs::proximate(there, code);
  const bool below = !code && *from_here.begin() != "..";
  const std::string script = !fs::exists(there, code) ? kScript : (below ? from_here : there).string();
  return fmt::format("python3 {} finish {} --target sm_{}", shell_word(script), shell_word(ttgir), target);
}

std::string use_line(const std::string& folder) {
  return fmt::format("import heddle_triton; heddle_triton.use({})", python_string(folder));
}

}  // namespace heddle::app
