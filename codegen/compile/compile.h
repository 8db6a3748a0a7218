// From generated text to a cubin for the architecture that it is written for: NVRTC, opened at run time so that the program starts without
// it, or nvcc as a child process. Results are kept in a cache named by content, so that the same text is compiled once.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "codegen/compile/ptxas_log.h"
#include "codegen/machine_code/census.h"
#include "codegen/machine_code/instructions.h"
#include "core/base/result.h"

namespace heddle::codegen {

enum class Compiler { Auto, Nvrtc, Nvcc };  ///< Auto: NVRTC, else nvcc

struct CompileOptions {
  Compiler compiler = Compiler::Auto;
  std::string cache;  ///< folder; empty: no cache
  /// Gets the entries of the cache that were made or used, as paths without endings: with them another machine needs no compiler for the
  /// same kernels (HEDDLE_CUBINS).
  std::vector<std::string>* entries = nullptr;
  std::string arch = "sm_90a";  ///< Program::arch, or one of its family ("sm_100f", "sm_103a")
  std::stop_token stop{};       ///< ends the compiler early where it can be ended: nvcc at once, NVRTC from 13.0 on within a second or two
};

struct Compiled {
  std::string cubin;  ///< an ELF file
  std::string log;
  std::string compiler;  ///< "NVRTC 13.0", "nvcc"
  PtxasReport report;
  std::vector<MachineInstruction> code;
  Census census;  ///< of it
  double seconds = 0;
  bool from_cache = false;
};

/// What lies in the folder HEDDLE_CUBINS is taken as it is, whatever compiler there is here; its file `compiler` says what made it.
/// Several threads may ask at once, each with `entries` of its own.
/// Environment errors: no compiler, in one sentence with the places looked at; it was stopped. Input errors: the text does not compile; the
/// first lines of the log.
Result<Compiled> compile_cuda(const std::string& source, const CompileOptions& options = {});

/// The compiler that Auto would take, "NVRTC 13.0"; an environment error when there is none.
Result<std::string> find_compiler(Compiler wanted = Compiler::Auto);

/// Of an entry: CUDA text, the compiler's log, cubin.
inline constexpr const char* kEntryEndings[] = {".cu", ".log", ".cubin"};

/// $XDG_CACHE_HOME/heddle/kernels, else ~/.cache/heddle/kernels; empty when neither is known.
std::string default_cache();

}  // namespace heddle::codegen
