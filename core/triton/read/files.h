// Triton's texts where a kernel is expected: a `.ttgir` file, a log of MLIR_ENABLE_DUMP=1, a folder of Triton's cache or of its kernel
// dump, a tritonparse log - or FILE#WORDS, where words, separated by commas, say what of it is meant: a pass of a log
// ("#tritongpu-schedule-loops", "#tritongpu-schedule-loops:2" its second run), a kernel by name, a loop by its number ("#0"), a reading
// ("#triton", "#free").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/triton/read/program.h"

namespace heddle::triton {

struct TextAddress {
  std::string path;
  std::optional<int> loop;
  std::optional<TextReading> reading;
  std::vector<std::string> words;  ///< names of passes and kernels
};

/// A file whose very name has the mark is that file.
Result<TextAddress> parse_address(const std::string& name);
/// The way back: FILE#WORDS,LOOP,READING.
std::string to_string(const TextAddress& address);

/// Whether the name leads to something readable that holds a Triton text: told by content, not by its ending. Cheap: looks at the first
/// kilobytes of a file and at the names in a folder.
bool is_triton(const std::string& name);

/// One of the texts that a file or folder offers.
struct Offer {
  std::string words;  ///< what to write after # to mean it; empty: it is the only one
  std::string title;  ///< "before tritongpu-pipeline", "attention_forward (sm_90)"
  std::string kernel;
  std::string detail;  ///< "scheduled, 8 warps", or why it cannot be read
  bool usual = false;  ///< what is taken when nothing is said: of a log, the last before `tritongpu-pipeline`
};
/// Everything in it; a fault when the path cannot be read or holds nothing.
Result<std::vector<Offer>> list_offers(const std::string& path);

/// The text that is meant, parsed. Faults: several kernels and none named (they are listed), unknown words, what cannot be parsed.
Result<TritonProgram> read_program(const TextAddress& address);
/// The loop that is meant, or the usual one; a fault that lists all when there is none to take, with the reason.
Result<const LoopSite*> find_loop(const TritonProgram& program, const TextAddress& address);

/// "h100", "b200": the shipped machine for a target; a fault for other targets.
Result<std::string> machine_for(const TritonProgram& program);

}  // namespace heddle::triton
