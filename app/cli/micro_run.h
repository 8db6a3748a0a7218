// Micro-kernels compiled and run: what heddle calibrate does with those that cost instructions, and with those of contention.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/command/arguments.h"
#include "app/command/terminal.h"
#include "codegen/calibrate/micro.h"
#include "codegen/compile/compile.h"
#include "codegen/run/run.h"

namespace heddle::app {

struct MicroRun {
  std::vector<codegen::Compiled> compiled;
  codegen::RunResult result;
  /// What kernel `k` wrote; nothing: it wrote nothing.
  const std::vector<std::uint8_t>* words(std::size_t k) const;
  std::string where() const;  ///< "NVIDIA H100 80GB HBM3, driver 580.159.04, 2026-11-28"
};

/// On this machine's GPU, one after the other. Nothing where that did not work, which has been said; the exit code is then in `code`.
std::optional<MicroRun> run_micros(const std::vector<codegen::MicroKernel>& kernels, const Machine& machine, const Arguments& arguments,
                                   const Terminal& terminal, int& code);

/// Writes them into a folder and compiles them, where there is a compiler, into the store of compiled kernels. The exit code.
int emit_micros(const std::vector<codegen::MicroKernel>& kernels, const Machine& machine, const Arguments& arguments,
                const std::string& folder, const Terminal& terminal);

/// heddle calibrate --contention, of this machine. The exit code.
int run_contention(const Machine& machine, const Arguments& arguments, const Terminal& terminal);

}  // namespace heddle::app
