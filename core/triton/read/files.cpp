#include "core/triton/read/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "core/base/scanner.h"
#include "core/base/split.h"
#include "core/triton/read/found_texts.h"
#include "core/triton/read/offers.h"

namespace heddle::triton {
namespace {

constexpr std::size_t kMostNamesLookedAt = 4'000;

bool is_there(const std::string& path) {
  std::error_code code;
  return std::filesystem::exists(path, code);
}

bool folder_has_texts(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code code;
  std::size_t looked = 0;
  fs::recursive_directory_iterator at(path, fs::directory_options::skip_permission_denied, code);
  for (const fs::recursive_directory_iterator end; !code && at != end && ++looked <= kMostNamesLookedAt; at.increment(code)) {
    if (at.depth() >= 1) at.disable_recursion_pending();
    if (at->path().extension() == ".ttgir") return true;
  }
  return false;
}

/// "12:3" of a text that begins on line 100 of its file is "111:3" there.
std::string moved_pointer(const std::string& pointer, std::size_t lines) {
  std::size_t line = 0;
  const auto [end, trouble] = std::from_chars(pointer.data(), pointer.data() + pointer.size(), line);
  if (trouble != std::errc{} || end == pointer.data()) return pointer;
  return std::to_string(line + lines) + std::string(end, pointer.data() + pointer.size());
}

}  // namespace

Result<TextAddress> parse_address(const std::string& name) {
  TextAddress address;
  const std::size_t mark = name.rfind('#');
  if (mark == std::string::npos || is_there(name)) {
    address.path = name;
    return address;
  }
  address.path = name.substr(0, mark);
  Error error;
  for (const std::string& word : split(std::string_view(name).substr(mark + 1), ',')) {
    if (word.empty()) continue;
    const auto number = read_number<int>(word);
    const bool digits = std::ranges::all_of(word, is_digit);
    if (digits && !number) {
      error.faults.push_back({address.path, {}, fmt::format("'{}' after # is no number of a loop", word), {}});
    } else if (digits) {
      if (address.loop) error.faults.push_back({address.path, {}, "two loops are named after #", {}});
      address.loop = number;
    } else if (const auto reading = parse_reading(word)) {
      if (address.reading && address.reading != reading) error.faults.push_back({address.path, {}, "two readings are named after #", {}});
      address.reading = reading;
    } else {
      address.words.push_back(word);
    }
  }
  if (!error.faults.empty()) return error;
  return address;
}

std::string to_string(const TextAddress& address) {
  std::string words;
  const auto add = [&](const std::string& word) { words += (words.empty() ? "#" : ",") + word; };
  for (const std::string& word : address.words) add(word);
  if (address.loop) add(std::to_string(*address.loop));
  if (address.reading) add(to_string(*address.reading));
  return address.path + words;
}

bool is_triton(const std::string& name) {
  const std::string path = is_there(name) ? name : name.substr(0, name.rfind('#'));
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) return folder_has_texts(path);
  const std::string head = head_of(path, kHeadBytes);
  return begins_like_text(head) || begins_like_trace(head);
}

Result<TritonProgram> read_program(const TextAddress& address) {
  const Result<std::vector<FoundText>> texts = find_texts(address.path);
  if (!texts) return texts.error();
  const Result<const FoundText*> found = choose_text(*texts, address);
  if (!found) return found.error();
  Result<LoadedText> loaded = load_text(**found);
  if (!loaded) return loaded.error();
  const bool layouts = has_layouts(loaded->text);
  const bool in_log = !(*found)->pass.empty();
  Result<mlir::Module> module = mlir::parse(std::move(loaded->text), address.path);
  const auto in_file = [&](Error error) {
    for (Fault& fault : error.faults) {
      if (in_log) fault.pointer = moved_pointer(fault.pointer, (*found)->line - 1);
      if (!(*found)->loaded) fault.file = (*found)->path;
    }
    return error;
  };
  if (!module) return in_file(module.error());
  if (!layouts && !module->functions.empty())
    return Error::in_file(address.path, "this text has no layouts: it was printed before Triton chose any (TTIR)",
                          "open the .ttgir beside it, or a later pass of the log");
  Result<TritonProgram> program = make_program(*std::move(module), std::move(loaded->metadata), (*found)->pass);
  if (!program) return in_file(program.error());
  return program;
}

Result<const LoopSite*> find_loop(const TritonProgram& program, const TextAddress& address) {
  const std::string hint = "it has " + list_loops(program);
  if (address.loop) {
    for (const LoopSite& loop : program.loops)
      if (loop.number == *address.loop) return &loop;
    if (program.loops.empty())
      return Error::in_file(address.path, fmt::format("there is no loop {}: the kernel {} has no loop", *address.loop, program.kernel));
    return Error::in_file(address.path, fmt::format("there is no loop {}", *address.loop), hint);
  }
  if (const LoopSite* loop = usual_loop(program)) return loop;
  if (program.loops.empty())
    return Error::in_file(address.path, fmt::format("the kernel {} has no loop: there is nothing to pipeline", program.kernel));
  std::string message = fmt::format("no loop of the kernel {} can be scheduled", program.kernel);
  if (program.loops.size() == 1)
    message = fmt::format("the loop of the kernel {} at line {} cannot be scheduled: {}", program.kernel, program.loops[0].line,
                          program.loops[0].why_not);
  std::string better;
  if (!program.pass.empty() && (program.form == TextForm::Specialized || program.form == TextForm::Final))
    if (const Result<std::vector<FoundText>> texts = find_texts(address.path)) {
      // The last text of the same kernel that still has its schedule in one loop.
      for (const FoundText& text : *texts)
        if (text.kernel == program.kernel && text.text.find("ttg.warp_specialize(") == std::string::npos &&
            text.text.find("loop.stage = ") != std::string::npos)
          better = address_words(text, *texts);
    }
  if (!better.empty())
    return Error::in_file(address.path, std::move(message), fmt::format("its schedule is in {}#{}", address.path, better));
  return Error::in_file(address.path, std::move(message), program.loops.size() == 1 ? std::string() : hint);
}

Result<std::string> machine_for(const TritonProgram& program) {
  switch (program.target) {
    case 90: return std::string("h100");
    case 100:
    case 103: return std::string("b200");
    default: break;
  }
  return Error::in_file(program.file, fmt::format("no machine that is shipped has the text's target, sm_{}", program.target),
                        program.target < 90
                            ? "name a machine; h100 is the oldest that is shipped, and its tensor cores take other instructions"
                            : "name a machine, such as b200, or a machine file of your own");
}

}  // namespace heddle::triton
